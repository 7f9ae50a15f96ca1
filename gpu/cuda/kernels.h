/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels (CUDA C++), by value. Both read this header.
 *
 * A blur is a sequence of *passes*, each one vertical and one horizontal set of symmetric taps,
 * and at the end the enlargement. A pass that lacks an axis has the identity there: one tap of
 * weight 1, which every rounding leaves alone. All planes of a picture share a launch: blocks
 * are numbered through, `first_tile` is the number of a plane's first. */
#ifndef BLURD_GPU_CUDA_KERNELS_H
#define BLURD_GPU_CUDA_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
#define KERNEL_SIZE_IS(type, size) static_assert(sizeof(struct type) == (size), "the same for both compilers")
#else
#define KERNEL_SIZE_IS(type, size)                                                                           \
    _Static_assert(sizeof(struct type) == (size), "the same for both compilers")
#endif

enum {
    KERNEL_PLANES = 3,
    KERNEL_RADIUS = 49,
    KERNEL_THREADS_X = 32,
    KERNEL_THREADS_Y = 8,
    KERNEL_SHARED_MAX = 48 * 1024, /* every block may have that much without asking */
    KERNEL_GROUP = 4,              /* samples that a thread loads and stores at once */
};

/* How samples outside of a grid are read. */
enum kernel_edge { KERNEL_CLAMP, KERNEL_MIRROR, KERNEL_WRAP, KERNEL_ZERO };

/* A rectangle of samples or values: a plane of the picture, or what a pass left of it, which
 * begins at position (lo_x, lo_y) of its resolution. */
struct kernel_grid {
    uint64_t data;  /* device address; rows start at multiples of 16 bytes */
    int64_t stride; /* bytes */
    int32_t lo_x, lo_y;
    int32_t width, height;
    int32_t edge_x, edge_y; /* enum kernel_edge */
};
KERNEL_SIZE_IS(kernel_grid, 40);

struct float_taps {
    int32_t shift;
    int32_t radius;
    float weight[KERNEL_RADIUS + 1];
};
KERNEL_SIZE_IS(float_taps, 208);

/* How a grid is cut into tiles, one per block. */
struct kernel_tiles {
    int32_t first_tile;
    int32_t tiles_x;
    int32_t width, height; /* of a tile, in pixels of the target */
    int32_t columns;       /* samples in a row of the block's shared memory */
    uint32_t inverse;      /* of tiles_x, times 1 << 32 and rounded up; 0 for 1 */
};
KERNEL_SIZE_IS(kernel_tiles, 24);

/* Blocks of most kernels begin their shared memory with a table of rows. */
enum { KERNEL_ROW_TABLE = 64 };

/* Blocks that have a thread for each sample of a row, what is around the tile included. */
enum { KERNEL_COLUMNS = KERNEL_THREADS_X * KERNEL_THREADS_Y };

/* Both axes without reduction in single precision, radii up to 16; see filters/blur/gpu/blur_near.cuh. It
 * takes struct float_pass. */
enum {
    KERNEL_NEAR_RADIUS = 16,
    KERNEL_NEAR_HEIGHT = 16, /* of a tile, at most; a multiple of 4, as the kernel takes rows */
    KERNEL_NEAR_ROWS = 46,   /* of shared memory, at most: 1 KiB each, and the compiler takes 1 KiB, too */
};

/* 16 bits or alpha: one plane of 1 to 4 channels. */
struct float_pass {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    struct float_taps x, y;
    int32_t channels;
    int32_t depth; /* 8 or 16 */
    int32_t alpha; /* the last channel is; the others are multiplied by it between the passes */
    int32_t reserved;
};
KERNEL_SIZE_IS(float_pass, 536);

/* The cubic B-spline of both axes; a level of 0 leaves its axis alone. */
struct enlarge_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    int32_t levels_x, levels_y;
};
KERNEL_SIZE_IS(enlarge_plane, 112);

struct float_enlargement {
    struct enlarge_plane plane;
    int32_t channels, depth, alpha, reserved;
};
KERNEL_SIZE_IS(float_enlargement, 128);

/* What sharpening makes of the blurred values: see docs/filters.md. */
struct unsharp {
    struct kernel_grid picture; /* that was blurred */
    float amount, threshold;
};
KERNEL_SIZE_IS(unsharp, 48);

