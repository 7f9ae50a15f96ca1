/* SPDX-License-Identifier: MIT
 * Plans the launches of a resize. The canvas is cut into bands, so that the sums of columns of one band fit
 * in a bounded piece of scratch memory; most pictures are one band. */
#include "core/numbers.h"
#include "gpu/filter.h"
#include "gpu/filters/filters.h"

#include <string.h>

#include "core/bytes.h"
#include "filters/resize/gpu/resize_kernels.h"
#include "gpu/stream/launch.h"

enum {
    ALIGNMENT = 256, /* of what lies in scratch memory */
    VALUES_MAX = 64 << 20,
    ROW_ALIGNMENT = 64, /* of rows of values */
};

/* A plane of both pictures. */
struct resize_course {
    struct resize_plane_axis x, y;
    unsigned line_x, line_y; /* of the weights */
    int32_t taps_x, taps_y;  /* weights of a sample */
    int32_t lo, hi;          /* samples of the source's rows that are read */
    size_t stride;           /* bytes of a row of values */
    size_t values;           /* offset in scratch memory */
};

struct resize_work {
    struct gpu_stream *stream;
    const struct resize_plan *plan;
    const struct image *source, *target;
    struct resize_weights_pass weights;
    unsigned weight_blocks;
    bool is_long; /* a warp makes a pixel of a row */
    struct resize_course course[IMAGE_PLANES_MAX];
    uint32_t bands;
    size_t size; /* bytes of scratch memory */
    CUdeviceptr scratch;
};

static size_t take(struct resize_work *work, size_t size) {
    size_t begin = work->size;
    work->size += bytes_align_up(size, ALIGNMENT);
    return begin;
}

/* ---- weights ---- */

/* Adds an axis and returns its number. The weights of a row lie side by side with `across`, as the threads of
 * a warp make adjacent pixels of it, else those of a sample. */
static unsigned add_line(struct resize_work *work, const struct resize_plane_axis *axis, uint32_t size,
                         bool across, int32_t *taps) {
    struct resize_line *line = &work->weights.line[work->weights.lines];
    *taps = resize_taps_most(work->plan->kernel, axis->scale, (int32_t)size);
    *line = (struct resize_line){
        .scale = axis->scale,
        .begin = axis->begin,
        .ranges = take(work, axis->count * sizeof(struct resize_range)),
        .weights = take(work, (size_t)*taps * axis->count * sizeof(float)),
        .size = (int32_t)size,
        .count = (int32_t)axis->count,
        .sample_step = across ? 1 : *taps,
        .tap_step = across ? (int32_t)axis->count : 1,
        .first_block = (int32_t)work->weight_blocks,
    };
    work->weight_blocks += (axis->count + KERNEL_THREADS_Y - 1) / KERNEL_THREADS_Y;
    return (unsigned)work->weights.lines++;
}

/* Both axes of a plane. Planes that are reduced alike share their weights. */
static void plan_course(struct resize_work *work, unsigned index) {
    const struct plane *source = &work->source->plane[index], *target = &work->target->plane[index];
    struct resize_course *course = &work->course[index];
    if (index == 2) {
        *course = work->course[1];
        return;
    }
    const struct resize_course *luma = index > 0 ? &work->course[0] : NULL;
    course->x = resize_plane_axis(&work->plan->x, source->shift_x, target->shift_x, target->width);
    course->y = resize_plane_axis(&work->plan->y, source->shift_y, target->shift_y, target->height);
    if (luma && !target->shift_x) {
        course->line_x = luma->line_x;
        course->taps_x = luma->taps_x;
    } else {
        course->line_x = add_line(work, &course->x, source->width, !work->is_long, &course->taps_x);
    }
    if (luma && !target->shift_y) {
        course->line_y = luma->line_y;
        course->taps_y = luma->taps_y;
    } else {
        course->line_y = add_line(work, &course->y, source->height, false, &course->taps_y);
    }
}

/* ---- values ---- */

/* The samples that the rows are made of, from the first of a quad on. */
static void plan_columns(struct resize_work *work, unsigned index) {
    const struct plane *plane = &work->source->plane[index];
    struct resize_course *course = &work->course[index];
    const struct resize_plane_axis *x = &course->x;
    int32_t kernel = work->plan->kernel, size = (int32_t)plane->width;
    struct resize_taps first = resize_taps_at(kernel, x->scale, x->begin, size, 0);
    struct resize_taps last = resize_taps_at(kernel, x->scale, x->begin, size, (int32_t)x->count - 1);
    course->lo = first.from * plane->channels & ~(KERNEL_RESIZE_QUAD - 1);
    course->hi = last.to * plane->channels;
    course->stride = bytes_align_up((size_t)(course->hi - course->lo) * sizeof(float), ROW_ALIGNMENT);
}

