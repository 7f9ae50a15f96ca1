/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels that run a layer of a network by itself (CUDA C++), by value;
 * more of it: gpu/detect/detect_kernels.h. Tensors are NHWC, 8 bits a value. Weights lie as
 * gpu/detect/layers/layer_pack.c packs them. Numbers of channels are multiples of 4, a *word*, but those of a
 * map. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_KERNELS_H
#define BLURD_GPU_DETECT_LAYERS_LAYER_KERNELS_H

#include "gpu/detect/detect_kernels.h"

enum {
    KERNEL_LAYER_WORD = 4,        /* channels */
    KERNEL_LAYER_STEP = 32,       /* values that an instruction adds to a sum */
    KERNEL_LAYER_COLUMNS = 16,    /* outputs of two instructions */
    KERNEL_LAYER_PAIR = 1024 / 2, /* bytes of the weights of two instructions */
    KERNEL_LAYER_WARPS = 4,       /* of a block of threads of a product */
    KERNEL_LAYER_PIXELS = 32,     /* of a warp of a product */
    KERNEL_LAYER_RUN = 4,         /* pixels one below the other that a thread filters */
    KERNEL_LAYER_ROUNDS = 8,      /* words that a thread copies or changes */
    KERNEL_LAYER_SUM_ROUNDS = 64, /* and adds; 2^16 / 255 at most */
    KERNEL_LAYER_PICTURE = 4,     /* channels of a picture as a tensor; the last one is 0 */
    KERNEL_LAYER_CHANNELS = 1024, /* at most */
    KERNEL_LAYER_TABLE_BYTES = 256,
};

/* Products of 16 columns for each unit of the name. Those of `dense` have a 3x3; the others have one pixel.
 * `narrow`: inputs are no multiples of 8. */
#define KERNEL_LAYER_PRODUCTS(X)                                                                             \
    X(point_1, 1, false, false)                                                                              \
    X(point_2, 2, false, false)                                                                              \
    X(point_3, 3, false, false)                                                                              \
    X(point_6, 6, false, false)                                                                              \
    X(point_narrow_2, 2, false, true)                                                                        \
    X(dense_2, 2, true, false)                                                                               \
    X(dense_narrow_2, 2, true, true)

/* Sides of the window, and stride. */
#define KERNEL_LAYER_DEPTHS(X) X(3, 1) X(3, 2) X(5, 1) X(5, 2) X(7, 1) X(7, 2)

/* How a sum becomes a byte; see detect/network.h. */
struct layer_finish {
    uint64_t addend; /* 0: none */
    uint64_t table;  /* 0: none */
    float addend_scale, offset;
    float least; /* of a scaled sum: 0 with a ReLU */
    int32_t reserved;
};
KERNEL_SIZE_IS(layer_finish, 32);

/* Dense, point and transposed layers: products of a matrix of pixels and one of weights. */
struct layer_product_pass {
    uint64_t source, target;
    uint64_t weights;        /* for each 32 values, 16 columns after the other */
    uint64_t biases, scales; /* of columns */
    struct layer_finish finish;
    int64_t pitch;           /* bytes between rows of the target, where it is `apart` */
    int32_t inputs, outputs; /* channels */
    int32_t columns;         /* outputs, of a transposed layer four times as many */
    int32_t steps;
    int32_t sixteens;       /* times 16 columns */
    int32_t tiles;          /* of pixels; a block of threads makes some columns of one */
    int32_t width, height;  /* of the source */
    int32_t across, pixels; /* of what has sums: in a row, and in all */
    int32_t stride;
    uint32_t zero; /* word of what lies outside */
    int32_t apart; /* results are not side by side as sums are */
    int32_t by;    /* 2 of a transposed layer, else 1 */
};
KERNEL_SIZE_IS(layer_product_pass, 136);

/* Depthwise layers. */
struct layer_depth_pass {
    uint64_t source, target;
    uint64_t weights;        /* for each row of the window, four columns, and word: of its channels */
    uint64_t biases, scales; /* of channels */
    struct layer_finish finish;
    int32_t words;
    int32_t width, height; /* of the source */
    int32_t out_width, out_height;
    uint32_t zero;
};
KERNEL_SIZE_IS(layer_depth_pass, 96);

/* Layers without weights: each word of a pixel by itself. */
struct layer_word_pass {
    uint64_t source, target;
    uint64_t factors; /* EXCITE: of channels */
    uint64_t sums;    /* of channels of the source, 64 bits each */
    struct layer_finish finish;
    int32_t words, source_words; /* of a pixel of the target, and of the source */
    int32_t width, pixels;       /* of the target */
    int32_t source_half;         /* CONCAT: the source has half the size */
    int32_t addend_half;
    float zero;
    int32_t reserved;
};
KERNEL_SIZE_IS(layer_word_pass, 96);

/* The factors of an EXCITE layer. Matrices lie with the values that are added as rows. */
struct layer_gate_pass {
    uint64_t sums, factors;
    uint64_t reduce, reduce_bias, expand, expand_bias;
    int32_t channels, between;
    int32_t pixels;
    float base, ratio;
    int32_t reserved;
};
KERNEL_SIZE_IS(layer_gate_pass, 72);

/* The picture as a tensor of KERNEL_LAYER_PICTURE channels. */
struct layer_picture_pass {
    struct kernel_picture picture;
    uint64_t target;
    int32_t width, height; /* with padding */
    int32_t border;        /* struct detector */
    int32_t reserved;
};
KERNEL_SIZE_IS(layer_picture_pass, 168);

#endif
