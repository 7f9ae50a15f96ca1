/* SPDX-License-Identifier: MIT
 * What the launcher (C) and the kernel (CUDA C++) of gpu/jpeg/progressive.h share. The launcher packs a file
 * as a struct progressive_head, and behind it the codes and the bytes of each scan. Offsets are bytes from
 * the head on, and multiples of 16. The kernel trusts all of it but the bytes of the scans. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_KERNELS_H
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_KERNELS_H

#include "gpu/cuda/kernels.h"

enum {
    KERNEL_PROGRESSIVE_PICTURES = 64, /* of a launch, at most */
    KERNEL_PROGRESSIVE_WARPS = 6,     /* of a block of threads, which reads one picture */
    KERNEL_PROGRESSIVE_THREADS = KERNEL_THREADS_X * KERNEL_PROGRESSIVE_WARPS,
    KERNEL_PROGRESSIVE_SCANS = 32,                           /* of a picture, at most */
    KERNEL_PROGRESSIVE_GROUP = 32,                           /* blocks of 8x8, one for each lane of a warp */
    KERNEL_PROGRESSIVE_CODE = 16,                            /* bits of the longest code */
    KERNEL_PROGRESSIVE_LOOK = 9,                             /* bits that shorter codes are looked up by */
    KERNEL_PROGRESSIVE_LOOKS = 1 << KERNEL_PROGRESSIVE_LOOK, /* entries of 8 bytes */
    KERNEL_PROGRESSIVE_LOOK_BYTES = KERNEL_PROGRESSIVE_LOOKS * 8,
    KERNEL_PROGRESSIVE_RING = 128, /* words of a scan that a warp has at hand */
    KERNEL_PROGRESSIVE_RUN = 16,   /* zeros, at most, that a code passes over, with the one that it ends at */
    KERNEL_PROGRESSIVE_PART = 16,  /* blocks whose zeros are listed at a time */
    KERNEL_PROGRESSIVE_ZEROS = 65, /* most of a block, with its end */
    KERNEL_PROGRESSIVE_WINDOW = 256, /* bits of a scan whose codes are looked up at a time */
    KERNEL_PROGRESSIVE_STEPS = 8,    /* codes that are taken without a branch */
    KERNEL_PROGRESSIVE_RECORDS = 64, /* of codes that were taken */
    KERNEL_PROGRESSIVE_PLACES = 64 + KERNEL_PROGRESSIVE_RUN, /* of coefficients, and of a run beyond them */
    KERNEL_PROGRESSIVE_VALUE_BITS =
        14, /* most bits of a coefficient, with the low bits that later scans add */
    KERNEL_PROGRESSIVE_VALUE_MAX = (1 << 15) - 1,
};

/* The result for a picture. */
enum progressive_verdict { PROGRESSIVE_PENDING, PROGRESSIVE_INTACT, PROGRESSIVE_DAMAGED };

enum progressive_kind {
    PROGRESSIVE_DC_FIRST, /* all but the lowest bits */
    PROGRESSIVE_DC_MORE,  /* one bit more; no code is read for these */
    PROGRESSIVE_AC_FIRST,
    PROGRESSIVE_AC_MORE,
};

/* All codes of a Huffman table. Those of n bits begin with 16 bits below limit[n], and not below
 * limit[n - 1]; first[n] added to a code is the index of its symbol. */
struct progressive_codes {
    uint32_t limit[KERNEL_PROGRESSIVE_CODE + 1];
    int32_t first[KERNEL_PROGRESSIVE_CODE + 1];
    uint8_t symbol[256];
    uint32_t reserved[2];
};
KERNEL_SIZE_IS(progressive_codes, 400);

/* A component of the frame. Factors are powers of 2. */
struct progressive_component {
    uint32_t across, down; /* blocks that hold samples: columns, rows */
    uint32_t h, v;         /* blocks in an MCU: columns, rows */
    uint32_t first;        /* number in the MCU of the first of them */
    uint32_t reserved[3];
};
KERNEL_SIZE_IS(progressive_component, 32);

