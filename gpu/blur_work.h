/* SPDX-License-Identifier: MIT
 * What the launchers of the blur share: the planes on their way, tiles and launches. */
#ifndef BLURD_GPU_BLUR_WORK_H
#define BLURD_GPU_BLUR_WORK_H

#include "filters/extent.h"
#include "gpu/kernels.h"
#include "gpu/lane.h"

enum { BLUR_PASSES_MAX = BLUR_STAGES_MAX + 1 }; /* the stages and the low-resolution blur */

/* One plane on its way. */
struct blur_path {
    const struct plane *plane;
    struct extent x, y;
    unsigned stages;                         /* of the reduction; 0: one direct pass */
    struct kernel_grid source, target;       /* the picture's */
    struct kernel_grid out[BLUR_PASSES_MAX]; /* what each pass leaves */
    unsigned border;
};

struct blur_work {
    struct gpu_lane *lane;
    const struct image *source;
    bool real;
    unsigned planes;
    struct blur_path path[IMAGE_PLANES_MAX];
};

/* Cuts `target` into tiles that follow the *blocks tiles of the launch so far. */
struct kernel_tiles blur_cut(const struct kernel_grid *target, int32_t width, int32_t height, int32_t columns,
                             unsigned *blocks);

/* Blocks have `threads` threads and `shared` bytes. `pass` is the struct that the kernel takes. */
enum status blur_launch(struct blur_work *work, enum kernel kernel, unsigned threads, void *pass,
                        unsigned blocks, unsigned shared, struct error *err);

/* The form of a kernel for the picture's interleaved channels, 1 or 3. */
enum kernel blur_whole_kernel(const struct blur_work *work, enum kernel single, enum kernel triple);

/* Whether one launch of the kernels for small radii does this integer picture; and it. */
bool blur_small_does(const struct blur_work *work);
enum status blur_small(struct blur_work *work, struct error *err);

#endif
