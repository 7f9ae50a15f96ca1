/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/pixels/pixels_strip.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES = 32,                         /* rows of pixels of a row of MCUs, at most */
    SMOOTH_WIDTH = 3,                   /* least samples of a row of chroma that is halved */
    ROWS = IMAGE_PLANES_MAX + 2 + 2 + 3 /* last rows; sums, of two bytes; full rows of chroma; colours */
};

static struct image_shape strip_shape(const struct image_shape *planes) {
    struct image_shape shape = *planes;
    shape.height = LINES;
    return shape;
}

/* The sums have a value more at either end. */
static size_t row_bytes(uint32_t width) {
    return bytes_align_up((size_t)width + 2, IMAGE_ALIGNMENT);
}

size_t pixels_strip_bytes(const struct image_shape *planes) {
    struct image image;
    const struct image_shape shape = strip_shape(planes);
    return image_layout(&image, &shape) + ROWS * row_bytes(planes->width);
}

/* Libjpeg mixes samples of chroma that is halved along one axis or both, in rows that are not too short. */
static bool is_smooth(const struct plane *chroma) {
    bool wide = chroma->shift_x == 1 && chroma->shift_y <= 1 && chroma->width >= SMOOTH_WIDTH;
    return wide || (chroma->shift_x == 0 && chroma->shift_y == 1);
}

static const uint8_t *strip_row(const struct pixels_strip *strip, unsigned plane, uint32_t y) {
    const struct plane *from = &strip->planes.plane[plane];
    const uint32_t first = strip->taken >> from->shift_y;
    return y < first ? strip->last[plane] : plane_row(from, y - first);
}

/* The row of chroma that is second nearest to row y of the picture. */
static uint32_t second_nearest(const struct plane *chroma, uint32_t y) {
    const uint32_t nearest = y >> chroma->shift_y;
    if (y & 1) {
        return nearest + 1 < chroma->height ? nearest + 1 : nearest;
    }
    return nearest > 0 ? nearest - 1 : nearest;
}

/* Makes row y. False when it takes a row of the next strip; `rows` is the end of this one. */
static bool make_row(struct pixels_strip *strip, uint32_t y, uint32_t rows) {
    struct pixels_row *row = &strip->row;
    const struct plane *chroma = &strip->planes.plane[1];
    const bool mixes = row->smooth && chroma->shift_y == 1;
    const uint32_t near = y >> chroma->shift_y, next = mixes ? second_nearest(chroma, y) : near;
    if (rows < strip->image->height && next >= rows >> chroma->shift_y) {
        return false;
    }
    row->odd = y & 1;
    row->luma = strip_row(strip, 0, y);
    for (unsigned i = 0; i < 2; i++) {
        row->near[i] = strip_row(strip, i + 1, near);
        row->next[i] = strip_row(strip, i + 1, next);
    }
    strip->level->join(row, plane_row(&strip->image->plane[0], y));
    return true;
}

static void take(void *context, uint32_t rows) {
    struct pixels_strip *strip = context;
    while (strip->reported < rows && make_row(strip, strip->reported, rows)) {
        strip->reported++;
    }
    for (unsigned i = 0; i < IMAGE_PLANES_MAX && rows < strip->image->height; i++) {
        const struct plane *plane = &strip->planes.plane[i];
        memcpy(strip->last[i], strip_row(strip, i, (rows >> plane->shift_y) - 1), plane->width);
    }
    strip->taken = rows;
    progress_tell(strip->reader, strip->reported);
}

static uint8_t *room(uint8_t **next, unsigned rows, uint32_t width) {
    uint8_t *memory = *next;
    *next += rows * row_bytes(width);
    return memory;
}

enum status pixels_strip_init(struct pixels_strip *strip, const struct jpeg_dec_level *level,
                              const struct image_shape *planes, const struct image *image,
                              const struct progress *reader, struct error *err) {
    const struct image_shape shape = strip_shape(planes);
    const uint32_t width = planes->width;
    *strip = (struct pixels_strip){.image = image, .reader = reader, .level = level};
    strip->taker = (struct progress){.rows = take, .context = strip};
    strip->memory = aligned_alloc(IMAGE_ALIGNMENT, pixels_strip_bytes(planes));
    if (!strip->memory) {
        return fail(err, ST_BUSY, "no memory to decode a JPEG");
    }
    uint8_t *next = strip->memory + image_layout(&strip->planes, &shape);
    image_place(&strip->planes, strip->memory);
    struct image whole;
    image_layout(&whole, planes);
    strip->planes.height = whole.height;
    for (unsigned i = 0; i < IMAGE_PLANES_MAX; i++) {
        strip->planes.plane[i].height = whole.plane[i].height;
        strip->last[i] = room(&next, 1, width);
        strip->row.colour[i] = room(&next, 1, width);
    }
    const struct plane *chroma = &strip->planes.plane[1];
    strip->row.width = width;
    strip->row.chroma_width = chroma->width;
    strip->row.shift_x = chroma->shift_x;
    strip->row.shift_y = chroma->shift_y;
    strip->row.smooth = is_smooth(chroma);
    strip->row.sum = (uint16_t *)(void *)room(&next, 2, width);
    strip->row.full[0] = room(&next, 1, width);
    strip->row.full[1] = room(&next, 1, width);
    return ST_OK;
}

void pixels_strip_finish(struct pixels_strip *strip) {
    free(strip->memory);
    strip->memory = NULL;
}
