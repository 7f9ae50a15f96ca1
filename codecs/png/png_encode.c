/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>
#include <png.h>

#include "codecs/metadata/carried.h"
#include "codecs/metadata/texts.h"
#include "codecs/png/png.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_pack.h"
#include "codecs/png/png_rows.h"
#include "codecs/png/png_strips.h"
#include "core/deadline.h"
#include "core/numbers.h"
#include "core/tuned.h"

enum {
    PACK_MAX = 64 << 20,  /* bytes of rows that are held at once */
    PACK_NS = 4000000000, /* what one call of libdeflate may take, as no deadline ends it. Less if there is
                             less time */
    PROFILE_LEVEL = 6,
    STATE = 64 << 10,     /* bytes of this folder's own state */
    PACK_STATE = 1 << 20, /* bytes that libdeflate takes by itself */
    BEST_EFFORT = 9,      /* whose level takes far more: */
    BEST_STATE = 10 << 20,
    SMALL = 32 << 10,  /* bytes of an image that is written in simpler forms, too, ... */
    TRIAL = 4 * SMALL, /* ... and of their output */
};

/* An effort is a level of libdeflate (docs/adr/0013), with its worst time a byte. Level 0 is
 * codecs/png/deflate/deflate_rle.h alone. Its output is kept when a level does no better, so that no effort
 * makes larger files than efforts 0 and 1. */
enum { EFFORTS = 10 };
static const uint8_t levels[EFFORTS] = {0, 0, 4, 5, 6, 7, 8, 9, 10, 12};
static const uint16_t byte_ns[EFFORTS] = {TUNED_PNG_PACK_NS};

struct png_writer {
    const struct image *image;
    const struct encode_options *options;
    const struct metadata *metadata;
    struct buf *output;
    struct error *err;
    struct png_form_choice choice;
    struct png_form form;
    struct png_rows rows;
    struct buf profile; /* data of the iCCP chunk */
    struct carried carried;
};

/* The signature and the header. */
static enum status write_header(struct png_writer *writer) {
    const struct image *image = writer->image;
    uint8_t header[13] = {[8] = writer->form.bits, [9] = writer->form.type};
    bytes_put_be32(header, image->width);
    bytes_put_be32(header + 4, image->height);
    enum status status = buf_append(writer->output, "\x89PNG\r\n\x1A\n", PNG_SIGNATURE_SIZE, writer->err);
    return status != ST_OK ? status
                           : png_put_chunk(writer->output, png_tag("IHDR"),
                                           (struct bytes){header, sizeof(header)}, writer->err);
}

static enum status write_buf(struct png_writer *writer, const char name[static 4], const struct buf *data) {
    return data->size > 0 ? png_put_chunk(writer->output, png_tag(name), buf_bytes(data), writer->err)
                          : ST_OK;
}

/* A matrix in a cICP chunk tells of a file of YCbCr, whose pixels are RGB here. The profile has precedence,
 * as readers of PNG prefer cICP. */
static enum status put_colour(struct png_writer *writer, const struct metadata_chunk *chunk) {
    enum { UNSPECIFIED = 2 };
    const uint8_t *code = chunk->data.data;
    if (chunk->tag != png_tag("cICP") || chunk->data.size != 4 || code[2] == 0) {
        return png_put_chunk(writer->output, chunk->tag, chunk->data, writer->err);
    }
    const uint8_t rgb[4] = {code[0], code[1], 0, 1};
    bool known = code[0] != UNSPECIFIED && code[1] != UNSPECIFIED && writer->profile.size == 0;
    return known ? png_put_chunk(writer->output, chunk->tag, (struct bytes){rgb, sizeof(rgb)}, writer->err)
                 : ST_OK;
}

static enum status copy_chunks(struct png_writer *writer, enum chunk_kind kind) {
    const struct metadata *metadata = writer->metadata;
    enum status status = ST_OK;
    for (unsigned i = 0; status == ST_OK && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->kind == kind) {
            status = put_colour(writer, chunk);
        }
    }
    return status;
}

