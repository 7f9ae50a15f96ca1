/* SPDX-License-Identifier: MIT
 * Bounds on the memory that libwebp takes, read in its sources and measured with malloc counted
 * (versions 1.2.4; see webp_effort.c). */
#include "codecs/webp/webp.h"
#include "codecs/webp/webp_effort.h"
#include "core/numbers.h"

enum {
    STATE = 1 << 20, /* bytes of fixed tables, what malloc adds, and this folder's own state */
    COLUMN = 192,    /* bytes a column of pixels: rows of macroblocks, and rows of decoded pixels */
    /* A lossless picture, or the alpha of a lossy one, is decoded as a whole: 4 bytes a pixel, images of
     * transforms and of Huffman codes with at most a pixel for 16, three of them; and the alpha itself. */
    LOSSLESS_PIXEL = 5,
    ALPHA_PIXEL = 6,
    /* Each group of Huffman codes has tables of up to 20 kB, and 100 bytes or more in a file that is made to
     * be small. libwebp's encoder makes at most 2600 groups, and some hundreds of a photograph. A file can
     * state more; libwebp then gets no memory. */
    TABLES_BYTE = 200,
    TABLES_MAX = 32 << 20,
    /* The encoder's histograms: one for each of at most 2600 blocks, three times. */
    HISTOGRAMS_PIXEL = 160,
    HISTOGRAMS_MAX = 24 << 20,
    DEEP_PIXEL = 5, /* bytes of a pixel of 16 bits that is converted to 8, and of what that is converted to */
    PLAIN_PIXEL = 12, /* what efforts that keep no symbols take */
};

size_t webp_decode_bytes(const struct picture *picture, size_t input) {
    size_t columns = STATE + (size_t)picture->pixels.width * COLUMN;
    if (picture->native.model == PIXEL_YCBCR) {
        return columns;
    }
    size_t pixel = picture->pixels.model == PIXEL_RGBA ? ALPHA_PIXEL : LOSSLESS_PIXEL;
    size_t pixels = (size_t)picture->pixels.width * picture->pixels.height * pixel;
    return columns + pixels + min_size(min_size(input, TABLES_MAX) * TABLES_BYTE, TABLES_MAX);
}

size_t webp_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    const struct webp_effort *effort = webp_effort_wanted(options);
    size_t pixels = (size_t)shape->width * shape->height;
    size_t columns = STATE + (size_t)shape->width * COLUMN;
    size_t deep = shape->depth == 16 ? pixels * DEEP_PIXEL : 0;
    size_t histograms = min_size(pixels * HISTOGRAMS_PIXEL, HISTOGRAMS_MAX);
    if (options->lossless) {
        return columns + pixels * effort->bytes[WEBP_KIND_LOSSLESS] + histograms;
    }
    if (image_pixel_has_alpha(shape->model)) {
        return columns + deep + pixels * effort->bytes[WEBP_KIND_TRANSLUCENT] + histograms;
    }
    bool plain = webp_effort_saves_memory(effort, shape);
    return columns + deep + pixels * (plain ? PLAIN_PIXEL : effort->bytes[WEBP_KIND_LOSSY]);
}
