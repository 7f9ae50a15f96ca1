/* SPDX-License-Identifier: MIT
 * A blur laid out on the device: grids and parameters of its passes, for blur_fixed.c and blur_float.c. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_WORK_H
#define BLURD_FILTERS_BLUR_GPU_BLUR_WORK_H

#include "filters/blur/extent.h"
#include "filters/blur/gpu/fixed_kernels.h"
#include "gpu/stream/launch.h"

enum { BLUR_PASSES_MAX = BLUR_STAGES_MAX + 1 /* the stages and the low-resolution blur */ };

/* The passes of one plane. */
struct blur_path {
    const struct plane *plane;
    struct extent x, y;
    unsigned stages;                         /* of the reduction; 0: one direct pass */
    struct kernel_grid source, target;       /* of the picture */
    struct kernel_grid out[BLUR_PASSES_MAX]; /* output of each pass, in the stream's scratch memory */
    unsigned border;
};

struct blur_work {
    struct gpu_stream *stream;
    const struct image *source;
    bool is_float; /* single precision between the passes, else 15 bits */
    unsigned planes;
    struct blur_path path[IMAGE_PLANES_MAX];
};

/* Lays out a blur of `source` into `target`, both on the device and of one shape, and takes its scratch
 * memory. The plan and the source must outlive the work. */
enum status blur_work_init(struct blur_work *work, struct gpu_stream *stream, const struct blur_plan *plan,
                           const struct image *source, const struct image *target, bool is_float,
                           struct error *err);

/* The grids that pass i reads and writes; i == stages is the low-resolution blur. */
const struct kernel_grid *blur_pass_source(const struct blur_path *path, unsigned i);
const struct kernel_grid *blur_pass_target(const struct blur_path *path, unsigned i);

/* Parameters of a pass along an axis. Without weights the pass is the identity. */
struct blur_pass_axis {
    unsigned shift, radius;
    const int16_t *weight;
    const float *weight_float;
};

/* Parameters of pass i; i == stages is the low-resolution blur. */
struct blur_pass_axis blur_pass_axis(const struct extent *extent, unsigned i, unsigned stages);

/* Tiles of a pass whose blocks keep a row of sums for each row of the tile. */
struct kernel_tiles blur_cut_pass(const struct blur_path *path, unsigned i, const struct blur_pass_axis *x,
                                  unsigned *blocks);

/* Bytes of shared memory per block for `rows` rows of values of size `value`. */
unsigned blur_tile_bytes(const struct kernel_tiles *tiles, int32_t rows, size_t value);

/* Enqueues all passes in fixed point, for pictures of 8 bits without alpha. */
enum status blur_work_fixed(struct blur_work *work, struct error *err);

/* Enqueues all passes in single precision, for pictures of 16 bits or with alpha. The last pass sharpens
 * unless `unsharp` is NULL. */
enum status blur_work_float(struct blur_work *work, const struct unsharp *unsharp, struct error *err);

#endif