static enum status write_density(struct png_writer *writer) {
    uint8_t data[9];
    return density_to_phys(writer->carried.density, data)
               ? png_put_chunk(writer->output, png_tag("pHYs"), (struct bytes){data, sizeof(data)},
                               writer->err)
               : ST_OK;
}

/* Writes ASCII as tEXt, other text as iTXt; never compressed. */
static enum status write_text(void *context, const struct text *text, struct error *err) {
    struct png_writer *writer = context;
    bool plain = text->ascii && text->language.size == 0 && text->translated.size == 0;
    struct buf *output = writer->output;
    size_t start = output->size;
    enum status status = png_open_chunk(output, png_tag(plain ? "tEXt" : "iTXt"), err);
    status = status != ST_OK ? status : buf_append(output, text->keyword.data, text->keyword.size, err);
    status = status != ST_OK ? status : buf_append(output, "\0\0\0", plain ? 1 : 3, err);
    if (status == ST_OK && !plain) {
        status = buf_append(output, text->language.data, text->language.size, err);
        status = status != ST_OK ? status : buf_append(output, "", 1, err);
        status =
            status != ST_OK ? status : buf_append(output, text->translated.data, text->translated.size, err);
        status = status != ST_OK ? status : buf_append(output, "", 1, err);
    }
    status = status != ST_OK ? status : buf_append(output, text->value.data, text->value.size, err);
    return status != ST_OK ? status : png_close_chunk(output, start, err);
}

static enum status write_metadata(struct png_writer *writer) {
    static const char name[] = "XML:com.adobe.xmp";
    struct carried *carried = &writer->carried;
    enum status status = write_buf(writer, "iCCP", &writer->profile);
    status = status == ST_OK && writer->metadata ? copy_chunks(writer, CHUNK_COLOUR) : status;
    if (status != ST_OK || !writer->metadata || !writer->options->keep_metadata) {
        return status;
    }
    status = write_buf(writer, "eXIf", &carried->exif);
    status = status == ST_OK ? write_density(writer) : status;
    if (status == ST_OK && carried->xmp.size > 0) {
        struct text xmp = {.keyword = {(const uint8_t *)name, strlen(name)},
                           .value = buf_bytes(&carried->xmp)};
        status = write_text(writer, &xmp, writer->err);
    }
    status = status == ST_OK ? copy_chunks(writer, CHUNK_TIME) : status;
    return status == ST_OK ? texts_each(writer->metadata, &carried->losses, write_text, writer, writer->err)
                           : status;
}

/* Replaces the strips, which begin at `start`, by libdeflate's output if that is smaller. */
static enum status pack_instead(struct png_writer *writer, int level, size_t start) {
    struct buf *output = writer->output;
    size_t room = output->size - start, size = 0;
    enum status status = deadline_check(writer->options->deadline_ns, writer->err);
    status = status != ST_OK ? status : buf_reserve(output, room, writer->err);
    if (status == ST_OK) {
        uint8_t *to = output->data + output->size;
        status = png_pack(&writer->rows, level, to, room, &size, writer->err);
    }
    if (status != ST_OK || size == 0) {
        return status;
    }
    const uint8_t *packed = output->data + output->size;
    output->size = start;
    status = png_open_chunk(output, png_tag("IDAT"), writer->err);
    if (status == ST_OK) {
        memmove(output->data + output->size, packed, size);
        output->size += size;
        status = png_close_chunk(output, start, writer->err);
    }
    return status;
}

uint64_t png_pack_ns(unsigned effort, uint64_t size) {
    uint64_t ns = size > PACK_MAX ? 0 : size * byte_ns[effort];
    return ns < PACK_NS ? ns : PACK_NS;
}

/* The strongest effort up to `effort` that packs `size` bytes in time; 0 and 1 take no level. */
static unsigned affordable(unsigned effort, uint64_t size, int64_t time_ns) {
    while (effort > 1 && (size > PACK_MAX || size * byte_ns[effort] > (uint64_t)time_ns)) {
        effort--;
    }
    return effort;
}

