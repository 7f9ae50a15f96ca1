/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels for JPEGs (CUDA C++), by value and in device memory; more of it:
 * gpu/cuda/kernels.h. */
#ifndef BLURD_GPU_JPEG_JPEG_KERNELS_H
#define BLURD_GPU_JPEG_JPEG_KERNELS_H

#include "gpu/cuda/kernels.h"

/* Reading the Huffman codes of a scan in parallel; see gpu/jpeg/huffman_sync.cuh. */
enum {
    KERNEL_SYNC_THREADS_Y = 4,
    KERNEL_SYNC_THREADS = KERNEL_THREADS_X * KERNEL_SYNC_THREADS_Y, /* of a block, one for each piece */
    KERNEL_SYNC_RUN_UP =
        16, /* pieces before a block's own, for it to be on the right way when it gets there */
    KERNEL_SYNC_RANGE = KERNEL_SYNC_THREADS - KERNEL_SYNC_RUN_UP, /* pieces of a block of its own */
    KERNEL_SYNC_PIECE = 64,                                       /* bytes of the scan */
    KERNEL_SYNC_PATIENCE = 1024,    /* pieces that a thread reads again to join ranges */
    KERNEL_SYNC_LOOK = 10,          /* bits that codes are looked up by; longer ones go by their length */
    KERNEL_SYNC_LONG = 6,           /* lengths above that, up to 16 */
    KERNEL_SYNC_TABLES = 4,         /* of Huffman codes: DC 0, DC 1, AC 0, AC 1 */
    KERNEL_SYNC_SIZE_MAX = 1 << 28, /* bytes of a scan: positions are bits, of 32 bits */
    KERNEL_SYNC_NO_CODE = 31,       /* an entry of the tables for what no code may be */
    KERNEL_SYNC_VALUE_SHIFT = 5,    /* an entry: bits of code and value, above them those of the value, and */
    KERNEL_SYNC_STEP_SHIFT = 9,     /* above those the steps of k */
    KERNEL_SYNC_END = 112,          /* steps of a code that ends its block, more than any other's */
};

/* The result for a scan. UNCERTAIN: the states did not meet in time. */
enum sync_verdict { SYNC_PENDING, SYNC_INTACT, SYNC_DAMAGED, SYNC_UNCERTAIN };

/* A table of Huffman codes. An entry is the number of bits that a code and its value have, that of the value
 * alone, and the steps that it takes in the block. */
struct sync_codes {
    uint16_t look[1 << KERNEL_SYNC_LOOK]; /* entries by the next bits; 0: the code is longer */
    uint16_t code[256];                   /* entries in the order of the codes */
    uint32_t limit[KERNEL_SYNC_LONG + 1]; /* 16 bits below that begin with a code of that length or less */
    int32_t first[KERNEL_SYNC_LONG + 1];  /* what to add to a code of that length, for its place in `code` */
};
KERNEL_SIZE_IS(sync_codes, 2616);

/* Facts about a picture that reading its codes needs, in device memory. */
struct sync_tables {
    uint32_t finished; /* blocks of threads, 0 at first */
    uint32_t blocks;   /* of 8x8 samples, in the picture */
    uint32_t interval; /* of them between restart markers; 0: there are none */
    uint32_t markers;  /* that there must be */
    uint32_t in_mcu;   /* blocks in an MCU; 1 where all have the same tables */
    uint32_t dc, ac;   /* bit n: the number of the table for block n of an MCU */
    uint32_t verdict;  /* enum sync_verdict; SYNC_PENDING at first */
    struct sync_codes codes[KERNEL_SYNC_TABLES];
};
KERNEL_SIZE_IS(sync_tables, 10496);

/* Facts that decoding needs beside these. Blocks lie in memory column by column. */
struct decode_tables {
    uint16_t steps[KERNEL_PLANES][64]; /* of quantisation, by component */
    uint8_t place[64];                 /* in the block, of the n-th coefficient of the scan */
    uint32_t finished;                 /* blocks of threads, 0 at first */
    uint32_t reserved[3];
};
KERNEL_SIZE_IS(decode_tables, 464);

