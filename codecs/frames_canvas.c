/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/frames.h"
#include "core/numbers.h"

enum { RED, GREEN, BLUE, ALPHA, CHANNELS };

static inline uint32_t get(const uint8_t *row, size_t index, bool deep) {
    uint16_t sample;
    if (!deep) {
        return row[index];
    }
    memcpy(&sample, row + 2 * index, sizeof sample);
    return sample;
}

static inline void put(uint8_t *row, size_t index, bool deep, uint32_t value) {
    const uint16_t sample = (uint16_t)value;
    if (deep) {
        memcpy(row + 2 * index, &sample, sizeof sample);
    } else {
        row[index] = (uint8_t)value;
    }
}

/* The pixel as RGBA. */
static inline void read_pixel(const uint8_t *row, size_t x, unsigned channels, bool deep,
                              uint32_t pixel[CHANNELS]) {
    const size_t at = x * channels;
    const bool grey = channels < 3;
    pixel[RED] = get(row, at, deep);
    pixel[GREEN] = grey ? pixel[RED] : get(row, at + 1, deep);
    pixel[BLUE] = grey ? pixel[RED] : get(row, at + 2, deep);
    pixel[ALPHA] = channels % 2 == 0 ? get(row, at + channels - 1, deep) : deep ? UINT16_MAX : UINT8_MAX;
}

/* Both alphas are parts of `full`, and so is what is left of the lower one: full * full is 1. */
static inline void blend(const uint32_t over[CHANNELS], uint8_t *row, size_t at, bool deep) {
    const uint64_t full = deep ? UINT16_MAX : UINT8_MAX;
    const uint64_t above = over[ALPHA] * full, below = get(row, at + ALPHA, deep) * (full - over[ALPHA]);
    const uint64_t sum = above + below;
    for (unsigned i = RED; i < ALPHA; i++) {
        const uint64_t colour = over[i] * above + get(row, at + i, deep) * below;
        put(row, at + i, deep, (uint32_t)((colour + sum / 2) / sum));
    }
    put(row, at + ALPHA, deep, (uint32_t)((sum + full / 2) / full));
}

static inline void draw_row(uint8_t *to, const uint8_t *from, uint32_t count, unsigned channels, bool deep,
                            bool blends) {
    const uint32_t full = deep ? UINT16_MAX : UINT8_MAX;
    for (uint32_t x = 0; x < count; x++) {
        uint32_t pixel[CHANNELS];
        read_pixel(from, x, channels, deep, pixel);
        if (!blends || pixel[ALPHA] == full) {
            for (unsigned i = 0; i < CHANNELS; i++) {
                put(to, (size_t)x * CHANNELS + i, deep, pixel[i]);
            }
        } else if (pixel[ALPHA] > 0) {
            blend(pixel, to, (size_t)x * CHANNELS, deep);
        }
    }
}

/* The columns and rows of the frame that are on the canvas: both or none. */
static uint32_t columns_on(const struct image *canvas, const struct frame *frame) {
    return frame->left < canvas->width ? min_u32(frame->width, canvas->width - frame->left) : 0;
}

static uint32_t rows_on(const struct image *canvas, const struct frame *frame) {
    const bool on = frame->top < canvas->height && columns_on(canvas, frame) > 0;
    return on ? min_u32(frame->height, canvas->height - frame->top) : 0;
}

/* Where the frame's row begins on the canvas. */
static uint8_t *place(const struct image *canvas, const struct frame *frame, uint32_t y) {
    return plane_row(&canvas->plane[0], frame->top + y) +
           (size_t)frame->left * CHANNELS * (canvas->depth / 8u);
}

void frames_draw(const struct image *canvas, const struct frame *frame, const struct image *pixels) {
    const uint32_t columns = columns_on(canvas, frame), rows = rows_on(canvas, frame);
    const unsigned channels = pixels->plane[0].channels;
    for (uint32_t y = 0; y < rows; y++) {
        uint8_t *to = place(canvas, frame, y);
        const uint8_t *from = plane_row(&pixels->plane[0], y);
        if (canvas->depth == 16) {
            draw_row(to, from, columns, channels, true, frame->blends);
        } else {
            draw_row(to, from, columns, channels, false, frame->blends);
        }
    }
}

void frames_clear(const struct image *canvas, const struct frame *frame) {
    const size_t size = (size_t)columns_on(canvas, frame) * CHANNELS * (canvas->depth / 8u);
    for (uint32_t y = 0; y < rows_on(canvas, frame); y++) {
        memset(place(canvas, frame, y), 0, size);
    }
}

void frames_copy(const struct image *canvas, const struct frame *frame, const struct image *from) {
    const size_t size = (size_t)columns_on(canvas, frame) * CHANNELS * (canvas->depth / 8u);
    for (uint32_t y = 0; y < rows_on(canvas, frame); y++) {
        memcpy(place(canvas, frame, y), place(from, frame, y), size);
    }
}

void frames_show(const struct image *canvas, const struct image *target) {
    static const uint8_t channel[][CHANNELS] = {[PIXEL_GRAY] = {RED},
                                                [PIXEL_GRAY_ALPHA] = {RED, ALPHA},
                                                [PIXEL_RGB] = {RED, GREEN, BLUE},
                                                [PIXEL_RGBA] = {RED, GREEN, BLUE, ALPHA}};
    const uint8_t *order = channel[target->model];
    const unsigned channels = target->plane[0].channels, bytes = target->depth / 8u;
    for (uint32_t y = 0; y < target->height; y++) {
        const uint8_t *from = plane_row(&canvas->plane[0], y);
        uint8_t *to = plane_row(&target->plane[0], y);
        for (size_t x = 0; x < target->width; x++) {
            for (unsigned i = 0; i < channels; i++) {
                memcpy(to + (x * channels + i) * bytes, from + (x * CHANNELS + order[i]) * bytes, bytes);
            }
        }
    }
}
