/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "codecs/limits.h"
#include "codecs/png/png.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_whole.h"
#include "core/deadline.h"

enum {
    CHUNK_CACHE_MAX = 32,
    STREAM_STATE = 256 << 10, /* bytes that libpng, zlib or libdeflate take by themselves */
    STREAM_COLUMN = 32,       /* and for a column of pixels: rows of 8 bytes a pixel */
    TAIL_SLACK = 1 << 13,     /* bytes that may follow the last row's own: checksums, small chunks. libpng
                                 inflates them, and each may be a thousand */
};

struct png_reader {
    png_structp png;
    png_infop info;
    struct png_guard guard;
    struct bytes input; /* input that libpng has not read */
    const struct codec_limits *limits;
    size_t left; /* bytes that libpng may still read; SIZE_MAX before the last row */
};

/* Deflate expands at most 1032 times: less data cannot hold the picture. */
static enum status check_data(const struct png_facts *facts, struct error *err) {
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    enum { EXPANSION_MAX = 1032, SLACK = 1024 };
    uint64_t pixels = (uint64_t)facts->width * facts->height;
    uint64_t needed = pixels * channels[facts->color_type] * facts->depth / 8;
    if (facts->data_bytes < (UINT64_MAX - SLACK) / EXPANSION_MAX &&
        facts->data_bytes * EXPANSION_MAX + SLACK < needed) {
        return fail(err, ST_CORRUPT,
                    "PNG is truncated: %" PRIu64 " bytes of pixel data cannot hold %" PRIu32 " x %" PRIu32
                    " pixels",
                    facts->data_bytes, facts->width, facts->height);
    }
    return ST_OK;
}

enum status png_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err) {
    struct png_facts facts;
    enum status status = png_read_facts(input, &facts, err);
    status = status != ST_OK ? status : limits_check_size(facts.width, facts.height, limits, err);
    status = status != ST_OK ? status : check_data(&facts, err);
    if (status != ST_OK) {
        return status;
    }
    picture->pixels = png_facts_shape(&facts);
    picture->native = picture->pixels;
    picture->progressive = facts.interlaced;
    png_read_metadata(input, &picture->metadata);
    return ST_OK;
}

/* With the last row, libpng inflates all remaining data to verify the checksums. The amount is limited, as
 * a file of 100 kB can hold 100 MB there. */
static void read_bytes(png_structp png, png_bytep target, size_t size) {
    struct png_reader *reader = png_get_io_ptr(png);
    enum status status = deadline_check(reader->limits->deadline_ns, reader->guard.err);
    if (status != ST_OK) {
        png_guard_leave(png, status);
    }
    if (size > reader->left) {
        png_guard_leave(
            png, fail(reader->guard.err, ST_CORRUPT, "PNG has far more pixel data than the picture needs"));
    }
    reader->left -= reader->left == SIZE_MAX ? 0 : size;
    if (size > reader->input.size) {
        png_guard_leave(png, fail(reader->guard.err, ST_CORRUPT,
                                  "PNG data is cut short: it ends before the picture does"));
    }
    memcpy(target, reader->input.data, size);
    reader->input.data += size;
    reader->input.size -= size;
}

/* Guarded. Skips all chunks except the pixels unread: within libpng's own limits a small file could cost
 * seconds and gigabytes. */
static void restrict_chunks(struct png_reader *reader) {
    png_structp png = reader->png;
    uint32_t side = reader->limits->max_side;
    png_set_user_limits(png, side, side);
    png_set_chunk_malloc_max(png, PNG_CHUNK_MAX);
    png_set_chunk_cache_max(png, CHUNK_CACHE_MAX);
    /* A negative count means all chunks but IHDR, PLTE, tRNS, IDAT and IEND. */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
}

/* Guarded. */
static void read_rows(struct png_reader *reader, const struct image *image) {
    int passes = png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    const struct plane *plane = &image->plane[0];
    if (png_get_rowbytes(reader->png, reader->info) != plane_row_bytes(plane, image->depth)) {
        png_guard_leave(reader->png, fail(reader->guard.err, ST_CORRUPT,
                                          "PNG has a transparency chunk (tRNS) that is not valid"));
    }
    while (passes-- > 0) {
        for (uint32_t y = 0; y < image->height; y++) {
            enum status status = deadline_check(reader->limits->deadline_ns, reader->guard.err);
            if (status != ST_OK) {
                png_guard_leave(reader->png, status);
            }
            if (passes == 0 && y == image->height - 1) {
                reader->left = TAIL_SLACK + 2 * plane->stride;
            }
            png_read_row(reader->png, plane_row(plane, y), NULL);
        }
    }
}

static enum status decode_guarded(struct png_reader *reader, const struct image *image) {
    png_structp png = reader->png;
    restrict_chunks(reader);
    png_set_read_fn(png, reader, read_bytes);
    png_read_info(png, reader->info);
    uint32_t width = png_get_image_width(png, reader->info);
    uint32_t height = png_get_image_height(png, reader->info);
    bool deep = png_get_bit_depth(png, reader->info) == 16;
    if (width != image->width || height != image->height || deep != (image->depth == 16)) {
        return fail(reader->guard.err, ST_INTERNAL, "PNG does not have the shape that was probed");
    }
    png_set_expand(png); /* palettes to RGB, 1, 2, 4 bits to 8, tRNS to alpha */
    if (deep && png_is_little_endian()) {
        png_set_swap(png);
    }
    read_rows(reader, image);
    return ST_OK; /* without png_read_end: data behind the last row does not matter */
}

static enum status run(struct png_reader *reader, const struct image *image) {
    if (setjmp(reader->guard.jump)) {
        png_destroy_read_struct(&reader->png, &reader->info, NULL);
        return reader->guard.status;
    }
    reader->png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader->guard, png_guard_error, png_guard_warning,
                                 &reader->guard, png_guard_malloc, png_guard_free);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    enum status status = reader->info ? decode_guarded(reader, image)
                                      : fail(reader->guard.err, ST_BUSY, "out of memory in the PNG library");
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    return status;
}

enum status png_decode_stream(struct bytes input, const struct codec_limits *limits,
                              const struct image *image, struct error *err) {
    struct png_reader reader;
    memset(&reader, 0, sizeof(reader));
    reader.input = input;
    reader.limits = limits;
    reader.left = SIZE_MAX;
    png_guard_init(&reader.guard, ST_CORRUPT, limits->max_memory, err);
    return run(&reader, image);
}

size_t png_decode_room(const struct image_shape *shape) {
    return png_whole_room(shape);
}

/* The data, joined. */
size_t png_decode_spare(const struct picture *picture, size_t input) {
    return picture->progressive || png_whole_room(&picture->pixels) == 0 ? 0 : input;
}

size_t png_decode_bytes(const struct picture *picture, size_t input) {
    return STREAM_STATE + (size_t)picture->pixels.width * STREAM_COLUMN + png_decode_spare(picture, input);
}

enum status png_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err) {
    (void)picture;
    bool done;
    enum status status = png_decode_whole(input, limits, image, &done, err);
    return done ? status : png_decode_stream(input, limits, image, err);
}
