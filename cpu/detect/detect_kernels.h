/* SPDX-License-Identifier: MIT
 * The layers of detect/network.h on rows of pixels. Each instruction set has a table of functions, and an
 * order in which it reads weights. All tables give the same bytes.
 *
 * Sums of a layer are made in vectors of `lanes` output channels. A *group* of up to DETECT_GROUP vectors
 * becomes bytes together: lane e of vector v of a group of n is channel 4 n (e / 4) + 4 v + e % 4 of the
 * group, since the instructions that pack numbers work on 128 bits at a time. */
#ifndef BLURD_CPU_DETECT_DETECT_KERNELS_H
#define BLURD_CPU_DETECT_DETECT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/image.h"
#include "core/processor.h"
#include "detect/network.h"

enum {
    DETECT_GROUP = 4,    /* vectors */
    DETECT_SEGMENTS = 3, /* rows that a pixel of a dense layer reads, at most */
    DETECT_SUMS = 16,    /* a row of the heads has so many sums for each pixel, the last of them unused */
    DETECT_SLACK = 64,   /* bytes that may be read behind each row */
    DETECT_PICTURE = 3,  /* bytes of a pixel of the picture */
    DETECT_PART = 64,    /* bytes of a row of a tile of AMX */
};

/* How a level reads weights. */
struct detect_format {
    unsigned lanes;
    unsigned unit;  /* inputs that are multiplied at once: their weights lie side by side */
    bool words;     /* weights have 16 bits, not 8 */
    bool split;     /* all weights of the first input of a unit come first, not all weights of a lane */
    bool halves;    /* layers of one and a half vectors have `half` set */
    bool tiles;     /* weights of 0 fill up a segment, so that equal parts of at most DETECT_PART make it */
    unsigned chunk; /* channels of a depthwise layer that are summed together, at most */
};

/* A layer with its weights in the order of a level. */
struct detect_packed {
    const void *weights;
    const int32_t *bias; /* of each lane of each vector */
    const float *scale;
    float addend_scale, offset;
    unsigned size;    /* sides of the window */
    bool relu, added; /* has an addend */
    bool half;        /* all channels are in order, and the second vector has half of the lanes */
    bool plain; /* t is the scaled sum: rounding to bytes makes negative values 0, and nothing is added */
    unsigned segments; /* a pixel's inputs are so many runs of bytes, in as many rows */
    unsigned segment;  /* bytes of each, a multiple of 4; the last ones may have weights of 0 */
    unsigned outputs;
    unsigned vectors;
    unsigned groups; /* the first ones have one vector more where they cannot be equal */
};

/* Pixels of a layer that sums over all inputs. */
struct detect_dense {
    const struct detect_packed *layer;
    const uint8_t *from[DETECT_SEGMENTS];
    size_t step;           /* bytes from the inputs of a pixel to those of the next */
    const uint8_t *addend; /* like the outputs */
    void *to;              /* bytes; the heads: DETECT_SUMS numbers a pixel */
    size_t pixels;
};

/* Pixels of a depthwise layer. Tap (y, x) of pixel i reads pixel i * stride + x of from[y]. Rows behind the
 * last one of the window may be any. */
struct detect_depth {
    const struct detect_packed *layer;
    const uint8_t *from[NETWORK_WINDOW_MAX + 1];
    unsigned stride;
    uint8_t *to;
    size_t pixels;
};

/* Pixels of an EXCITE layer. */
struct detect_excite {
    const uint8_t *from;
    const uint8_t *addend; /* NULL: none */
    const float *factor;   /* of each channel; DETECT_SLACK bytes behind them may be read */
    size_t channels, pixels;
    float zero, addend_scale, offset;
    uint8_t *to;
};

struct detect_kernels {
    struct detect_format format;
    void (*dense)(const struct detect_dense *job);
    void (*sums)(const struct detect_dense *job);
    void (*depth)(const struct detect_depth *job);
    void (*excite)(const struct detect_excite *job);
    /* Replaces each byte by its entry. */
    void (*table)(const uint8_t table[NETWORK_TABLE_SIZE], uint8_t *bytes, size_t count);
    /* to[i] = the largest of a[i], b[i], a[i + channels] and b[i + channels]. */
    void (*pool)(const uint8_t *a, const uint8_t *b, size_t channels, uint8_t *to, size_t count);
    /* Adds the channels of so many pixels to sums[]. */
    void (*squeeze)(const uint8_t *from, size_t pixels, size_t channels, uint32_t *sums);
    /* Writes columns `from` to `to` - 1 of row y of the padded picture, three bytes a pixel: the image has
     * its upper left corner, and all other pixels are black. Samples of 16 bits lose the lower ones; alpha is
     * ignored; YCbCr is converted as JFIF has it, with the chroma of the nearest sample. */
    void (*picture)(const struct image *image, uint32_t y, uint32_t from, uint32_t to, uint8_t *pixels);
};

/* The caller checks that the processor has the instructions. */
const struct detect_kernels *detect_kernels_plain(void);
const struct detect_kernels *detect_kernels_baseline(void);
#if defined(__x86_64__)
const struct detect_kernels *detect_kernels_avx2(void);
const struct detect_kernels *detect_kernels_avx512(void);
#if PROCESSOR_TILES
/* Dense layers with AMX; all else is that of AVX-512. */
const struct detect_kernels *detect_kernels_amx(void);
void detect_dense_amx(const struct detect_dense *job);
void detect_sums_amx(const struct detect_dense *job);
#endif
#elif defined(__aarch64__)
const struct detect_kernels *detect_kernels_neon(void);
#endif

#endif