struct sharpen_pass {
    struct float_pass blur;
    struct unsharp unsharp;
};
KERNEL_SIZE_IS(sharpen_pass, 584);

struct sharpen_enlargement {
    struct float_enlargement blur;
    struct unsharp unsharp;
};
KERNEL_SIZE_IS(sharpen_enlargement, 176);

/* Any matrix; see filters/convolve/gpu/convolve.cuh. */
enum {
    KERNEL_CONVOLVE_HEIGHT = 32, /* of a tile */
    KERNEL_CONVOLVE_SIDE = 15,   /* of a window, at most */
    KERNEL_CONVOLVE_STRIDE = 16, /* of its weights */
    /* Tiles of the kernels for 3x3 and 5x5, filters/convolve/gpu/convolve_small.cuh; the width in samples. */
    KERNEL_CONVOLVE_SMALL_THREADS_Y = 6,
    KERNEL_CONVOLVE_SMALL_WIDTH = 192,
    KERNEL_CONVOLVE_SMALL_HEIGHT = 16,
};

struct convolve_pass {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    int32_t channels, depth, alpha; /* as of struct float_pass */
    int32_t width, height;          /* of the window */
    int32_t separable;              /* column by column with `column`, then with the first row of `weight` */
    int32_t filter_alpha;           /* else alpha is kept */
    int32_t frame;                  /* 0 where the window leaves the picture */
    float divisor, bias;
    float inverse; /* 1 / divisor */
    int32_t reserved;
    float weight[KERNEL_CONVOLVE_SIDE * KERNEL_CONVOLVE_STRIDE];
    float column[KERNEL_CONVOLVE_STRIDE];
};
KERNEL_SIZE_IS(convolve_pass, 1176);

/* Pixelation; see filters/pixelate/gpu/pixelate.cuh. A block works on a cell: tiles of the filter side by
 * side, or part of one. Cells repeat from span to span, which is as wide as a tile or as the tiles of a cell.
 */
struct pixelate_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles; /* the cells */
    int32_t block_x, block_y;  /* of a tile of the filter, in samples of the plane */
    int32_t span_x, span_y;    /* in samples */
    int32_t parts_x, parts_y;  /* cells in a span */
    int32_t across, reserved;  /* tiles of the filter in a row of the plane */
    uint64_t sums;             /* device address of those of each tile, where a tile has several cells */
};
KERNEL_SIZE_IS(pixelate_plane, 144);

struct pixelate_pass {
    struct pixelate_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t channels, depth, alpha; /* as of struct float_pass */
};
KERNEL_SIZE_IS(pixelate_pass, 448);

/* Filters that order samples; see filters/morphology/gpu/morphology.cuh. */
enum {
    KERNEL_RANK_RUN = 8,     /* extremes that a thread makes side by side */
    KERNEL_MEDIAN_RUN = 4,   /* medians that a thread makes one below the other */
    KERNEL_MEDIAN_TILE = 32, /* both sides of a tile */
};

/* Medians of large windows of 8-bit samples; see filters/median/gpu/median.cuh. Sizes are in 16 bytes. */
enum {
    KERNEL_MEDIAN_COLUMNS = 128, /* of a tile with its margins */
    KERNEL_MEDIAN_ROWS = 16,     /* of results of a warp, at most */
    KERNEL_MEDIAN_WARPS = 4,
    KERNEL_MEDIAN_WEIGHTED_WARPS = 2,
    KERNEL_MEDIAN_STEPS = 17,
    KERNEL_MEDIAN_PITCH =
        34, /* sums of a quarter of the columns, one more, and an even number for the banks */
    KERNEL_MEDIAN_SUMS = 2 * 4 * KERNEL_MEDIAN_PITCH,
    KERNEL_MEDIAN_WEIGHTED_SUMS = 4 * 4 * KERNEL_MEDIAN_PITCH,
};

struct morphology_pass {
    struct kernel_grid source, target;
    struct kernel_grid middle; /* extremes of columns, 32 bits each; its width is in samples */
    struct kernel_tiles columns, rows;
    int32_t channels, depth, alpha; /* as of struct float_pass */
    int32_t radius;
    int32_t largest; /* dilates, else erodes */
    int32_t reserved;
};
KERNEL_SIZE_IS(morphology_pass, 192);

