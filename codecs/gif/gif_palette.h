/* SPDX-License-Identifier: MIT
 * The colours that a GIF can have of a picture. Internal to codecs/. */
#ifndef BLURD_CODECS_GIF_GIF_PALETTE_H
#define BLURD_CODECS_GIF_GIF_PALETTE_H

#include "codecs/gif/gif_blocks.h"

enum {
    GIF_CELLS = 1 << 15, /* colours of 5 bits a primary */
    GIF_KNOWN = 1024,    /* slots for colours that are kept as they are */
};

struct gif_cell {
    uint32_t pixels;
    uint64_t sum[3];
};

/* About 1.1 MB. */
struct gif_palette {
    unsigned colours; /* without the transparent one */
    int transparent;  /* the index behind them; -1: none */
    unsigned bits;    /* of an index: 2 to 8 */
    uint8_t colour[GIF_COLOURS][3];
    bool exact;                /* these are all colours of the picture */
    uint32_t known[GIF_KNOWN]; /* exact: colours plus 1; 0: free */
    uint8_t known_index[GIF_KNOWN];
    uint8_t cell_index[GIF_CELLS]; /* not exact: the colour of each cell */
    struct gif_cell cell[GIF_CELLS];
};

/* One row of a picture of any interleaved model as RGBA of 8 bits. */
void gif_row(const struct image *image, uint32_t y, uint8_t *rgba);

/* Chooses the colours. `row` is memory for one row of RGBA. ST_LIMIT at the deadline. */
enum status gif_palette_make(struct gif_palette *palette, const struct image *image, int64_t deadline_ns,
                             uint8_t *row, struct error *err);

/* The index of each pixel of a row. */
void gif_palette_apply(const struct gif_palette *palette, const uint8_t *rgba, uint8_t *index, size_t width);

#endif
