/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_padded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/filters/filter_image.h"

static int clamped(double value) {
    return value < 0 ? 0 : value > 255 ? 255 : (int)value;
}

static void expected_pixel(const struct image *image, uint32_t x, uint32_t y, uint8_t rgb[3]) {
    const unsigned shift = image->depth - 8;
    if (image->model == PIXEL_YCBCR) {
        const struct plane *chroma = &image->plane[1];
        uint32_t cx = x >> chroma->shift_x, cy = y >> chroma->shift_y;
        double luma = test_sample(image, 0, x, y, 0);
        double cb = test_sample(image, 1, cx, cy, 0) - 128.0, cr = test_sample(image, 2, cx, cy, 0) - 128.0;
        rgb[0] = (uint8_t)clamped(luma + floor((91881 * cr + 32768) / 65536));
        rgb[1] = (uint8_t)clamped(luma + floor((-22554 * cb - 46802 * cr + 32768) / 65536));
        rgb[2] = (uint8_t)clamped(luma + floor((116130 * cb + 32768) / 65536));
        return;
    }
    const unsigned last = image->plane[0].channels - 1;
    const unsigned alpha =
        image_pixel_has_alpha(image->model) ? test_sample(image, 0, x, y, last) >> shift : 255;
    for (unsigned c = 0; c < 3; c++) {
        const unsigned sample = test_sample(image, 0, x, y, last >= 2 ? c : 0) >> shift;
        rgb[c] = (uint8_t)lround((sample * alpha + 128.0 * (255 - alpha)) / 255);
    }
}

/* The pixel of the picture that one of the padded picture is a copy of; the picture's size: black. */
static uint32_t origin(uint32_t place, uint32_t border, uint32_t size) {
    if (border == 0) {
        return place < size ? place : size;
    }
    int64_t at = (int64_t)place - border;
    while (at < 0 || at >= size) {
        at = size == 1 ? 0 : at < 0 ? -at : 2 * ((int64_t)size - 1) - at;
    }
    return (uint32_t)at;
}

uint8_t *reference_padded(const struct image *image, uint32_t border, uint32_t width, uint32_t height) {
    uint8_t *rgb = calloc((size_t)width * height, 3);
    if (!rgb) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t from_x = origin(x, border, image->width),
                           from_y = origin(y, border, image->height);
            if (from_x < image->width && from_y < image->height) {
                expected_pixel(image, from_x, from_y, rgb + ((size_t)y * width + x) * 3);
            }
        }
    }
    return rgb;
}
