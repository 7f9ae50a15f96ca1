/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/baseline/jpeg_enc_colours.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "codecs/jpeg/jpeg_rows.h"

enum {
    LINES_MAX = 2 * JPEG_SIDE,
    CHROMA_ROWS = 4,
    ROWS = 3 * LINES_MAX + CHROMA_ROWS + 3, /* of samples that are taken memory for: three for `room` */
};

struct image_shape jpeg_enc_colours_shape(const struct image_shape *shape,
                                          const struct encode_options *options) {
    struct image_shape planes = *shape;
    bool gray = shape->model == PIXEL_GRAY || shape->model == PIXEL_GRAY_ALPHA;
    planes.depth = 8;
    planes.model = gray ? PIXEL_GRAY : PIXEL_YCBCR;
    if (shape->model != PIXEL_YCBCR) {
        planes.chroma_shift_x = !gray && options->subsampling != SUBSAMPLING_444;
        planes.chroma_shift_y =
            !gray && (options->subsampling == SUBSAMPLING_AUTO || options->subsampling == SUBSAMPLING_420);
    }
    return planes;
}

static size_t row_bytes(uint32_t width) {
    return bytes_align_up(bytes_align_up(width, IMAGE_MCU), IMAGE_ALIGNMENT);
}

size_t jpeg_enc_colours_bytes(const struct image_shape *shape) {
    return ROWS * row_bytes(shape->width);
}

enum status jpeg_enc_colours_init(struct jpeg_enc_colours *colours, const struct image *source,
                                  const struct encode_options *options, struct error *err) {
    const struct image_shape shape = image_shape(source), planes = jpeg_enc_colours_shape(&shape, options);
    size_t stride = row_bytes(source->width);
    *colours = (struct jpeg_enc_colours){
        .source = source, .memory = aligned_alloc(IMAGE_ALIGNMENT, jpeg_enc_colours_bytes(&shape))};
    if (!colours->memory) {
        return fail(err, ST_BUSY, "no memory to encode a JPEG");
    }
    uint8_t *next = colours->memory;
    image_layout(&colours->planes, &planes);
    for (unsigned i = 0; i < colours->planes.plane_count; i++, next += LINES_MAX * stride) {
        colours->planes.plane[i].data = next;
        colours->planes.plane[i].stride = stride;
    }
    for (unsigned i = 0; i < CHROMA_ROWS; i++, next += stride) {
        colours->chroma[i] = next;
    }
    colours->room = next;
    return ST_OK;
}

void jpeg_enc_colours_finish(struct jpeg_enc_colours *colours) {
    free(colours->memory);
    *colours = (struct jpeg_enc_colours){0};
}

static void extend(uint8_t *row, size_t from, size_t to) {
    memset(row + from, row[from - 1], to - from);
}

/* Columns up to whole blocks of the reduced planes. */
static size_t full_width(const struct jpeg_enc_colours *colours) {
    const struct image *planes = &colours->planes;
    const struct plane *last = &planes->plane[planes->plane_count - 1];
    return bytes_align_up(last->width, JPEG_SIDE) << last->shift_x;
}

/* Row y of the picture, to row `to` of luma and to two rows of chroma. */
static void split_row(struct jpeg_enc_colours *colours, const struct jpeg_enc_level *level, uint32_t y,
                      uint32_t to, uint8_t *const chroma[2]) {
    uint32_t width = colours->source->width;
    const uint8_t *row = jpeg_rows_get(colours->source, y, colours->room);
    uint8_t *luma = plane_row(&colours->planes.plane[0], to);
    if (colours->planes.plane_count == 1) {
        memcpy(luma, row, width);
    } else {
        level->colours(row, width, luma, chroma[0], chroma[1]);
        extend(chroma[0], width, full_width(colours));
        extend(chroma[1], width, full_width(colours));
    }
    extend(luma, width, bytes_align_up(width, JPEG_SIDE));
}

/* The means of 2 or 2 x 2 samples. What is added before the division alternates, as libjpeg has it. */
static void reduce_row(const struct plane *plane, uint32_t y, const uint8_t *upper, const uint8_t *lower) {
    uint8_t *to = plane_row(plane, y);
    size_t width = bytes_align_up(plane->width, JPEG_SIDE);
    if (plane->shift_x == 0) {
        memcpy(to, upper, width);
    } else if (plane->shift_y == 0) {
        for (size_t x = 0; x < width; x++) {
            to[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + (int)(x & 1)) >> 1);
        }
    } else {
        for (size_t x = 0; x < width; x++) {
            int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
            to[x] = (uint8_t)((sum + 1 + (int)(x & 1)) >> 2);
        }
    }
}

/* Repeats the last of `rows` rows of a plane up to whole blocks. */
static void repeat_last(const struct plane *plane, uint32_t rows) {
    size_t width = bytes_align_up(plane->width, JPEG_SIDE);
    for (uint32_t y = rows; y % JPEG_SIDE != 0; y++) {
        memcpy(plane_row(plane, y), plane_row(plane, rows - 1), width);
    }
}

void jpeg_enc_colours_fill(struct jpeg_enc_colours *colours, const struct jpeg_enc_level *level,
                           uint32_t mcu_row) {
    struct image *planes = &colours->planes;
    const struct plane *last = &planes->plane[planes->plane_count - 1];
    uint32_t high = 1u << last->shift_y, lines = JPEG_SIDE * high, first = mcu_row * lines;
    uint32_t left = planes->height - first, rows = left < lines ? left : lines;
    for (uint32_t y = 0; y < rows; y += high) {
        for (uint32_t i = 0; i < high && y + i < rows; i++) {
            split_row(colours, level, first + y + i, y + i, colours->chroma + 2 * (size_t)i);
        }
        bool both = y + high <= rows && high == 2;
        for (unsigned p = 1; p < planes->plane_count; p++) {
            reduce_row(&planes->plane[p], y / high, colours->chroma[p - 1],
                       colours->chroma[both ? p + 1 : p - 1]);
        }
    }
    for (unsigned p = 0; p < planes->plane_count; p++) {
        repeat_last(&planes->plane[p], p == 0 ? rows : (rows + high - 1) / high);
    }
}
