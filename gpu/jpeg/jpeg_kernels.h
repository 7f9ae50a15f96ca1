/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels for JPEGs (CUDA C++), by value and in device memory; more of it:
 * gpu/cuda/kernels.h. */
#ifndef BLURD_GPU_JPEG_JPEG_KERNELS_H
#define BLURD_GPU_JPEG_JPEG_KERNELS_H

#include "gpu/cuda/kernels.h"

/* Reading the Huffman codes of a scan in parallel; see gpu/jpeg/huffman_sync.cuh. A range is the work of a
 * block of threads, a piece that of a thread, and a part is a step of it. The pieces of a block begin with
 * the run-up, the end of the range before: decoders that guess its first state are on the right way at its
 * end. */
enum {
    KERNEL_SYNC_THREADS_Y = 2,
    KERNEL_SYNC_THREADS = KERNEL_THREADS_X * KERNEL_SYNC_THREADS_Y, /* of a block, one for each piece */
    KERNEL_SYNC_PART = 64,                                          /* bytes */
    KERNEL_SYNC_PIECE = 256,                                        /* bytes */
    KERNEL_SYNC_PIECE_PARTS = KERNEL_SYNC_PIECE / KERNEL_SYNC_PART,
    KERNEL_SYNC_RUN_UP = 4, /* pieces */
    KERNEL_SYNC_RANGE_PARTS = (KERNEL_SYNC_THREADS - KERNEL_SYNC_RUN_UP) * KERNEL_SYNC_PIECE_PARTS,
    KERNEL_SYNC_RANGE = KERNEL_SYNC_RANGE_PARTS * KERNEL_SYNC_PART, /* bytes of the scan */
    KERNEL_SYNC_BEFORE = KERNEL_SYNC_RUN_UP * KERNEL_SYNC_PIECE,    /* bytes of the run-up */
    KERNEL_SYNC_AHEAD = 16,                                         /* bytes read of the range behind */
    KERNEL_SYNC_ROW = KERNEL_SYNC_THREADS,                          /* words: one of each piece */
    KERNEL_SYNC_ROWS = KERNEL_SYNC_PIECE / 4 + 3,                   /* the last 3: of the next piece */
    KERNEL_SYNC_WORDS = KERNEL_SYNC_ROWS * KERNEL_SYNC_ROW,
    KERNEL_SYNC_MARKS = (KERNEL_SYNC_THREADS * KERNEL_SYNC_PIECE + 128) / 32, /* words of 32 bits */
    KERNEL_SYNC_UNIFORM = KERNEL_SYNC_THREADS * KERNEL_SYNC_PIECE_PARTS / 32,
    KERNEL_SYNC_ZEROS = 1 << 16,    /* bytes that a block fills with zeros */
    KERNEL_SYNC_RETRIES = 1024,     /* parts that a thread reads again to join ranges */
    KERNEL_SYNC_LOOK = 10,          /* bits that codes are looked up by; longer ones go by their length */
    KERNEL_SYNC_LONG = 6,           /* lengths above that, up to 16 */
    KERNEL_SYNC_BLOCKS = 16,        /* more than an MCU has */
    KERNEL_SYNC_TABLES = 4,         /* of Huffman codes: DC 0, DC 1, AC 0, AC 1 */
    KERNEL_SYNC_SIZE_MAX = 1 << 28, /* bytes of a scan: positions are bits, of 32 bits */
    KERNEL_SYNC_NO_CODE = 31,       /* an entry of the tables for what no code may be */
    KERNEL_SYNC_VALUE_SHIFT = 5,    /* an entry: bits of code and value, above them those of the value, and */
    KERNEL_SYNC_STEP_SHIFT = 9,     /* above those the steps of k */
    KERNEL_SYNC_END = 112,          /* steps of a code that ends its block, more than any other's */
};

#define KERNEL_SYNC_NEVER 0xffffffffu /* a position behind all others */

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

/* A block of an MCU: its tables and that of the DC of the next one, as bytes behind the first table, and the
 * number of the next one. */
struct sync_block {
    uint32_t dc, ac, next_dc, next;
};
KERNEL_SIZE_IS(sync_block, 16);

/* Facts about a picture that reading its codes needs, in device memory. */
struct sync_tables {
    uint32_t finished; /* blocks of threads, 0 at first */
    uint32_t blocks;   /* of 8x8 samples, in the picture */
    uint32_t interval; /* of them between restart markers; 0: there are none */
    uint32_t markers;  /* that there must be */
    uint32_t in_mcu;   /* blocks in an MCU; 1 where all have the same tables */
    uint32_t dc, ac;   /* bit n: the number of the table for block n of an MCU */
    uint32_t verdict;  /* enum sync_verdict; SYNC_PENDING at first */
    struct sync_block block[KERNEL_SYNC_BLOCKS];
    struct sync_codes codes[KERNEL_SYNC_TABLES];
};
KERNEL_SIZE_IS(sync_tables, 10752);

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
KERNEL_SIZE_IS(scan_tables, 11216);

/* The result of reading a part. */
struct sync_part {
    uint32_t
        exit; /* the state behind it, see SYNC_PLACE; bit 15: an error was met; above: blocks that ended */
    uint32_t markers; /* their number << 16 | blocks that ended before the first one */
};
KERNEL_SIZE_IS(sync_part, 8);

/* The result of reading a range. */
struct sync_range {
    uint32_t start, exit; /* the states before and behind it */
    uint32_t size;        /* bytes of it, without stuffing and markers */
    uint32_t blocks;      /* that ended in it */
    uint32_t before;      /* blocks that ended before it */
    uint32_t markers;     /* that were met; bit 31: there are others, or damage */
    uint32_t numbers;     /* bit n: a marker has the number that it has if the first one is n */
    uint32_t first; /* what `before` must be for the first marker to be in its place, if it is marker 0 */
};
KERNEL_SIZE_IS(sync_range, 32);

