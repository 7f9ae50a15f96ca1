/* SPDX-License-Identifier: MIT
 * libheif holds a decoded picture several times while it converts, turns and crops it. */
#include "codecs/heic/heic.h"

enum {
    STATE = 16 << 20, /* bytes of boxes, tables and the stack of a thread */
    SAMPLE_COPIES = 8,
};

size_t heic_decode_bytes(const struct picture *picture, size_t input) {
    size_t samples = (size_t)(picture->pixels.width + 64) * (picture->pixels.height + 64);
    return STATE + 3 * input + samples * SAMPLE_COPIES * (picture->pixels.depth / 8);
}
