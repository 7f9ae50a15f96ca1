/* SPDX-License-Identifier: MIT
 * The blur on the CPU, for filters that are made of one. As the functions of cpu/filter.h. */
#ifndef BLURD_FILTERS_BLUR_CPU_BLUR_H
#define BLURD_FILTERS_BLUR_CPU_BLUR_H

#include "filters/blur/cpu/blur_job.h"

/* Blurs every plane. Scratch: the reduced picture, and some rows for each seat. */
enum status cpu_blur(const struct cpu_context *context, const struct blur_plan *plan,
                     const struct image *source, const struct image *target, struct error *err);

/* As cpu_blur, always in floating point; `finish` writes the rows of the target. */
enum status cpu_blur_finish(const struct cpu_context *context, const struct blur_plan *plan,
                            const struct image *source, const struct image *target,
                            const struct blur_finish *finish, struct error *err);

/* With `finishes` for cpu_blur_finish. */
struct scratch_need cpu_blur_need(const struct row_set *rows, const struct blur_plan *plan,
                                  const struct image *source, bool finishes);

#endif