static int choose_level(const struct png_writer *writer) {
    const unsigned last = EFFORTS - 1;
    unsigned effort = writer->options->effort < last ? writer->options->effort : last;
    uint64_t size = (uint64_t)writer->rows.line * writer->image->height;
    int64_t left = deadline_left(writer->options->deadline_ns) /
                   (writer->options->pictures ? writer->options->pictures : 1);
    return levels[affordable(effort, size, left < PACK_NS ? left : PACK_NS)];
}

static enum status write_pixels(struct png_writer *writer) {
    size_t start = writer->output->size;
    const struct encode_options *options = writer->options;
    bool graphic = false;
    enum status status = png_rows_init(&writer->rows, writer->image, &writer->form, writer->err);
    if (status == ST_OK && options->effort >= 1) {
        status = png_is_graphic(&writer->rows, &graphic, writer->err);
    }
    if (status == ST_OK) {
        status = png_strips_write(writer->image, &writer->form, graphic, options->crew, options->deadline_ns,
                                  writer->output, writer->err);
    }
    const int level = status == ST_OK ? choose_level(writer) : 0;
    if (level > 0) {
        status = pack_instead(writer, level, start);
    }
    png_rows_finish(&writer->rows);
    return status;
}

static enum status write_palette(struct png_writer *writer) {
    const struct png_colours *colours = &writer->form.colours;
    uint8_t entries[3 * PNG_COLOURS_MAX], alpha[PNG_COLOURS_MAX];
    size_t transparent = 0;
    for (unsigned i = 0; i < colours->count; i++) {
        entries[3 * i] = (uint8_t)colours->colour[i];
        entries[3 * i + 1] = (uint8_t)(colours->colour[i] >> 8);
        entries[3 * i + 2] = (uint8_t)(colours->colour[i] >> 16);
        alpha[i] = (uint8_t)(colours->colour[i] >> 24);
        transparent += alpha[i] < 255; /* they come first */
    }
    const struct bytes palette = {entries, 3 * (size_t)colours->count};
    enum status status = png_put_chunk(writer->output, png_tag("PLTE"), palette, writer->err);
    return status == ST_OK && transparent > 0 ? png_put_chunk(writer->output, png_tag("tRNS"),
                                                              (struct bytes){alpha, transparent}, writer->err)
                                              : status;
}

static enum status write_picture(struct png_writer *writer) {
    enum status status = writer->form.type == PNG_COLOR_TYPE_PALETTE ? write_palette(writer) : ST_OK;
    return status == ST_OK ? write_pixels(writer) : status;
}

/* Writes the picture behind `start` in a simpler form, too, and keeps that if it is smaller. The file begins
 * at `file`. */
static void try_form(struct png_writer *writer, size_t file, size_t start) {
    struct buf *output = writer->output;
    const size_t end = output->size;
    const bool smaller = write_picture(writer) == ST_OK && output->size - end < end - start;
    const size_t size = smaller ? output->size - end : end - start;
    if (smaller) {
        memmove(output->data + start, output->data + end, size);
        output->size = file;
        write_header(writer); /* of the same size */
    }
    output->size = start + size;
}

/* A palette may take more than it saves, and rows may be too short for what filters and matches save. */
static void try_simpler_forms(struct png_writer *writer, size_t file, size_t start) {
    struct error ignored = {0}, *err = writer->err;
    writer->err = &ignored;
    while (png_form_simplify(&writer->form, writer->image, &writer->choice)) {
        try_form(writer, file, start);
    }
    writer->err = err;
}

static bool is_small(const struct image *image) {
    return plane_row_bytes(&image->plane[0], image->depth) * image->height <= SMALL;
}

static enum status write_chunks(struct png_writer *writer) {
    const size_t file = writer->output->size;
    png_form_choose(&writer->form, writer->image, &writer->choice);
    enum status status = write_header(writer);
    status = status == ST_OK ? write_metadata(writer) : status;
    const size_t start = writer->output->size;
    status = status == ST_OK ? write_picture(writer) : status;
    if (status == ST_OK && is_small(writer->image)) {
        try_simpler_forms(writer, file, start);
    }
    return status;
}