/* A range and its run-up without stuffing and markers. Word n of piece p is at n * KERNEL_SYNC_ROW + p, most
 * significant byte first. */
struct sync_clean {
    uint32_t words[KERNEL_SYNC_WORDS];
    uint32_t marks[KERNEL_SYNC_MARKS];     /* a bit for each byte that a marker stood before */
    uint32_t uniform[KERNEL_SYNC_UNIFORM]; /* a bit for each part in which all words are the same */
    uint32_t first, end;                   /* bytes: where the run-up begins and the range ends */
    uint32_t stop;                         /* the bit at which the scan ends, or KERNEL_SYNC_NEVER */
    uint32_t reserved;
};
KERNEL_SIZE_IS(sync_clean, 19264);

/* The shared memory of a block. */
struct sync_shared {
    struct sync_tables tables;
    struct sync_clean clean;
    struct sync_part parts[KERNEL_SYNC_THREADS * KERNEL_SYNC_PIECE_PARTS];
    uint32_t start[KERNEL_SYNC_THREADS], list[KERNEL_SYNC_THREADS];
    uint32_t sums[8]; /* of warps */
    uint32_t listed[3];
    uint32_t numbers, first, wrong, flag;
    uint32_t reserved;
};
KERNEL_SIZE_IS(sync_shared, 32640);

struct sync_pass {
    uint64_t bytes;      /* device address of the scan, a multiple of 16 */
    uint64_t tables;     /* of a struct sync_tables */
    uint64_t clean;      /* of a struct sync_clean for each range */
    uint64_t parts;      /* of KERNEL_SYNC_RANGE_PARTS struct sync_part for each range */
    uint64_t ranges;     /* of a struct sync_range for each range */
    uint64_t verdict;    /* of a uint32_t */
    uint64_t marks;      /* of a struct kernel_marks */
    uint64_t zeros;      /* of memory to fill with zeros, by blocks behind those of the ranges */
    uint64_t zeros_size; /* bytes of it, a multiple of 16 */
    uint32_t size;       /* bytes of the scan */
    uint32_t count;      /* ranges */
};
KERNEL_SIZE_IS(sync_pass, 80);

/* Decoding; see gpu/jpeg/decode.cuh. */
enum {
    KERNEL_DECODE_THREADS_Y = 4,
    KERNEL_DECODE_THREADS = KERNEL_THREADS_X * KERNEL_DECODE_THREADS_Y, /* of a block, for each range */
    KERNEL_DECODE_PARTS = 2,                                            /* of a thread */
    KERNEL_DECODE_BLOCKS = 16,                    /* of samples, in a block of threads at a time */
    KERNEL_DECODE_TILE = 4 * KERNEL_DECODE_BLOCKS /* one after the other */
};

/* DC differences summed up in the order of the scan, by component, as far as the last restart marker. */
struct decode_sums {
    uint16_t of[KERNEL_PLANES];
    uint16_t restarted; /* there is a marker among them, and what was before it does not count */
};
KERNEL_SIZE_IS(decode_sums, 8);

/* The shared memory of a block. */
struct decode_shared {
    struct scan_tables tables;
    struct sync_clean clean;
    struct decode_sums sums[2][KERNEL_DECODE_THREADS]; /* in turn */
    uint32_t warps[KERNEL_DECODE_THREADS_Y];
    uint32_t flag, reserved[3];
};
KERNEL_SIZE_IS(decode_shared, 32560);

/* From codes to coefficients. */
struct decode_pass {
    struct sync_pass sync;
    uint64_t tables; /* device address of the struct decode_tables */
    uint64_t values; /* of 64 int16_t for each block of samples in the order of the scan, zero at first */
    uint64_t
        owners; /* of a uint32_t for each of those: its thread << 1 | whether its DC is not relative to it */
    uint64_t sums;   /* of a struct decode_sums for each thread: of those before it in its range; and then for
                        each range: of those before it */
    uint32_t in_mcu; /* blocks of samples */
    uint32_t first[KERNEL_PLANES - 1]; /* block in the MCU with which the second and third components begin */
    uint32_t blocks;                   /* in the picture */
    uint32_t reserved;
};
KERNEL_SIZE_IS(decode_pass, 136);

/* Where decode_values has left the coefficients of a picture. */
struct decode_result {
    uint64_t values, owners, sums; /* as of struct decode_pass */
    uint32_t count;                /* threads that wrote values */
    uint32_t reserved;
};
KERNEL_SIZE_IS(decode_result, 32);

struct decode_plane {
    uint64_t data;                 /* device address; rows start at multiples of 8 bytes */
    uint32_t stride;               /* bytes */
    uint32_t blocks, blocks_x;     /* that hold samples; in a row */
    uint32_t h, v, first;          /* blocks in an MCU: columns, rows; which one is the first of them */
    uint32_t first_tile;           /* of KERNEL_DECODE_TILE blocks */
    uint32_t inverse_x;            /* of blocks_x, times 1 << 32 and rounded up; 0 for 1 */
    uint32_t inverse_h, inverse_v; /* of h and v, times 1 << 16 and rounded up */
};
KERNEL_SIZE_IS(decode_plane, 48);

/* From coefficients to samples. */
struct decode_planes_pass {
    struct decode_plane plane[KERNEL_PLANES];
    struct decode_result from;
    uint64_t tables; /* device address of the struct scan_tables */
    uint64_t marks;  /* of a struct kernel_marks */
    uint32_t planes;
    uint32_t in_mcu, mcus_x;
    uint32_t first; /* 1: no kernel was before */
};
KERNEL_SIZE_IS(decode_planes_pass, 208);

#endif
