/* SPDX-License-Identifier: MIT
 * The filters on the CPU. Each reads `source` and writes `target`; they do not overlap and are valid
 * (filters/backend.h). The target has the shape that the filter makes of the source's. ST_BUSY without
 * memory, ST_LIMIT at the deadline; then the target is undefined. Each cpu_x_need tells the working memory of
 * cpu_x; its picture needs no memory. */
#ifndef BLURD_CPU_FILTERS_FILTERS_H
#define BLURD_CPU_FILTERS_FILTERS_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/cpu_context.h"
#include "filters/filter.h"

/* Adjusts the planes of the target. Needs no scratch. */
enum status cpu_adjust(const struct cpu_context *context, const struct adjust_plan *plan,
                       const struct image *source, const struct image *target, struct error *err);

/* Blurs every plane. Scratch: the reduced picture, and some rows for each seat. */
enum status cpu_blur(const struct cpu_context *context, const struct blur_plan *plan,
                     const struct image *source, const struct image *target, struct error *err);

/* The last step of filters that are made of a blur. */
struct blur_finish {
    /* Makes a row of the target from one of the source and the blurred one, which is unrounded, has its
     * colour multiplied by alpha, and may be changed. `spare` is a row of floats. Called on several threads
     * at a time. */
    void (*row)(const void *context, void *to, const void *from, float *blurred, float *spare,
                const struct row_format *format, size_t pixels);
    const void *context;
};

/* As cpu_blur, always in floating point; `finish` writes the rows of the target. */
enum status cpu_blur_finish(const struct cpu_context *context, const struct blur_plan *plan,
                            const struct image *source, const struct image *target,
                            const struct blur_finish *finish, struct error *err);

/* With `finishes` for cpu_blur_finish. */
struct scratch_need cpu_blur_need(const struct row_set *rows, const struct blur_plan *plan,
                                  const struct image *source, bool finishes);

/* Convolves the only plane. Scratch: the rows of a window for each seat. */
enum status cpu_convolve(const struct cpu_context *context, const struct convolve_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);
struct scratch_need cpu_convolve_need(const struct convolve_plan *plan, const struct image *source);

/* Copies the rectangle of every plane. */
enum status cpu_crop(const struct cpu_context *context, const struct crop_plan *plan,
                     const struct image *source, const struct image *target, struct error *err);

/* Dilates (`largest`) or erodes the only plane. Scratch: the rows of a window, in a strip, for each seat. */
enum status cpu_morphology(const struct cpu_context *context, const struct morphology_plan *plan,
                           bool largest, const struct image *source, const struct image *target,
                           struct error *err);
struct scratch_need cpu_morphology_need(const struct morphology_plan *plan, const struct image *source);

/* Makes the medians of every plane. Scratch: a tile and its histograms for each seat. */
enum status cpu_median(const struct cpu_context *context, const struct median_plan *plan,
                       const struct image *source, const struct image *target, struct error *err);
struct scratch_need cpu_median_need(const struct median_plan *plan, const struct image *source);

/* Makes tiles of every plane. Scratch: a row of sums for each seat. */
enum status cpu_pixelate(const struct cpu_context *context, const struct pixelate_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);
struct scratch_need cpu_pixelate_need(const struct image *source);

/* Resizes every plane. Scratch: the weights of the columns; for each seat RESIZE_ROWS rows of the source. */
enum status cpu_resize(const struct cpu_context *context, const struct resize_plan *plan,
                       const struct image *source, const struct image *target, struct error *err);
struct scratch_need cpu_resize_need(const struct row_set *rows, const struct resize_plan *plan,
                                    const struct image *source);
/* Turns every plane. */
enum status cpu_rotate(const struct cpu_context *context, const struct rotate_plan *plan,
                       const struct image *source, const struct image *target, struct error *err);

/* Sharpens every plane. Scratch: as for cpu_blur_finish. */
enum status cpu_sharpen(const struct cpu_context *context, const struct sharpen_plan *plan,
                        const struct image *source, const struct image *target, struct error *err);

/* Counts the samples of the only plane under the mask (NULL: all). The target is of stats_shape(); its first
 * row becomes a struct stats. Scratch: the counters of each seat. */
enum status cpu_stats(const struct cpu_context *context, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);
struct scratch_need cpu_stats_need(void);

#endif
