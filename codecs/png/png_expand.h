/* SPDX-License-Identifier: MIT
 * Pixels of a PNG that are not stored as they are decoded: indices of a palette, samples of less than 8 bits,
 * a colour that is transparent (tRNS). The results are those of libpng: an index that the palette lacks is
 * black, one without a transparency is opaque. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_EXPAND_H
#define BLURD_CODECS_PNG_PNG_EXPAND_H

#include "codecs/png/png_chunks.h"

/* How the pixels of one picture are expanded. Plain data. */
struct png_expansion {
    unsigned depth;    /* bits of an index; */
    unsigned channels; /* bytes of the pixel that it stands for */
    unsigned pixel;    /* 0: pixels are indices; else bytes of a pixel that gets an alpha */
    unsigned sample;   /* bytes of a sample of it */
    uint8_t key[6];    /* that pixel is transparent; big-endian as in the file */
    uint8_t colour[256][4];
    uint8_t spread[256][8]; /* depth below 8: the indices in a byte; with one channel the samples */
};

/* Whether pixels of the file have to be expanded. */
bool png_expands(const struct png_facts *facts);

/* `palette` and `transparency` are the data of the chunks PLTE and tRNS. The first is empty without a
 * palette, else it has 1 to 256 colours; the second is empty where !facts->transparent, else libpng applies
 * it. */
void png_expansion_init(struct png_expansion *expansion, const struct png_facts *facts, struct bytes palette,
                        struct bytes transparency);

/* Expands a row of `width` pixels from the bytes of the file, without filter, to an image's row, in host byte
 * order. May write the bytes behind it up to a multiple of 8. `indices` has room for as many. The three do
 * not overlap. */
void png_expand_row(const struct png_expansion *expansion, const uint8_t *from, uint8_t *indices, uint8_t *to,
                    uint32_t width);

#endif
