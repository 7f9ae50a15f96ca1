/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codecs/exif.h"
#include "codecs/icc.h"
#include "codecs/limits.h"
#include "codecs/png.h"
#include "codecs/png_chunks.h"

enum { OUTPUT_STEP = 1 << 16 }; /* bytes that are compressed before they are handed over */

struct writer {
    png_structp png;
    png_infop info;
    struct png_guard guard;
    struct buf *output;
    struct buf profile; /* a whole iCCP chunk; made before the guarded part */
    struct buf exif;
};

static void write_bytes(png_structp png, png_bytep data, size_t size) {
    struct writer *writer = png_get_io_ptr(png);
    enum status status = buf_append(writer->output, data, size, writer->guard.err);
    if (status != ST_OK) {
        png_guard_leave(png, status);
    }
}

static void flush_nothing(png_structp png) {
    (void)png;
}

/* What each effort means to zlib and libpng, chosen by measuring blurred photographs and
 * screenshots. One filter for all rows is as good as a choice per row up to level 4, and
 * zlib's level 3 is slower than 4 there. Runs only (effort 0) are the fastest and even
 * the smallest for photographs, but twice as large where patterns repeat, so the default
 * effort 1 searches for matches. */
static void set_effort(png_structp png, unsigned effort) {
    static const struct {
        uint8_t level;
        uint8_t filters;
        uint8_t strategy;
    } efforts[] = {
        {1, PNG_FILTER_AVG, Z_RLE},
        {1, PNG_FILTER_UP, Z_DEFAULT_STRATEGY},
        {2, PNG_FILTER_UP, Z_DEFAULT_STRATEGY},
        {4, PNG_FILTER_AVG, Z_DEFAULT_STRATEGY},
        {4, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
        {5, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
        {6, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
        {7, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
        {8, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
        {9, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
    };
    unsigned last = sizeof(efforts) / sizeof(*efforts) - 1;
    unsigned row = effort < last ? effort : last;
    png_set_compression_buffer_size(png, OUTPUT_STEP);
    png_set_compression_level(png, efforts[row].level);
    png_set_compression_strategy(png, efforts[row].strategy);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, efforts[row].filters);
}

static int color_type_of(enum pixel_model model) {
    switch (model) {
    case PIXEL_GRAY:
        return PNG_COLOR_TYPE_GRAY;
    case PIXEL_GRAY_ALPHA:
        return PNG_COLOR_TYPE_GRAY_ALPHA;
    case PIXEL_RGBA:
        return PNG_COLOR_TYPE_RGB_ALPHA;
    default:
        return PNG_COLOR_TYPE_RGB;
    }
}

/* Guarded. */
static void write_chunk(png_structp png, uint32_t tag, struct bytes data) {
    uint8_t name[5] = {0};
    put_be32(name, tag);
    png_write_chunk(png, name, data.data, data.size);
}

/* Guarded. Between IHDR and the pixels. */
static void write_metadata(struct writer *writer, const struct encode_options *options,
                           const struct metadata *metadata) {
    if (writer->profile.size > 0) {
        write_chunk(writer->png, png_tag("iCCP"), buf_bytes(&writer->profile));
    }
    if (writer->exif.size > 0) {
        write_chunk(writer->png, png_tag("eXIf"), buf_bytes(&writer->exif));
    }
    bool carry = metadata && metadata->source == CODEC_PNG;
    for (unsigned i = 0; carry && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->tag != png_tag("iCCP") && (options->keep_metadata || png_is_colour(chunk->tag))) {
            write_chunk(writer->png, chunk->tag, chunk->data);
        }
    }
}

static void encode_guarded(struct writer *writer, const struct image *image,
                           const struct encode_options *options, const struct metadata *metadata) {
    png_structp png = writer->png;
    png_set_write_fn(png, writer, write_bytes, flush_nothing);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    set_effort(png, options->effort);
    png_set_IHDR(png, writer->info, image->width, image->height, image->depth, color_type_of(image->model),
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, writer->info);
    write_metadata(writer, options, metadata);
    if (image->depth == 16 && png_is_little_endian()) {
        png_set_swap(png);
    }
    for (uint32_t y = 0; y < image->height; y++) {
        enum status status = limits_check_deadline(options->deadline_ns, writer->guard.err);
        if (status != ST_OK) {
            png_guard_leave(png, status);
        }
        png_write_row(png, plane_row(&image->plane[0], y));
    }
    png_write_end(png, NULL);
}

static enum status run(struct writer *writer, const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata) {
    if (setjmp(writer->guard.jump)) {
        png_destroy_write_struct(&writer->png, &writer->info);
        return writer->guard.status;
    }
    writer->png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &writer->guard, png_guard_error, png_guard_warning,
                                  &writer->guard, png_guard_malloc, png_guard_free);
    writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;
    enum status status = ST_OK;
    if (writer->info) {
        encode_guarded(writer, image, options, metadata);
    } else {
        status = fail(writer->guard.err, ST_BUSY, "out of memory in the PNG library");
    }
    png_destroy_write_struct(&writer->png, &writer->info);
    return status;
}

/* Turns the profile into an iCCP chunk: name, zero, method 0, zlib stream. */
static enum status make_iccp(const struct buf *profile, struct buf *chunk, struct error *err) {
    static const uint8_t head[] = {'I', 'C', 'C', 0, 0};
    uLongf size = compressBound((uLong)profile->size);
    buf_init(chunk, sizeof(head) + size);
    enum status status = buf_reserve(chunk, sizeof(head) + size, err);
    if (status != ST_OK) {
        return status;
    }
    memcpy(chunk->data, head, sizeof(head));
    if (compress2(chunk->data + sizeof(head), &size, profile->data, (uLong)profile->size,
                  Z_DEFAULT_COMPRESSION) != Z_OK) {
        return fail(err, ST_BUSY, "out of memory for the colour profile");
    }
    chunk->size = sizeof(head) + size;
    return ST_OK;
}

static enum status prepare_metadata(struct writer *writer, const struct image *image,
                                    const struct encode_options *options, const struct metadata *metadata) {
    if (!metadata) {
        return ST_OK;
    }
    struct error *err = writer->guard.err;
    struct buf profile = {0};
    enum status status = icc_read(metadata, image->model, &profile, err);
    if (status == ST_OK && profile.size > 0) {
        status = make_iccp(&profile, &writer->profile, err);
    }
    buf_finish(&profile);
    if (status == ST_OK && options->keep_metadata) {
        buf_init(&writer->exif, EXIF_SIZE_MAX);
        status = exif_sanitize(metadata->exif, options->upright, &writer->exif, err);
    }
    return status;
}

enum status png_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    struct writer writer;
    memset(&writer, 0, sizeof(writer));
    writer.output = output;
    png_guard_init(&writer.guard, ST_INTERNAL, UINT64_MAX, err);
    enum status status = prepare_metadata(&writer, image, options, metadata);
    if (status == ST_OK) {
        status = run(&writer, image, options, metadata);
    }
    buf_finish(&writer.profile);
    buf_finish(&writer.exif);
    return status;
}
