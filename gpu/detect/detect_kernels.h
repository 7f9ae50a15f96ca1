/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels that search for faces (CUDA C++), by value; more of it:
 * gpu/cuda/kernels.h. Tensors are NHWC, 8 bits a value. Weights lie as gpu/detect/pack.c packs them: the
 * word pairs that the 32 lanes of a warp hand to one matrix instruction are next to each other. */
#ifndef BLURD_GPU_DETECT_DETECT_KERNELS_H
#define BLURD_GPU_DETECT_DETECT_KERNELS_H

#include "gpu/cuda/kernels.h"

enum {
    KERNEL_FACE_CHUNK = 32, /* channels that are expanded at a time */
    KERNEL_FACE_TILE = 16,  /* pixels of a matrix instruction: 8 by 2 in blocks and `smooth` */
    KERNEL_FACE_PAIR = 8,   /* bytes that a lane hands to a matrix instruction */
    KERNEL_FACE_WARP = KERNEL_THREADS_X * KERNEL_FACE_PAIR, /* bytes that a warp does */
    KERNEL_FACE_QUAD = 4,                                   /* lanes that share a row of a matrix */
    KERNEL_FACE_PITCH = 80,  /* bytes from pair to pair of pixels of a chunk in shared memory */
    KERNEL_FACE_DUMMY = 128, /* bytes of shared memory that are never read */
    KERNEL_FACE_SECTOR = 32, /* bytes that are fetched together */
    KERNEL_FACE_NECK = 24,   /* channels of the neck */
    KERNEL_FACE_SUMS = 15,   /* outputs of the network */
    KERNEL_FACE_SMOOTH_STEPS = 7,
    KERNEL_FACE_SMOOTH_WIDTH = 16, /* of a tile of `smooth` */
    KERNEL_FACE_SMOOTH_HEIGHT = 8,
};

/* What a network searches. */
struct kernel_picture {
    struct kernel_grid plane[KERNEL_PLANES];
    int32_t model; /* enum pixel_model */
    int32_t channels, depth;
    int32_t shift_x, shift_y; /* of chroma */
    int32_t reserved;
};
KERNEL_SIZE_IS(kernel_picture, 144);

/* Biases and scales of the channels that a lane gets, the former as the sums that instructions start from.
 * Scales are times 2^100. Of `expand`, which has outputs as rows: for each g, channels 4g to 4g + 3. */
struct face_expand_terms {
    int32_t start[2][4];
    float scale[4];
};
KERNEL_SIZE_IS(face_expand_terms, 48);

/* Of `depth`, which has outputs as columns: for each t, channels 2t and 2t + 1 of each eight. */
struct face_depth_terms {
    int32_t start[4][4];
    float scale[8];
};
KERNEL_SIZE_IS(face_depth_terms, 96);

/* The layout of the packed weights of a block: chunk after chunk, in each of them the steps of `expand` (each
 * two matrix instructions with the weights as rows), its terms, the weights of `depth` (16 bytes for each
 * lane, see struct face_taps), its terms, then the instructions of `project`, with the weights as rows. Of
 * terms, the first 16 bytes of all lanes lie side by side, then the next ones. */
enum {
    KERNEL_FACE_ROWS = 2 * KERNEL_FACE_WARP, /* bytes of an instruction with the weights as rows */
    KERNEL_FACE_STEP = 2 * KERNEL_FACE_ROWS,
    KERNEL_FACE_TERMS = 384,
    KERNEL_FACE_DEPTH = KERNEL_THREADS_X * 16,
};

/* The kernels for inverted residual blocks, and how they divide the work; see gpu/detect/block.cuh. Of two
 * that differ only in that, the latter has smaller tiles: it is for pictures that have few.
 *
 * KERNEL_FACE_BLOCKS(X): X(steps, stride, outputs, members, rows, width, least)
 *   steps    of 32 inputs
 *   stride   of the 3x3
 *   outputs  of a block of threads; they may have up to 15 fewer
 *   members  warps that share a chunk of a tile; the other warps have chunks of their own
 *   rows     times 16 pixels of the result that each of them makes: 8 in the tile's upper half, 8 in the
 * lower width    of a tile of the result least    blocks of threads that a multiprocessor has room for */
