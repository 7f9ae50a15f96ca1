/* SPDX-License-Identifier: MIT
 * Heap memory that libavif, dav1d and libaom take. */
#include "codecs/avif/avif.h"

enum {
    DECODE_STATE = 8 << 20,
    DECODE_PIXEL = 16,
    ENCODE_STATE = 16 << 20,
    ENCODE_PIXEL = 64,
};

size_t avif_decode_bytes(const struct picture *picture, size_t input) {
    size_t pixels = (size_t)picture->pixels.width * picture->pixels.height;
    return DECODE_STATE + 2 * input + pixels * DECODE_PIXEL;
}

size_t avif_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    (void)options;
    return ENCODE_STATE + (size_t)shape->width * shape->height * ENCODE_PIXEL;
}
