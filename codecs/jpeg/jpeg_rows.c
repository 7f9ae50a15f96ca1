/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_rows.h"

#include <string.h>

static uint16_t sample16(const uint8_t *p, size_t index) {
    uint16_t value;
    memcpy(&value, p + index * 2, 2);
    return value;
}

/* round(v * 255 / 65535), exactly. */
static uint8_t reduce16(unsigned v) {
    return (uint8_t)((v * 255 + 32895) >> 16);
}

static void convert_row8(const uint8_t *from, uint8_t *to, uint32_t width, unsigned channels, bool alpha) {
    unsigned colours = channels - alpha;
    for (uint32_t x = 0; x < width; x++, from += channels, to += colours) {
        unsigned a = alpha ? from[colours] : 255;
        for (unsigned c = 0; c < colours; c++) {
            to[c] = (uint8_t)((from[c] * a + 255 * (255 - a) + 127) / 255);
        }
    }
}

static void convert_row16(const uint8_t *from, uint8_t *to, uint32_t width, unsigned channels, bool alpha) {
    unsigned colours = channels - alpha;
    for (size_t x = 0; x < width; x++) {
        uint64_t a = alpha ? sample16(from, x * channels + colours) : 65535;
        for (unsigned c = 0; c < colours; c++) {
            uint64_t v = sample16(from, x * channels + c) * a + 65535 * (65535 - a);
            to[x * colours + c] = reduce16((unsigned)((v + 32767) / 65535));
        }
    }
}

const uint8_t *jpeg_rows_get(const struct image *image, uint32_t y, uint8_t *room) {
    const struct plane *plane = &image->plane[0];
    const uint8_t *row = plane_row(plane, y);
    bool alpha = image_pixel_has_alpha(image->model);
    if (image->depth == 8 && !alpha) {
        return row;
    }
    (image->depth == 16 ? convert_row16 : convert_row8)(row, room, image->width, plane->channels, alpha);
    return room;
}