static uint32_t band_rows(const struct resize_course *course, uint32_t bands) {
    uint32_t rows = divide_up(course->y.canvas, bands);
    return rows < course->y.count ? rows : course->y.count;
}

static void plan_bands(struct resize_work *work) {
    uint64_t all = 0;
    for (unsigned i = 0; i < work->source->plane_count; i++) {
        plan_columns(work, i);
        all += (uint64_t)work->course[i].stride * work->course[i].y.count;
    }
    work->bands = (uint32_t)(all / VALUES_MAX) + 1;
    for (unsigned i = 0; i < work->source->plane_count; i++) {
        struct resize_course *course = &work->course[i];
        course->values = take(work, course->stride * band_rows(course, work->bands));
    }
}

static void plan_work(struct resize_work *work) {
    work->weights.kernel = work->plan->kernel;
    work->is_long = resize_taps_most(work->plan->kernel, work->plan->x.scale, (int32_t)work->source->width) >
                    KERNEL_RESIZE_LONG;
    for (unsigned i = 0; i < work->source->plane_count; i++) {
        plan_course(work, i);
    }
    plan_bands(work);
}

/* ---- a band ---- */

/* Rows of a plane's canvas, from first to end - 1; those with the picture begin at `picture`. */
struct rows {
    uint32_t first, end, picture, count;
};

static struct rows rows_of(const struct resize_course *course, uint32_t band, uint32_t bands) {
    const struct resize_plane_axis *y = &course->y;
    struct rows rows = {.first = (uint32_t)((uint64_t)y->canvas * band / bands),
                        .end = (uint32_t)((uint64_t)y->canvas * (band + 1) / bands)};
    uint32_t end = y->first + y->count < rows.end ? y->first + y->count : rows.end;
    rows.picture = y->first > rows.first ? y->first : rows.first;
    rows.count = end > rows.picture ? end - rows.picture : 0;
    return rows;
}

static struct kernel_grid values_grid(const struct resize_work *work, const struct resize_course *course,
                                      const struct rows *rows) {
    return (struct kernel_grid){
        .data = work->scratch + course->values,
        .stride = (int64_t)course->stride,
        .lo_x = course->lo,
        .width = course->hi - course->lo,
        .height = (int32_t)rows->count,
    };
}

static enum kernel columns_kernel(const struct image *source) {
    bool alpha = image_pixel_has_alpha(source->model);
    if (source->depth == 8) {
        return alpha ? KERNEL_resize_columns_8_alpha : KERNEL_resize_columns_8;
    }
    return alpha ? KERNEL_resize_columns_16_alpha : KERNEL_resize_columns_16;
}

static enum status sum_columns(const struct resize_work *work, uint32_t band, struct error *err) {
    struct resize_columns_pass pass = {
        .planes = work->source->plane_count,
        .channels = work->source->plane[0].channels,
    };
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, 0};
    for (int32_t p = 0; p < pass.planes; p++) {
        const struct resize_course *course = &work->course[p];
        const struct resize_line *line = &work->weights.line[course->line_y];
        struct rows rows = rows_of(course, band, work->bands);
        size_t first = rows.count ? rows.picture - course->y.first : 0;
        struct resize_columns_plane *plane = &pass.plane[p];
        plane->source = gpu_launch_grid(&work->source->plane[p], EDGE_CLAMP);
        plane->target = values_grid(work, course, &rows);
        plane->tiles =
            gpu_launch_tiles(&plane->target, KERNEL_RESIZE_WIDTH, KERNEL_THREADS_Y, 0, &blocks.count);
        plane->ranges = line->ranges + first * sizeof(struct resize_range);
        plane->weights = line->weights + first * (size_t)course->taps_y * sizeof(float);
        plane->taps = course->taps_y;
    }
    return blocks.count ? gpu_launch(work->stream, columns_kernel(work->source), &pass, blocks, err) : ST_OK;
}

static void set_colour(struct resize_rows_plane *plane, const struct resize_plan *plan, int32_t index,
                       bool planar) {
    if (planar) {
        plane->colour[0] = plan->colour[index];
    } else {
        memcpy(plane->colour, plan->colour, sizeof plane->colour);
    }
}

