/* SPDX-License-Identifier: MIT
 * What the launcher of the JPEG encoder (C) hands to its kernels (CUDA C++), see gpu/jpeg/encode_block.cuh,
 * by value, in device memory and as the shared memory of a block. Both read this header. */
#ifndef BLURD_GPU_JPEG_ENCODE_KERNELS_H
#define BLURD_GPU_JPEG_ENCODE_KERNELS_H

#include "gpu/jpeg/jpeg_kernels.h"

enum {
    KERNEL_ENCODE_THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y,
    KERNEL_ENCODE_SIDE = 8,                          /* of a block of samples */
    KERNEL_ENCODE_COEFFICIENTS = 64,                 /* of a block */
    KERNEL_ENCODE_GROUP = KERNEL_ENCODE_THREADS / 8, /* blocks that are transformed together */
    KERNEL_ENCODE_QUAD = 4,                          /* blocks whose codes a warp makes together */
    KERNEL_ENCODE_QUAD_ENTRIES = KERNEL_ENCODE_QUAD * 64,
    KERNEL_ENCODE_RANGE = 32, /* quads that are measured together */
    KERNEL_ENCODE_PART = 8,   /* bytes of a chunk that a thread looks at */
    KERNEL_ENCODE_CHUNK = KERNEL_ENCODE_THREADS * KERNEL_ENCODE_PART, /* bytes that are stuffed together */
    KERNEL_ENCODE_BLOCK_BITS = 27 + 63 * 26, /* of one block at most: codes of 16 bits, values of 11 and 10 */
    KERNEL_ENCODE_QUAD_WORDS = (KERNEL_ENCODE_QUAD * KERNEL_ENCODE_BLOCK_BITS) / 32 + 3,
    KERNEL_ENCODE_STRIDE = 9,  /* of rows in shared memory, so that columns do not meet in a bank */
    KERNEL_ENCODE_VECTOR = 16, /* bytes that are stored at once */
    KERNEL_ENCODE_HEAD = 640,  /* bytes before the scan at most */
    KERNEL_ENCODE_TABLES = 2,  /* for luma and chroma */
    KERNEL_ENCODE_SIZES = 12,  /* of differences of DC, in bits: 0 to 11 */
    KERNEL_ENCODE_CODE_BITS = 16,
    KERNEL_ENCODE_SYMBOLS = 256,
    KERNEL_ENCODE_DC_SYMBOLS = 32, /* more than there are bits in a difference */
};

/* Huffman codes: length << KERNEL_ENCODE_CODE_BITS | code. */
struct encode_tables {
    uint32_t dc[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SIZES]; /* by the size of the value */
    uint32_t ac[KERNEL_ENCODE_TABLES][256];                 /* by run << 4 | size */
};
KERNEL_SIZE_IS(encode_tables, 2144);

/* How often each symbol occurs, DC and AC of luma, then of chroma. */
struct encode_counts {
    uint64_t of[2 * KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SYMBOLS];
};
KERNEL_SIZE_IS(encode_counts, 8192);

struct encode_component {
    struct kernel_grid grid;
    int32_t blocks_x, blocks_y;
    int32_t shift_x, shift_y; /* log2 of its blocks in an MCU, across and down */
    uint32_t first;           /* block of the MCU with which the component begins */
    uint32_t table;
};
KERNEL_SIZE_IS(encode_component, 64);

/* The DC of a block of samples, in the order of the scan, and its difference to the component's block before.
 */
struct encode_block {
    int32_t dc, difference;
};
KERNEL_SIZE_IS(encode_block, 8);

/* Four blocks in the order of the scan, and the entries of their symbols: words as of ENCODE_VALUE_BITS. */
struct encode_quad {
    uint32_t entries; /* number */
    uint32_t bits;
    uint32_t begin; /* the bit where it begins in its range */
    uint32_t reserved;
};
KERNEL_SIZE_IS(encode_quad, 16);

/* Totals of the picture that is being encoded. */
struct encode_state {
    uint64_t bits;        /* of the scan */
    uint64_t size;        /* bytes of the file */
    uint32_t finished[3]; /* blocks of threads of the kernels that add up */
    uint32_t reserved;
};
KERNEL_SIZE_IS(encode_state, 32);

