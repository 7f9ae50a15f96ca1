/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_whole.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "codecs/png/png.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_filter.h"
#include "core/deadline.h"

enum {
    ROWS_MAX =
        128 << 20,     /* bytes of filtered rows: inflating them is one call that no deadline ends (0.2 s) */
    ZLIB_OVERHEAD = 6, /* header and checksum */
    WINDOW_MAX = 7,    /* maximum of the header's window field: 32 KiB */
};

struct png_plan {
    struct bytes input;
    size_t first;        /* position of the first IDAT chunk */
    size_t chunks;       /* IDAT chunks in a row */
    size_t data_size;    /* bytes in them */
    size_t row_bytes;    /* without the filter byte */
    size_t rows_size;    /* all rows with their filter bytes */
    unsigned pixel;      /* bytes a pixel */
    struct bytes stream; /* the data in one piece */
    uint8_t *memory;     /* a row of zeros, the filtered rows, the data if it is in pieces */
};

static bool is_usual(const struct png_facts *facts, const struct image *image) {
    static const enum pixel_model models[] = {[PNG_COLOR_TYPE_GRAY] = PIXEL_GRAY,
                                              [PNG_COLOR_TYPE_RGB] = PIXEL_RGB,
                                              [PNG_COLOR_TYPE_GRAY_ALPHA] = PIXEL_GRAY_ALPHA,
                                              [PNG_COLOR_TYPE_RGB_ALPHA] = PIXEL_RGBA};
    return !facts->interlaced && !facts->transparent && facts->color_type != PNG_COLOR_TYPE_PALETTE &&
           facts->width == image->width && facts->height == image->height && facts->depth == image->depth &&
           models[facts->color_type] == image->model;
}

/* Whether libpng would skip the chunk: letters only, not critical, of an accepted size, and not tRNS,
 * which may change the pixels. Its checksum does not matter. */
static bool is_passed_over(const struct png_chunk *chunk) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint8_t letter = (uint8_t)(chunk->tag >> shift) | 0x20;
        if (letter < 'a' || letter > 'z') {
            return false;
        }
    }
    bool critical = !(chunk->tag & 0x20000000), reserved = chunk->tag & 0x2000;
    return !critical && !reserved && chunk->tag != png_tag("tRNS") && chunk->data.size <= PNG_CHUNK_MAX;
}

/* Finds the pixel data; libpng wants its chunks without others in between. */
static bool find_data(struct png_plan *plan) {
    const size_t data_max = plan->rows_size > PNG_CHUNK_MAX ? plan->rows_size : PNG_CHUNK_MAX;
    size_t position = PNG_SIGNATURE_SIZE;
    struct png_chunk chunk;
    if (!png_next_chunk(plan->input, &position, &chunk)) {
        return false; /* the header is already checked */
    }
    plan->first = position;
    while (png_next_chunk(plan->input, &position, &chunk)) {
        if (chunk.tag == png_tag("IDAT")) {
            if (chunk.data.size > data_max) {
                return false;
            }
            plan->chunks++;
            plan->data_size += chunk.data.size;
        } else if (plan->chunks > 0) {
            return true;
        } else if (is_passed_over(&chunk)) {
            plan->first = position;
        } else {
            return false;
        }
    }
    return plan->chunks > 0;
}

static bool take_memory(struct png_plan *plan, const struct codec_limits *limits) {
    size_t size = plan->row_bytes + plan->rows_size + (plan->chunks > 1 ? plan->data_size : 0);
    if (size > limits->max_memory) {
        return false; /* libpng needs less memory */
    }
    plan->memory = malloc(size);
    return plan->memory != NULL;
}

static uint8_t *rows_of(const struct png_plan *plan) {
    return plan->memory + plan->row_bytes;
}

/* Checks the chunks and joins them. */
static bool gather(struct png_plan *plan) {
    size_t position = plan->first;
    uint8_t *to = rows_of(plan) + plan->rows_size;
    plan->stream.data = to;
    plan->stream.size = plan->data_size;
    for (size_t i = 0; i < plan->chunks; i++) {
        struct png_chunk chunk;
        if (!png_next_chunk(plan->input, &position, &chunk) || !png_chunk_is_intact(&chunk)) {
            return false;
        }
        if (plan->chunks == 1) {
            plan->stream = chunk.data;
        } else {
            memcpy(to, chunk.data.data, chunk.data.size);
            to += chunk.data.size;
        }
    }
    return true;
}

/* zlib enforces the window size of the stream and libdeflate does not: accepts only streams where that
 * makes no difference. */
static bool window_is_enough(const struct png_plan *plan) {
    unsigned window = plan->stream.data[0] >> 4;
    return window == WINDOW_MAX || (window < WINDOW_MAX && plan->rows_size <= (size_t)256 << window);
}

