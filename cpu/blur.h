/* SPDX-License-Identifier: MIT
 * Blurs one picture on the CPU. */
#ifndef BLURD_CPU_BLUR_H
#define BLURD_CPU_BLUR_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/means.h"
#include "filters/blur.h"

/* Filters every plane of `source` into `target`: same shape, no overlap, both valid (see
 * filters/backend.h). Scratch: the reduced picture, and some rows for each seat. ST_BUSY without memory. */
enum status cpu_blur(const struct means *means, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err);

/* What becomes of the blurred rows, for filters that are made of a blur. */
struct blur_finish {
    /* Makes the target's row out of the source's and the blurred one, which has not been rounded and whose
     * colour is multiplied by alpha; the latter may be changed. `spare` is a row of floats. Called on several
     * threads at a time. */
    void (*row)(const void *context, void *to, const void *from, float *blurred, float *spare,
                const struct sample_format *format, size_t pixels);
    const void *context;
};

/* The same, always in real arithmetic and with another end. */
enum status cpu_blur_finish(const struct means *means, const struct blur_plan *plan,
                            const struct image *source, const struct image *target,
                            const struct blur_finish *finish, struct error *err);

#endif
