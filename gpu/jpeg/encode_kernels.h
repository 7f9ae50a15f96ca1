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
    KERNEL_ENCODE_ROOM = 72,   /* 16-bit values of a block in shared memory; padded against bank conflicts */
    KERNEL_ENCODE_VECTOR = 16, /* bytes that are stored at once */
    KERNEL_ENCODE_HEAD = 208,  /* bytes before the scan at most, without those of the Huffman tables */
    KERNEL_ENCODE_TABLES = 2,  /* for luma and chroma */
    KERNEL_ENCODE_SIZES = 12,  /* of differences of DC, in bits: 0 to 11 */
    KERNEL_ENCODE_CODE_BITS = 16,
    KERNEL_ENCODE_SYMBOLS = 256,
    KERNEL_ENCODE_DC_SYMBOLS = 32, /* more than there are bits in a difference */
    KERNEL_ENCODE_AC_SIZES = 10,   /* of coefficients of 8-bit samples, in bits: 1 to 10 */
    /* Leaves of a tree at most: each size after 0 to 15 zeros, the end of a block, 16 zeros, and one leaf
     * that is no symbol. */
    KERNEL_ENCODE_LEAVES = 16 * KERNEL_ENCODE_AC_SIZES + 3,
    KERNEL_ENCODE_SEGMENT = 5 + KERNEL_ENCODE_CODE_BITS, /* bytes of a DHT segment before its symbols */
    KERNEL_ENCODE_SEGMENTS =
        KERNEL_ENCODE_TABLES * (2 * KERNEL_ENCODE_SEGMENT + KERNEL_ENCODE_SIZES + KERNEL_ENCODE_LEAVES - 1),
};

/* Huffman codes: length << KERNEL_ENCODE_CODE_BITS | code. And the segments of the file that say so. */
struct encode_tables {
    uint32_t dc[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SIZES]; /* by the size of the value */
    uint32_t ac[KERNEL_ENCODE_TABLES][256];                 /* by run << 4 | size */
    uint32_t end[KERNEL_ENCODE_TABLES]; /* bytes of segments up to those of luma, and of chroma */
    uint8_t segments[KERNEL_ENCODE_SEGMENTS];
};
KERNEL_SIZE_IS(encode_tables, 2584);

/* How often each symbol occurs, DC and AC of luma, then of chroma. */
struct encode_counts {
    uint64_t of[2 * KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SYMBOLS];
};
KERNEL_SIZE_IS(encode_counts, 8192);

/* What a stream keeps in device memory from picture to picture. */
struct encode_kept {
    struct encode_tables standard;
    struct encode_tables own;    /* of the last picture that had its own */
    struct encode_counts counts; /* zero between pictures */
};
KERNEL_SIZE_IS(encode_kept, 13360);

/* What the host gets to know about a picture. */
struct encode_outcome {
    uint64_t size;    /* bytes of the file, also when they are too many */
    uint64_t refused; /* not 0: it has a symbol that pictures of 8-bit samples do not have */
};
KERNEL_SIZE_IS(encode_outcome, 16);

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
    int16_t zigzag[KERNEL_ENCODE_GROUP][KERNEL_ENCODE_ROOM];
    int16_t work[KERNEL_ENCODE_GROUP][KERNEL_ENCODE_ROOM];
    uint32_t count[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_SYMBOLS]; /* of AC */
    /* As in struct encode_pass; then the same for blocks that have DC alone, with 0 for AC. */
    float inverse[2 * KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS];
    uint8_t place[KERNEL_ENCODE_COEFFICIENTS];
};
KERNEL_SIZE_IS(encode_transform_shared, 12352);

struct encode_patch_shared {
    struct encode_transform_shared transform;
    uint32_t touched; /* not 0: a block is */
    uint32_t reserved;
};
KERNEL_SIZE_IS(encode_patch_shared, 12360);

