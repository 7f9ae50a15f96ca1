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
    struct png_rows rows;
    bool opaque;        /* alpha is left out */
    struct buf profile; /* data of the iCCP chunk */
    struct carried carried;
};

static enum status write_header(struct png_writer *writer) {
    static const uint8_t types[] = {[PIXEL_GRAY] = PNG_COLOR_TYPE_GRAY,
                                    [PIXEL_GRAY_ALPHA] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                    [PIXEL_RGB] = PNG_COLOR_TYPE_RGB,
                                    [PIXEL_RGBA] = PNG_COLOR_TYPE_RGB_ALPHA};
    const struct image *image = writer->image;
    /* Models with alpha stand behind those without. */
    uint8_t header[13] = {[8] = image->depth, [9] = types[image->model - writer->opaque]};
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
    enum status status = png_rows_init(&writer->rows, writer->image, writer->opaque, writer->err);
    if (status == ST_OK && options->effort >= 1) {
        status = png_is_graphic(&writer->rows, &graphic, writer->err);
    }
    if (status == ST_OK) {
        status = png_strips_write(writer->image, writer->opaque, graphic, options->crew, options->deadline_ns,
                                  writer->output, writer->err);
    }
    const int level = status == ST_OK ? choose_level(writer) : 0;
    if (level > 0) {
        status = pack_instead(writer, level, start);
    }
    png_rows_finish(&writer->rows);
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
    return status;
}

size_t png_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    size_t row = (size_t)shape->width * image_pixel_channels(shape->model) * (shape->depth / 8u);
    size_t lines = (row + 1) * shape->height;
    size_t strips = png_strips_bytes(row, shape->height, options->effort >= 1, options->crew);
    if (options->effort < 2 || lines > PACK_MAX) {
        return STATE + strips;
    }
    /* All filtered rows and, besides the strips, the packed rows that replace them. */
    return STATE + strips + (options->effort < BEST_EFFORT ? PACK_STATE : BEST_STATE) + 2 * lines;
}

enum status png_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    struct png_writer writer = {.image = image,
                                .opaque = options->reduce && png_rows_are_opaque(image),
                                .options = options,
                                .metadata = metadata,
                                .output = output,
                                .err = err};
    enum status status = prepare_metadata(&writer);
    status = status != ST_OK ? status : write_header(&writer);
    status = status != ST_OK ? status : write_metadata(&writer);
    status = status != ST_OK ? status : write_pixels(&writer);
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
 * each byte that is no part of a long match. bench/predict.py compares. */
struct encode_cost png_encode_cost(const struct encode_extent *extent, const struct encode_options *options) {
    const float sample_ns = 1.3F, pixel_ns = 2.3F, alpha_ns = 1.5F, graphic_byte_ns = 40;
    bool packs = options->effort > 1, matches = options->effort > 0 && extent->graphic > 0;
    float packing = packs ? (float)png_pack_ns(options->effort, (uint64_t)extent->bytes) : 0;
    float pixel = pixel_ns + (extent->alpha ? alpha_ns : 0);
    float ns =
        matches ? pixel * extent->pixels + graphic_byte_ns * extent->graphic : sample_ns * extent->samples;
    return (struct encode_cost){ns + packing, packs};
}