#define KERNEL_FACE_BLOCKS(X)                                                                                \
    X(1, 1, 32, 8, 2, 16, 2)                                                                                 \
    X(1, 1, 32, 4, 2, 16, 1)                                                                                 \
    X(1, 2, 32, 8, 1, 16, 2)                                                                                 \
    X(1, 2, 64, 4, 1, 8, 2)                                                                                  \
    X(2, 1, 64, 4, 1, 8, 2)                                                                                  \
    X(2, 1, 64, 2, 1, 8, 1)                                                                                  \
    X(2, 1, 96, 4, 1, 8, 2)                                                                                  \
    X(2, 1, 96, 2, 1, 8, 1)                                                                                  \
    X(3, 1, 96, 4, 1, 8, 2)                                                                                  \
    X(3, 1, 96, 2, 1, 8, 1)                                                                                  \
    X(3, 2, 160, 2, 1, 8, 1)                                                                                 \
    X(3, 2, 160, 1, 1, 8, 1)                                                                                 \
    X(5, 1, 160, 2, 1, 8, 1)                                                                                 \
    X(5, 1, 160, 1, 1, 8, 1)

enum {
    KERNEL_FACE_STEM_MEMBERS = KERNEL_THREADS_Y,
    KERNEL_FACE_STEM_ROWS = 2,
    KERNEL_FACE_STEM_WIDTH = 16,
    KERNEL_FACE_PICTURE_BYTES = 38 * 37 * 4 / 16 * 16 + 16, /* of the picture in shared memory */
};

/* An inverted residual block: 1x1 with ReLU, 3x3 of each channel with ReLU, 1x1, and perhaps an addition. */
struct face_block_pass {
    uint64_t source, target;
    uint64_t addend;               /* 0: none */
    uint64_t weights;              /* chunks */
    uint64_t scales, biases;       /* of the outputs */
    float addend_scale, offset;    /* times 2^100; times 2^-49, as the scales of the outputs are */
    int32_t width, height;         /* of the source */
    int32_t out_width, out_height; /* of the target */
    int32_t inputs, outputs;
    int32_t chunks, chunk_bytes; /* of 32 expanded channels; behind the last one are some of zeros */
    int32_t tiles_x, tiles;
    int32_t part; /* outputs of a block of threads */
    /* Writing: threads side by side, each with four outputs; 65536 / span, rounded up; rows of a tile at
     * once. */
    int32_t span, span_inverse;
    int32_t rows;
};
KERNEL_SIZE_IS(face_block_pass, 112);

/* The first layers. The block's source is the picture. */
struct face_stem_pass {
    struct face_block_pass block;
    struct kernel_picture picture;
};
KERNEL_SIZE_IS(face_stem_pass, 256);

/* A layer of the neck: 1x1 with ReLU, and the addition of a transposed 2x2 with ReLU from half the size. */
struct face_neck_pass {
    uint64_t source, target;
    uint64_t low; /* what is enlarged; 0: nothing */
    uint64_t weights, terms;
    uint64_t up_weights, up_terms;
    float addend_scale, offset;
    int32_t inputs, steps;
    int32_t width;  /* of the result, or of what is enlarged */
    int32_t pixels; /* in that */
};
KERNEL_SIZE_IS(face_neck_pass, 80);

/* The last 3x3 and the heads. */
struct face_heads_pass {
    uint64_t source;
    uint64_t candidates; /* struct candidates; its count is 0 before */
    uint64_t weights, terms;
    uint64_t head_weights, head_biases;
    int32_t width, height;
    int32_t tiles_x;
    int32_t least;          /* heat */
    int32_t most, reserved; /* candidates that there is room for */
};
KERNEL_SIZE_IS(face_heads_pass, 72);

/* A channel's terms in the neck: six for each lane. */
struct face_neck_terms {
    int32_t bias[6];
    float scale[6];
};
KERNEL_SIZE_IS(face_neck_terms, 48);

/* struct candidate of detect/candidates.h. */
struct kernel_candidate {
    uint16_t x, y;
    int32_t sum[KERNEL_FACE_SUMS];
};
KERNEL_SIZE_IS(kernel_candidate, 64);

#endif
