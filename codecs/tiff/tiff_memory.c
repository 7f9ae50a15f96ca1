/* SPDX-License-Identifier: MIT
 * libtiff copies the data of a strip, and decodes one tile or one strip at a time, or a row of a large strip.
 * Zstandard and LZMA keep a window: 8 MiB at the levels that libtiff writes by default. Progressive JPEGs
 * keep their coefficients, 2 bytes a sample. */
#include "codecs/tiff/tiff_codec.h"
#include "codecs/tiff/tiff_layout.h"

enum {
    STATE = 16 << 20, /* bytes of tables and windows */
    INPUTS = 2,       /* copies of the data of a strip, and the places of all */
    COPIES = 2, /* bytes for each of the picture: a strip that is decoded as a whole, and coefficients */
};

size_t tiff_codec_decode_bytes(const struct picture *picture, size_t input) {
    const struct image_shape *shape = &picture->pixels;
    size_t pixels = (size_t)shape->width * shape->height;
    return STATE + TIFF_PIECE_ROOM + INPUTS * input +
           pixels * image_pixel_channels(shape->model) * (shape->depth / 8) * COPIES;
}