/* The shared memory of a block of threads, for sums, and that of each kernel. */
struct encode_sums {
    uint32_t warp[KERNEL_THREADS_Y];
    uint32_t last;
};
KERNEL_SIZE_IS(encode_sums, 36);

struct encode_transform_shared {
    int16_t zigzag[KERNEL_ENCODE_GROUP][KERNEL_ENCODE_COEFFICIENTS];
    int32_t work[KERNEL_ENCODE_GROUP][KERNEL_ENCODE_SIDE * KERNEL_ENCODE_STRIDE];
    uint32_t count[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SYMBOLS]; /* of AC */
    uint32_t divisor[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS];
    uint32_t inverse[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]; /* 2^32 / divisor, rounded up */
    uint8_t place[KERNEL_ENCODE_COEFFICIENTS];
};
KERNEL_SIZE_IS(encode_transform_shared, 16448);

struct encode_patch_shared {
    struct encode_transform_shared transform;
    uint32_t touched; /* not 0: a block is */
    uint32_t reserved;
};
KERNEL_SIZE_IS(encode_patch_shared, 16456);

struct encode_write_shared {
    uint32_t word[KERNEL_THREADS_Y][KERNEL_ENCODE_QUAD_WORDS];
};
KERNEL_SIZE_IS(encode_write_shared, 6752);

struct encode_symbols_shared {
    uint32_t count[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_DC_SYMBOLS];
    struct encode_sums sums;
};
KERNEL_SIZE_IS(encode_symbols_shared, 292);

struct encode_stuff_shared {
    uint8_t bytes[KERNEL_ENCODE_VECTOR + 2 * KERNEL_ENCODE_CHUNK];
    struct encode_sums sums;
};
KERNEL_SIZE_IS(encode_stuff_shared, 4148);

struct encode_pass {
    struct encode_component component[KERNEL_PLANES];
    uint64_t tables;   /* device address of a struct encode_tables */
    uint64_t counts;   /* of a struct encode_counts, which is zero then and later; 0: nothing is counted */
    uint64_t counted;  /* of one that the host sees, the result */
    uint64_t state;    /* of a struct encode_state */
    uint64_t blocks;   /* of `count` struct encode_block */
    uint64_t quads;    /* of a struct encode_quad for each quad */
    uint64_t entries;  /* of KERNEL_ENCODE_QUAD_ENTRIES uint32_t for each quad */
    uint64_t ranges;   /* of a uint64_t for each range: the bit where it begins */
    uint64_t chunks;   /* of a uint64_t for each chunk: bytes stuffed in before it */
    uint64_t bits;     /* of the scan before stuffing, `capacity` bytes */
    uint64_t output;   /* of the file, `room` bytes; a multiple of 16 */
    uint64_t size;     /* of a uint64_t that the host sees: bytes of the file, also when they are too many */
    uint64_t capacity; /* a multiple of 16 */
    uint64_t room;
    uint32_t components, in_mcu, mcus_x;
    uint32_t count; /* blocks, those that fill up MCUs included */
    uint32_t head_size;
    uint32_t inverse_mcu, inverse_x; /* 2^32 / in_mcu and / mcus_x, rounded up; 0 for 1 */
    uint32_t inverse[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]; /* 2^32 / (8 * quantiser), likewise */
    uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]; /* row by row */
    uint8_t place[KERNEL_ENCODE_COEFFICIENTS]; /* in zigzag order, of the coefficients row by row */
    uint8_t head[KERNEL_ENCODE_HEAD];          /* all of the file before the scan */
    uint32_t reserved;
};
KERNEL_SIZE_IS(encode_pass, 1808);

/* In place of encode_transform, for a picture of which only blocks under a mask are made anew. */
struct encode_patch_pass {
    struct encode_pass encode;
    struct kernel_grid mask;     /* of the picture's pixels: 0 where they are those of the file */
    struct decode_result source; /* the file's coefficients, of as many blocks in the same order */
};
KERNEL_SIZE_IS(encode_patch_pass, 1880);

#endif
