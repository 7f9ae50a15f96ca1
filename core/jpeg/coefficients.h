/* SPDX-License-Identifier: MIT
 * The quantised coefficients of a JPEG in memory, as the CPU hands them to a GPU that does the rest of the
 * decoding: a struct coefficients_head, then 64 values of 16 bits for each block of 8x8 samples.
 *
 * The blocks follow each other as in a scan of all components: MCU by MCU, with `h` x `v` blocks of luma and
 * one block of each chroma plane. The values of padding blocks, which only fill up an MCU, are not used.
 * Within a block the values are stored column by column. */
#ifndef BLURD_CORE_JPEG_COEFFICIENTS_H
#define BLURD_CORE_JPEG_COEFFICIENTS_H

#include "core/image.h"

enum { COEFFICIENTS_SIDE = 8, COEFFICIENTS_BLOCK = 64 };

/* The steps of quantisation of each plane, row by row, without a 0; of absent planes they mean nothing. */
struct coefficients_head {
    uint16_t quantiser[IMAGE_PLANES_MAX][COEFFICIENTS_BLOCK];
};
_Static_assert(sizeof(struct coefficients_head) % IMAGE_ALIGNMENT == 0, "values are aligned, too");

struct coefficients_layout {
    uint8_t planes;
    uint8_t h, v;            /* luma blocks in an MCU: columns, rows; 1 for grey */
    uint32_t in_mcu;         /* blocks in an MCU, at most 10 */
    uint32_t mcus_x, mcus_y; /* MCUs in a row and in a column */
    uint32_t blocks;
};

/* False for a shape that has no such layout: other models than grey and YCbCr, chroma reduced by 4 in both
 * directions, more than a million blocks in a plane. */
bool coefficients_lay_out(const struct image_shape *shape, struct coefficients_layout *layout);

/* Bytes of the head and of all values. */
size_t coefficients_size(const struct coefficients_layout *layout);

/* The blocks of a plane in one row: see coefficients_block. */
struct coefficients_row {
    uint32_t first, in_mcu;
    unsigned shift;
};

/* The row of blocks `y` of a plane. Factors are powers of 2. */
static inline struct coefficients_row coefficients_row(const struct coefficients_layout *layout,
                                                       unsigned plane, uint32_t y) {
    uint32_t h = plane > 0 ? 1 : layout->h, v = plane > 0 ? 1 : layout->v;
    uint32_t before = plane > 0 ? (uint32_t)layout->h * layout->v + plane - 1 : 0;
    return (struct coefficients_row){
        (y >> v / 2) * layout->mcus_x * layout->in_mcu + before + (y & (v - 1)) * h, layout->in_mcu, h / 2};
}

/* The number of its block `x`. */
static inline uint32_t coefficients_block(const struct coefficients_row *row, uint32_t x) {
    return row->first + (x >> row->shift) * row->in_mcu + (x & ((1u << row->shift) - 1));
}

#endif