struct median_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    int32_t radius_x, radius_y;
    int32_t border; /* the sample outside with KERNEL_ZERO */
    int32_t reserved;
};
KERNEL_SIZE_IS(median_plane, 120);

struct median_pass {
    struct median_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t channels, depth, alpha; /* as of struct float_pass */
};
KERNEL_SIZE_IS(median_pass, 376);

/* struct stats of filters/stats/stats.h, which the C side compares. */
enum { KERNEL_STATS_BINS = 256, KERNEL_STATS_CHANNELS = 4 };

struct kernel_stats_channel {
    uint64_t sum, squares, minimum, maximum;
    uint64_t histogram[KERNEL_STATS_BINS];
};

struct kernel_stats {
    uint64_t pixels;
    struct kernel_stats_channel channel[KERNEL_STATS_CHANNELS];
};
KERNEL_SIZE_IS(kernel_stats, 8328);

struct stats_pass {
    struct kernel_grid source;
    struct kernel_grid mask; /* coverage; data 0: every pixel counts */
    struct kernel_tiles tiles;
    uint64_t stats; /* device address of a struct kernel_stats */
    int32_t channels, depth;
};
KERNEL_SIZE_IS(stats_pass, 120);

enum { KERNEL_BLEND_WIDTH = 256 }; /* pixels of a tile, which is KERNEL_THREADS_Y high */

/* The mixture under a mask; see gpu/filters/blend.cuh. `target` has what the filters made, and gets the
 * result. */
struct blend_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    int32_t shift_x, shift_y; /* reduced by 1 << shift against the mask */
};
KERNEL_SIZE_IS(blend_plane, 112);

struct blend_pass {
    struct blend_plane plane[KERNEL_PLANES];
    struct kernel_grid mask;
    int32_t planes;
    int32_t channels, depth, alpha; /* as of struct float_pass */
};
KERNEL_SIZE_IS(blend_pass, 392);

/* Adjustments of colour; see filters/adjust/gpu/adjust.cuh. The curve is that of struct adjust_plan. */
enum { KERNEL_CURVE = 256, KERNEL_CURVE_FINE = 16 };

struct adjust_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
};
KERNEL_SIZE_IS(adjust_plane, 104);

struct adjust_pass {
    struct adjust_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t depth, alpha; /* as of struct float_pass */
    int32_t curved;       /* 0: the curve is the identity */
    float matrix[3][4];
    float curve[KERNEL_CURVE];
};
KERNEL_SIZE_IS(adjust_pass, 1400);

/* RGB from the planes of a JPEG, and planes from RGB; see gpu/filters/colours.cuh. Tiles of a join are those
 * of the pixels; tiles of a split are those of the chroma planes, whose width is that of whole blocks. */
struct colours_pass {
    struct kernel_grid plane[KERNEL_PLANES]; /* Y, Cb, Cr */
    struct kernel_grid pixels;
    struct kernel_tiles tiles;
    int32_t shift_x, shift_y; /* chroma is reduced by 1 << shift */
    int32_t smooth;           /* a join mixes neighbouring samples of chroma */
    int32_t reserved;
};
KERNEL_SIZE_IS(colours_pass, 200);

/* Pixels of 16 bits in linear light. The table is one of struct light_table (filters/colour/light.h). */
struct colours_linear_pass {
    struct colours_pass pass;
    uint16_t table[256]; /* of a join, the light of each sample; of a split, the least light of each sample */
};
KERNEL_SIZE_IS(colours_linear_pass, 712);

/* Turning and cropping; see gpu/filters/orient.cuh. Tiles are those of the target. */
enum {
    KERNEL_ORIENT_TILE = 32,   /* both sides of a tile whose axes are exchanged */
    KERNEL_ORIENT_STRIDE = 36, /* most pixels from one of its rows to the next in shared memory */
};

struct orient_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
};
KERNEL_SIZE_IS(orient_plane, 104);

struct orient_pass {
    struct orient_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t mirror_x, mirror_y; /* count the source's columns, rows from the far end */
    int32_t size;               /* bytes of a pixel: 1, 2, 3, 4, 6 or 8 */
};
KERNEL_SIZE_IS(orient_pass, 328);

#endif
