/* SPDX-License-Identifier: MIT
 * libheif copies a picture while it converts, turns and crops it. The most at once is what the decoder holds
 * of a 4:4:4 picture and its copy: 7.3 bytes a pixel of 8 bits were measured with libheif 1.15 and
 * libde265 1.0, 5.8 of a turned grid of 4:2:0. Overlays, and pictures of which most is cropped, may need more
 * than is granted here. */
#include "codecs/heic/heic.h"

enum {
    STATE = 16 << 20, /* bytes of boxes, tables and the stack of the decoder's thread, without which it waits
                         for ever */
    COPIES = 8,       /* bytes a pixel of 8 bits */
    EDGE = 64,        /* pixels that complete blocks and tiles */
    INPUTS = 4,       /* copies of the file's data, and the file that heic_references.h makes */
};

size_t heic_decode_bytes(const struct picture *picture, size_t input) {
    size_t pixels = (size_t)(picture->pixels.width + EDGE) * (picture->pixels.height + EDGE);
    return STATE + INPUTS * input + pixels * COPIES * (picture->pixels.depth / 8);
}