/* True when the stream ends with the data, holds exactly the rows, and its checksum is right. */
static bool inflate_rows(const struct png_plan *plan) {
    if (plan->stream.size < ZLIB_OVERHEAD || !window_is_enough(plan)) {
        return false;
    }
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) {
        return false;
    }
    size_t used = 0;
    enum libdeflate_result result = libdeflate_zlib_decompress_ex(
        decompressor, plan->stream.data, plan->stream.size, rows_of(plan), plan->rows_size, &used, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS && used == plan->stream.size;
}

/* Checked before rows are reported: afterwards libpng cannot start over. */
static bool filters_are_known(const struct png_plan *plan, uint32_t height) {
    uint8_t most = 0;
    for (uint32_t y = 0; y < height; y++) {
        uint8_t filter = rows_of(plan)[y * (plan->row_bytes + 1)];
        most = filter > most ? filter : most;
    }
    return most < FILTER_COUNT;
}

static void to_host_order(uint8_t *row, size_t size) {
    for (size_t i = 0; i < size; i += 2) {
        uint16_t value = (uint16_t)(row[i] << 8 | row[i + 1]);
        memcpy(row + i, &value, sizeof(value));
    }
}

static struct png_row row_at(const struct png_plan *plan, const struct plane *plane, uint32_t y) {
    return (struct png_row){
        .to = plane_row(plane, y),
        .from = rows_of(plan) + y * (plan->row_bytes + 1) + 1,
        .above = y > 0 ? plane_row(plane, y - 1) : plan->memory,
        .size = plan->row_bytes,
        .pixel = plan->pixel,
    };
}

/* Undoes the filters of one row, or of two when that is faster; returns the number of rows, 0 for an
 * unknown filter. */
static uint32_t unfilter(const struct png_plan *plan, const struct plane *plane, uint32_t y) {
    struct png_row row = row_at(plan, plane, y);
    const uint8_t filter = row.from[-1];
    if (filter == FILTER_PAETH && y + 1 < plane->height) {
        struct png_row next = row_at(plan, plane, y + 1);
        if (next.from[-1] == FILTER_PAETH) {
            png_unfilter_paeth_pair(&row, &next);
            return 2;
        }
    }
    return png_unfilter(filter, &row) ? 1 : 0;
}

static enum status unfilter_rows(const struct png_plan *plan, const struct codec_limits *limits,
                                 const struct image *image, bool *done, struct error *err) {
    const struct plane *plane = &image->plane[0];
    memset(plan->memory, 0, plan->row_bytes);
    /* The row above is needed in file order, so 16-bit rows are swapped late. */
    for (uint32_t y = 0, turned = 0, count; y < image->height; y += count) {
        enum status status = deadline_check(limits->deadline_ns, err);
        count = status == ST_OK ? unfilter(plan, plane, y) : 0;
        if (count == 0) {
            *done = status != ST_OK;
            return status;
        }
        uint32_t end = y + count < image->height ? y + count - 1 : image->height;
        for (; image->depth == 16 && turned < end; turned++) {
            to_host_order(plane_row(plane, turned), plan->row_bytes);
        }
        progress_tell(limits->progress, image->depth == 16 ? turned : y + count);
    }
    *done = true;
    return ST_OK;
}

/* Whether the rows are few enough to be inflated in one call. */
static bool are_few(size_t row_bytes, uint32_t height) {
    return row_bytes + 1 <= ROWS_MAX / height;
}

size_t png_whole_bytes(const struct image_shape *shape, size_t input) {
    size_t row = (size_t)shape->width * image_pixel_channels(shape->model) * (shape->depth / 8u);
    return are_few(row, shape->height) ? row + (row + 1) * shape->height + input : 0;
}

enum status png_decode_whole(struct bytes input, const struct codec_limits *limits, const struct image *image,
                             bool *done, struct error *err) {
    *done = false;
    struct png_facts facts;
    if (png_read_facts(input, &facts, err) != ST_OK || !is_usual(&facts, image)) {
        return ST_OK;
    }
    struct png_plan plan = {.input = input, .row_bytes = plane_row_bytes(&image->plane[0], image->depth)};
    if (!are_few(plan.row_bytes, image->height)) {
        return ST_OK;
    }
    plan.rows_size = (plan.row_bytes + 1) * image->height;
    plan.pixel = image->plane[0].channels * (image->depth / 8u);
    enum status status = ST_OK;
    if (find_data(&plan) && take_memory(&plan, limits)) {
        if (gather(&plan) && inflate_rows(&plan) && filters_are_known(&plan, image->height)) {
            status = unfilter_rows(&plan, limits, image, done, err);
        }
        free(plan.memory);
    }
    return status;
}