/* Turns the profile into iCCP data: name, zero, method 0, zlib stream. */
static enum status make_iccp(const struct buf *profile, struct buf *chunk, struct error *err) {
    static const uint8_t head[] = {'I', 'C', 'C', 0, 0};
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(PROFILE_LEVEL);
    if (!compressor) {
        return fail(err, ST_BUSY, "out of memory for the colour profile");
    }
    size_t room = libdeflate_zlib_compress_bound(compressor, profile->size);
    buf_init(chunk, sizeof(head) + room);
    enum status status = buf_append(chunk, head, sizeof(head), err);
    status = status != ST_OK ? status : buf_reserve(chunk, room, err);
    if (status == ST_OK) {
        chunk->size += libdeflate_zlib_compress(compressor, profile->data, profile->size,
                                                chunk->data + chunk->size, room);
    }
    libdeflate_free_compressor(compressor);
    return status;
}

static enum status prepare_metadata(struct png_writer *writer) {
    const struct image_shape shape = image_shape(writer->image);
    struct carried *carried = &writer->carried;
    enum status status =
        carried_make(writer->metadata, &codec_png, &shape, writer->options, carried, writer->err);
    if (status == ST_OK && carried->profile.size > 0) {
        status = make_iccp(&carried->profile, &writer->profile, writer->err);
    }
    /* A profile is of the image's colours, or of its greys. */
    const bool free = carried->profile.size == 0;
    writer->choice = (struct png_form_choice){writer->options->reduce, .grey = free, .palette = free};
    return status;
}

/* The most that strips take in any form of the picture: short rows fill strips better than long ones. */
static size_t strips_bytes(const struct image_shape *shape, const struct encode_options *options) {
    const size_t bits = (size_t)image_pixel_channels(shape->model) * shape->depth;
    size_t most = 0;
    for (size_t fewer = options->reduce ? 1 : bits; fewer <= bits; fewer += fewer < 8 ? fewer : 8) {
        const size_t row = (shape->width * fewer + 7) / 8;
        most =
            max_size(most, png_strips_bytes(row, shape->height, options->effort >= 1, options->crew != NULL));
    }
    return most;
}

size_t png_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    size_t row = (size_t)shape->width * image_pixel_channels(shape->model) * (shape->depth / 8u);
    size_t lines = (row + 1) * shape->height;
    size_t strips =
        strips_bytes(shape, options) + (options->reduce && row * shape->height <= SMALL ? TRIAL : 0);
    if (options->effort < 2 || lines > PACK_MAX) {
        return STATE + strips;
    }
    /* All filtered rows and, besides the strips, the packed rows that replace them. */
    return STATE + strips + (options->effort < BEST_EFFORT ? PACK_STATE : BEST_STATE) + 2 * lines;
}

enum status png_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    struct png_writer writer = {
        .image = image, .options = options, .metadata = metadata, .output = output, .err = err};
    enum status status = prepare_metadata(&writer);
    status = status != ST_OK ? status : write_chunks(&writer);
    if (status == ST_OK) {
        status = png_put_chunk(output, png_tag("IEND"), (struct bytes){NULL, 0}, err);
    }
    if (status == ST_OK) {
        carried_report(&writer.carried, options);
    }
    buf_finish(&writer.profile);
    carried_finish(&writer.carried);
    return status;
}

/* Runs take a time for each sample. Matches, in which graphics are written, take one for each pixel, and for
 * each byte that is no part of a long match: also where channels and bits are left out, as the search for
 * them takes what they save. bench/predict.py compares. */
struct encode_cost png_encode_cost(const struct encode_extent *extent, const struct encode_options *options) {
    const float sample_ns = 1.3F, pixel_ns = 1.3F, graphic_byte_ns = 18;
    bool packs = options->effort > 1, matches = options->effort > 0 && extent->graphic > 0;
    float packing = packs ? (float)png_pack_ns(options->effort, (uint64_t)extent->bytes) : 0;
    float ns =
        matches ? pixel_ns * extent->pixels + graphic_byte_ns * extent->graphic : sample_ns * extent->samples;
    return (struct encode_cost){ns + packing, packs};
}