/* Both, in one upload. */
struct scan_tables {
    struct sync_tables sync;
    struct decode_tables decode;
};
KERNEL_SIZE_IS(scan_tables, 10960);

/* The state between two codes: the bit of the scan, and block of the MCU << 8 | index in the block. */
struct sync_state {
    uint32_t bit, place;
};
KERNEL_SIZE_IS(sync_state, 8);

/* The result of reading a piece. */
struct sync_piece {
    struct sync_state exit;
    uint32_t blocks;  /* that ended there; bit 31: an error was met */
    uint32_t markers; /* their number << 24 | that of the first one << 16 | blocks that ended before it */
};
KERNEL_SIZE_IS(sync_piece, 16);

/* The shared memory of a block. */
struct sync_shared {
    struct sync_tables tables;
    struct sync_state exit[KERNEL_SYNC_THREADS];
    uint32_t blocks[KERNEL_SYNC_THREADS], markers[KERNEL_SYNC_THREADS];
    uint32_t vote[3]; /* of three rounds in turn */
    uint32_t flag;
};
KERNEL_SIZE_IS(sync_shared, 12560);

struct sync_pass {
    uint64_t bytes;   /* device address of the scan, a multiple of 4 */
    uint64_t tables;  /* of a struct sync_tables */
    uint64_t pieces;  /* of as many struct sync_piece as there are pieces */
    uint64_t starts;  /* of a struct sync_state for each block */
    uint64_t before;  /* of a uint32_t for each piece: blocks of samples that end before it */
    uint64_t verdict; /* of a uint32_t */
    uint32_t size;    /* bytes of the scan */
    uint32_t count;   /* pieces */
};
KERNEL_SIZE_IS(sync_pass, 56);

/* Decoding; see gpu/jpeg/decode.cuh. */
enum { KERNEL_DECODE_THREADS_Y = 4, KERNEL_DECODE_BLOCKS = 16 /* of samples, in a block of threads */ };

/* DC differences summed up in the order of the scan, by component, as far as the last restart marker. */
struct decode_sums {
    uint16_t of[KERNEL_PLANES];
    uint16_t restarted; /* there is a marker among them, and what was before it does not count */
};
KERNEL_SIZE_IS(decode_sums, 8);

/* The shared memory of a block. */
struct decode_shared {
    struct scan_tables tables;
    struct decode_sums sums[2][KERNEL_SYNC_THREADS]; /* in turn */
    uint32_t flag, reserved;
};
KERNEL_SIZE_IS(decode_shared, 13016);

/* From codes to coefficients. */
struct decode_pass {
    struct sync_pass sync;
    uint64_t tables; /* device address of the struct decode_tables */
    uint64_t values; /* of 64 int16_t for each block of samples in the order of the scan, zero at first */
    uint64_t
        owners; /* of a uint32_t for each of those: its piece << 1 | whether its DC is not relative to it */
    uint64_t sums;   /* of a struct decode_sums for each piece: of those before it in its range; and then for
                        each range: of those before it */
    uint32_t in_mcu; /* blocks of samples */
    uint32_t first[KERNEL_PLANES - 1]; /* block in the MCU with which the second and third components begin */
    uint32_t blocks;                   /* in the picture */
    uint32_t reserved;
};
KERNEL_SIZE_IS(decode_pass, 112);

struct decode_plane {
    uint64_t data;             /* device address; rows start at multiples of 8 bytes */
    uint32_t stride;           /* bytes */
    uint32_t blocks, blocks_x; /* that hold samples; in a row */
    uint32_t h, v, first;      /* blocks in an MCU: columns, rows; which one is the first of them */
    uint32_t first_tile;       /* of KERNEL_DECODE_BLOCKS blocks */
    uint32_t reserved;
};
KERNEL_SIZE_IS(decode_plane, 40);

/* From coefficients to samples. */
struct decode_planes_pass {
    struct decode_plane plane[KERNEL_PLANES];
    uint64_t tables;               /* device address of the struct scan_tables */
    uint64_t values, owners, sums; /* as of struct decode_pass */
    uint32_t count;                /* pieces */
    uint32_t planes;
    uint32_t in_mcu, mcus_x;
};
KERNEL_SIZE_IS(decode_planes_pass, 168);

#endif