struct encode_write_shared {
    uint32_t word[KERNEL_THREADS_Y][KERNEL_ENCODE_QUAD_WORDS];
};
KERNEL_SIZE_IS(encode_write_shared, 6752);

/* A Huffman tree. A leaf or a node is how rare it is << 9 | its place among equally rare ones. */
struct encode_tree {
    uint64_t leaf[KERNEL_ENCODE_LEAVES + 2];   /* from the rarest one on, and two that are never taken */
    uint64_t node[KERNEL_ENCODE_LEAVES + 2];   /* joined ones, likewise */
    uint16_t parent[2 * KERNEL_ENCODE_LEAVES]; /* number of a node; of leaves, then of nodes */
    uint32_t order[KERNEL_ENCODE_LEAVES];      /* of leaves: length of the code << 9 | symbol */
    uint32_t count[KERNEL_ENCODE_LEAVES];      /* of codes of each length */
    uint32_t leaves, longest;
};
KERNEL_SIZE_IS(encode_tree, 4608);

struct encode_symbols_shared {
    uint32_t count[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_DC_SYMBOLS];
    struct encode_sums sums;
    uint32_t refused;
    struct encode_tree tree[2 * KERNEL_ENCODE_TABLES]; /* where symbols are counted */
};
KERNEL_SIZE_IS(encode_symbols_shared, 18728);

struct encode_stuff_shared {
    uint8_t bytes[KERNEL_ENCODE_VECTOR + 2 * KERNEL_ENCODE_CHUNK];
    struct encode_sums sums;
};
KERNEL_SIZE_IS(encode_stuff_shared, 4148);

struct encode_pass {
    struct encode_component component[KERNEL_PLANES];
    uint64_t tables;   /* device address of a struct encode_tables */
    uint64_t counts;   /* of a struct encode_counts, which is zero then and later; the tables are made of
                          them. 0: nothing is counted, and the tables are there */
    uint64_t state;    /* of a struct encode_state */
    uint64_t blocks;   /* of `count` struct encode_block */
    uint64_t quads;    /* of a struct encode_quad for each quad */
    uint64_t entries;  /* of KERNEL_ENCODE_QUAD_ENTRIES uint32_t for each quad */
    uint64_t ranges;   /* of a uint64_t for each range: the bit where it begins */
    uint64_t chunks;   /* of a uint64_t for each chunk: bytes stuffed in before it */
    uint64_t bits;     /* of the scan before stuffing, `capacity` bytes */
    uint64_t output;   /* of the file, `room` bytes; a multiple of 16 */
    uint64_t outcome;  /* of a struct encode_outcome that the host sees, which refuses nothing at first */
    uint64_t marks;    /* of a struct kernel_marks */
    uint64_t capacity; /* a multiple of 16 */
    uint64_t room;
    uint32_t components, in_mcu, mcus_x;
    uint32_t count;                  /* of blocks; blocks that fill up MCUs count, too */
    uint32_t frame_size, head_size;  /* bytes of `head` before the Huffman tables; in all */
    uint32_t inverse_mcu, inverse_x; /* 2^32 / in_mcu and / mcus_x, rounded up; 0 for 1 */
    /* 1 / (8 * quantiser), column by column, each the next larger number: see encode_quantise. */
    float inverse[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS];
    uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]; /* row by row */
    uint8_t place[KERNEL_ENCODE_COEFFICIENTS]; /* in zigzag order, of the coefficients row by row */
    uint8_t head[KERNEL_ENCODE_HEAD];          /* of the file before the scan, but for Huffman tables */
};
KERNEL_SIZE_IS(encode_pass, 1376);

/* In place of encode_transform, for a picture of which only blocks under a mask are made anew. */
struct encode_patch_pass {
    struct encode_pass encode;
    struct kernel_grid mask;     /* of the picture's pixels: 0 where they are those of the file */
    struct decode_result source; /* the file's coefficients, of as many blocks in the same order */
};
KERNEL_SIZE_IS(encode_patch_pass, 1448);

#endif
