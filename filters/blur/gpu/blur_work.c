/* SPDX-License-Identifier: MIT */
#include "filters/blur/gpu/blur_work.h"

#include "core/bytes.h"

enum {
    GRID_ALIGNMENT = 64,
    DIRECT_WIDTH = 64, /* tiles, in target pixels */
    DIRECT_HEIGHT = 16,
    REDUCE_WIDTH = 128, /* in source pixels */
    VALUES_WIDTH = 32,
    PASS_HEIGHT = 8,
};

/* Returns a grid of values over the spans, at *offset in scratch memory, and moves *offset behind it. In
 * fixed point `groups` begin at position -1, where clamped rows do, and rows have room for whole ones. */
static struct kernel_grid values_grid(const struct blur_work *work, const struct blur_path *path,
                                      struct span x, struct span y, bool groups, size_t *offset) {
    size_t value = work->is_float ? sizeof(float) : sizeof(uint16_t);
    size_t pixel = path->plane->channels * value;
    size_t before = groups ? (size_t)(x.lo + 1) & (KERNEL_HALVE_GROUP - 1) : 0;
    size_t stride =
        bytes_align_up((before + span_length(x) + KERNEL_HALVE_GROUP - 1) * pixel, GRID_ALIGNMENT);
    struct kernel_grid grid = {
        .data = *offset + before * pixel,
        .stride = (int64_t)stride,
        .lo_x = (int32_t)x.lo,
        .lo_y = (int32_t)y.lo,
        .width = (int32_t)span_length(x),
        .height = (int32_t)span_length(y),
        .edge_x = KERNEL_CLAMP,
        .edge_y = KERNEL_CLAMP,
    };
    *offset += stride * span_length(y);
    return grid;
}

static void path_init(struct blur_work *work, unsigned index, const struct blur_plan *plan,
                      const struct image *target, size_t *offset) {
    struct blur_path *path = &work->path[index];
    const struct plane *plane = &work->source->plane[index];
    *path = (struct blur_path){.plane = plane, .border = blur_border(work->source->model, index)};
    extent_init(&path->x, &plan->axis[plane->shift_x], plan->edge, plane->width);
    extent_init(&path->y, &plan->axis[plane->shift_y], plan->edge, plane->height);
    path->stages = path->x.stages > path->y.stages ? path->x.stages : path->y.stages;
    path->source = gpu_launch_grid(plane, (enum edge)plan->edge);
    path->target = gpu_launch_grid(&target->plane[index], (enum edge)plan->edge);
    for (unsigned i = 0; i < path->stages; i++) {
        path->out[i] =
            values_grid(work, path, path->x.span[i + 1], path->y.span[i + 1], !work->is_float, offset);
        path->out[i].edge_x = extent_repeats(&path->x) ? KERNEL_WRAP : KERNEL_CLAMP; /* as extent_kept() */
        path->out[i].edge_y = extent_repeats(&path->y) ? KERNEL_WRAP : KERNEL_CLAMP;
    }
    if (path->stages > 0) {
        path->out[path->stages] = values_grid(work, path, path->x.blurred, path->y.blurred, false, offset);
    }
}

enum status blur_work_init(struct blur_work *work, struct gpu_stream *stream, const struct blur_plan *plan,
                           const struct image *source, const struct image *target, bool is_float,
                           struct error *err) {
    *work = (struct blur_work){
        .stream = stream, .source = source, .is_float = is_float, .planes = source->plane_count};
    size_t size = 0;
    for (unsigned i = 0; i < work->planes; i++) {
        path_init(work, i, plan, target, &size);
    }
    CUdeviceptr scratch = 0;
    enum status status = size > 0 ? gpu_stream_scratch(stream, size, &scratch, err) : ST_OK;
    for (unsigned i = 0; i < work->planes; i++) {
        struct blur_path *path = &work->path[i];
        for (unsigned k = 0; path->stages > 0 && k <= path->stages; k++) {
            path->out[k].data += scratch;
        }
    }
    return status;
}

const struct kernel_grid *blur_pass_source(const struct blur_path *path, unsigned i) {
    return i == 0 ? &path->source : &path->out[i - 1];
}

const struct kernel_grid *blur_pass_target(const struct blur_path *path, unsigned i) {
    return path->stages == 0 ? &path->target : &path->out[i];
}

struct blur_pass_axis blur_pass_axis(const struct extent *extent, unsigned i, unsigned stages) {
    if (i == stages) {
        const struct blur_axis *axis = extent->axis;
        return (struct blur_pass_axis){0, axis->radius, axis->weight, axis->weight_float};
    }
    if (i >= extent->stages) {
        return (struct blur_pass_axis){0};
    }
    const struct blur_stage *stage = &extent->stage[i];
    return (struct blur_pass_axis){stage->shift, stage->radius, stage->weight, stage->weight_float};
}

struct kernel_tiles blur_cut_pass(const struct blur_path *path, unsigned i, const struct blur_pass_axis *x,
                                  unsigned *blocks) {
    int32_t width = path->stages == 0 ? DIRECT_WIDTH : i == 0 ? REDUCE_WIDTH >> x->shift : VALUES_WIDTH;
    int32_t height = path->stages == 0 ? DIRECT_HEIGHT : PASS_HEIGHT;
    unsigned channels = path->plane->channels;
    size_t pixels = ((size_t)(width - 1) << x->shift) + 2 * x->radius + 1;
    size_t columns = bytes_align_up(pixels * channels + KERNEL_GROUP - 1, KERNEL_GROUP);
    return gpu_launch_tiles(blur_pass_target(path, i), width, height, (int32_t)columns, blocks);
}

unsigned blur_tile_bytes(const struct kernel_tiles *tiles, int32_t rows, size_t value) {
    return (unsigned)((size_t)rows * (size_t)tiles->columns * value);
}