static void set_rows(const struct resize_work *work, uint32_t band, int32_t index,
                     struct resize_rows_plane *plane) {
    const struct resize_course *course = &work->course[index];
    const struct resize_line *line = &work->weights.line[course->line_x];
    struct rows rows = rows_of(course, band, work->bands);
    plane->source = values_grid(work, course, &rows);
    plane->target = gpu_launch_grid(&work->target->plane[index], EDGE_CLAMP);
    plane->target.data += (uint64_t)rows.first * (uint64_t)plane->target.stride;
    plane->target.height = (int32_t)(rows.end - rows.first);
    plane->ranges = line->ranges;
    plane->weights = line->weights;
    plane->taps = course->taps_x;
    plane->left = (int32_t)course->x.first;
    plane->top = (int32_t)(rows.picture - rows.first);
    plane->width = line->count;
    set_colour(plane, work->plan, index, work->source->plane_count > 1);
}

/* A kernel, its shared memory, and the size of a block's tile. */
struct rows_kernel {
    enum kernel kernel;
    unsigned shared;
    int32_t width, height;
};

static struct rows_kernel choose_kernel(const struct resize_work *work) {
    static const enum kernel kernels[] = {KERNEL_resize_rows_1, KERNEL_resize_rows_2, KERNEL_resize_rows_3,
                                          KERNEL_resize_rows_4};
    unsigned channels = work->source->plane[0].channels;
    int32_t rows = channels == 1 ? (int32_t)KERNEL_RESIZE_ROWS_1 : (int32_t)KERNEL_RESIZE_ROWS;
    if (work->is_long) {
        return (struct rows_kernel){KERNEL_resize_rows_long, KERNEL_RESIZE_LONG_BYTES, KERNEL_THREADS_Y, 1};
    }
    return (struct rows_kernel){kernels[channels - 1], 0, KERNEL_THREADS_X, KERNEL_THREADS_Y * rows};
}

static enum status sum_rows(const struct resize_work *work, uint32_t band, struct error *err) {
    struct rows_kernel chosen = choose_kernel(work);
    struct resize_rows_pass pass = {
        .planes = work->source->plane_count,
        .channels = work->source->plane[0].channels,
        .depth = work->source->depth,
        .alpha = image_pixel_has_alpha(work->source->model),
        .kept = resize_is_blurred(work->plan),
    };
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, chosen.shared};
    for (int32_t p = 0; p < pass.planes; p++) {
        struct resize_rows_plane *plane = &pass.plane[p];
        set_rows(work, band, p, plane);
        plane->tiles = gpu_launch_tiles(&plane->target, chosen.width, chosen.height, 0, &blocks.count);
    }
    return gpu_launch(work->stream, chosen.kernel, &pass, blocks, err);
}

/* ---- the filter ---- */

/* Makes addresses of the offsets. */
static void place_weights(struct resize_work *work) {
    for (int32_t i = 0; i < work->weights.lines; i++) {
        work->weights.line[i].ranges += work->scratch;
        work->weights.line[i].weights += work->scratch;
    }
}

static enum status resize(struct gpu_stream *stream, const struct resize_plan *plan,
                          const struct image *source, const struct image *target, struct error *err) {
    struct resize_work work = {.stream = stream, .plan = plan, .source = source, .target = target};
    plan_work(&work);
    enum status status = gpu_stream_scratch(stream, work.size, &work.scratch, err);
    if (status == ST_OK) {
        place_weights(&work);
        status = gpu_launch(stream, KERNEL_resize_weights, &work.weights,
                            (struct gpu_blocks){work.weight_blocks, KERNEL_THREADS_Y, 0}, err);
    }
    for (uint32_t band = 0; band < work.bands && status == ST_OK; band++) {
        status = sum_columns(&work, band, err);
        status = status == ST_OK ? sum_rows(&work, band, err) : status;
    }
    return status;
}

/* Covers the canvas with the picture, in a buffer of its own, and blurs that into the target. */
static enum status blur_background(struct gpu_stream *stream, const struct resize_plan *plan,
                                   const struct image *source, const struct image *target,
                                   struct error *err) {
    const struct resize_plan ground = resize_ground_plan(plan);
    const struct image_shape shape = image_shape(target);
    struct image canvas;
    enum status status = gpu_stream_reserve(stream, &stream->ground, image_layout(&canvas, &shape), err);
    if (status != ST_OK) {
        return status;
    }
    image_place(&canvas, (uint8_t *)(uintptr_t)stream->ground.data);
    status = resize(stream, &ground, source, &canvas, err);
    return status == ST_OK ? gpu_blur(stream, &plan->blur, &canvas, target, err) : status;
}

enum status gpu_resize(struct gpu_stream *stream, const struct resize_plan *plan, const struct image *source,
                       const struct image *target, struct error *err) {
    enum status status = resize_is_blurred(plan) ? blur_background(stream, plan, source, target, err) : ST_OK;
    return status == ST_OK ? resize(stream, plan, source, target, err) : status;
}

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return gpu_resize(stream, plan, source, target, err);
}

const struct gpu_filter gpu_filter_resize = {.run = run};