struct progressive_scan {
    uint32_t kind;      /* enum progressive_kind */
    uint32_t from, to;  /* coefficients, in the scan's order */
    uint32_t low;       /* bits that are still missing below those of this scan */
    uint32_t parts;     /* components; 1 for AC */
    uint32_t part[3];   /* their numbers */
    uint32_t codes[3];  /* offset of each one's struct progressive_codes; for kinds that have codes */
    uint32_t words;     /* offset of its bytes, most significant one of each word first */
    uint32_t last;      /* number of the last word; it has none of the scan's bits, and may be read */
    uint32_t bits;      /* of the scan */
    uint32_t blocks;    /* AC: of the component */
    uint32_t masks;     /* AC: 64 bits of each block, which say what coefficients are not 0 after this scan */
    uint32_t changes;   /* AC_MORE: 64 bits of each block; a coefficient that was not 0 has one, and the last
                           has the lowest */
    uint32_t kept;      /* a later scan needs the masks; else there are none */
    uint32_t sources;   /* AC_MORE: scans whose masks together tell what is not 0 before this one */
    uint8_t source[32]; /* their numbers, all smaller than that of this scan */
    uint32_t reserved;
};
KERNEL_SIZE_IS(progressive_scan, 112);

/* The scans that each warp reads are listed in the order of the file, so that none waits for one behind it in
 * the same list. The masks and changes of scans are places among the notes. */
struct progressive_head {
    uint32_t size;   /* bytes that are packed */
    uint32_t copy;   /* offset of a copy of them in the picture's memory */
    uint32_t notes;  /* and that of the masks and changes */
    uint32_t blocks; /* of 8x8, whose values come first there */
    uint32_t mcus_x, mcus_y, in_mcu;
    uint32_t components, scans;
    uint32_t reserved[3];
    uint32_t listed[8]; /* scans in each list */
    /* Offset in its block, in bytes, of each coefficient in the scan's order. */
    uint8_t place[KERNEL_PROGRESSIVE_PLACES];
    struct progressive_component component[KERNEL_PLANES];
    uint8_t list[KERNEL_PROGRESSIVE_WARPS][KERNEL_PROGRESSIVE_SCANS];
    struct progressive_scan scan[KERNEL_PROGRESSIVE_SCANS];
};
KERNEL_SIZE_IS(progressive_head, 4032);

/* Shared memory of a warp beside its table of codes. */
struct progressive_desk {
    uint32_t ring[KERNEL_PROGRESSIVE_RING];
    uint64_t fresh[KERNEL_PROGRESSIVE_GROUP];
    /* And room for what is read behind the last one: the zeros of a code. */
    uint16_t zeros[KERNEL_PROGRESSIVE_PART * KERNEL_PROGRESSIVE_ZEROS + 2 * KERNEL_PROGRESSIVE_RUN];
};
KERNEL_SIZE_IS(progressive_desk, 2912);

/* Shared memory of a block of threads: this, and the tables of codes, which begin at a multiple of their
 * size. */
struct progressive_shared {
    struct progressive_desk desk[KERNEL_PROGRESSIVE_WARPS];
    uint32_t progress[KERNEL_PROGRESSIVE_SCANS]; /* groups of blocks that are read, of each scan */
    uint32_t damaged;
    uint8_t place[KERNEL_PROGRESSIVE_PLACES]; /* as of struct progressive_head */
    uint32_t reserved[3];
};
KERNEL_SIZE_IS(progressive_shared, 17696);

/* A picture of a launch: addresses that the device can use. */
struct progressive_picture {
    uint64_t input;   /* what progressive_parse packed, in pinned memory */
    uint64_t memory;  /* on the device: source.memory bytes of any content, at a multiple of 256 */
    uint64_t verdict; /* of a uint32_t in pinned memory, PROGRESSIVE_PENDING before. The kernel writes it when
                       * this picture's values are complete, or it is damaged */
};
KERNEL_SIZE_IS(progressive_picture, 24);

struct progressive_pass {
    struct progressive_picture picture[KERNEL_PROGRESSIVE_PICTURES];
};
KERNEL_SIZE_IS(progressive_pass, 1536);

#endif
