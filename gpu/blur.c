/* SPDX-License-Identifier: MIT
 * From a plan to launches. Each plane goes through its own sequence of passes; those that planes
 * have in common share a launch, since a launch costs more than a plane of 4:2:0 colour. */
#include "gpu/blur.h"

#include <string.h>

#include "core/bytes.h"
#include "filters/extent.h"
#include "gpu/blur_wide.h"
#include "gpu/kernels.h"

_Static_assert((int)EDGE_CLAMP == KERNEL_CLAMP && (int)EDGE_MIRROR == KERNEL_MIRROR &&
                   (int)EDGE_WRAP == KERNEL_WRAP && (int)EDGE_ZERO == KERNEL_ZERO,
               "kernels have the edges of filters/blur.h");
_Static_assert((int)BLUR_RADIUS_MAX == KERNEL_RADIUS && (int)IMAGE_PLANES_MAX == KERNEL_PLANES,
               "so have tables");

enum {
    PASSES_MAX = BLUR_STAGES_MAX + 1, /* the stages and the low-resolution blur */
    GRID_ALIGNMENT = 64,
    DIRECT_WIDTH = 64, /* tiles, in pixels of their target */
    DIRECT_HEIGHT = 16,
    REDUCE_WIDTH = 128, /* of the source */
    VALUES_WIDTH = 32,
    PASS_HEIGHT = 8,
    ENLARGE_WIDTH = 64, /* powers of two: phases repeat from tile to tile */
    ENLARGE_HEIGHT = 32,
};

/* One plane on its way. */
struct path {
    const struct plane *plane;
    struct extent x, y;
    unsigned stages;                    /* of the reduction; 0: one direct pass */
    struct kernel_grid source, target;  /* the picture's */
    struct kernel_grid out[PASSES_MAX]; /* what each pass leaves */
    unsigned border;
};

struct work {
    struct gpu_lane *lane;
    const struct image *source;
    bool real;
    unsigned planes;
    struct path path[IMAGE_PLANES_MAX];
};

/* ---- layout ---- */

static struct kernel_grid picture_grid(const struct plane *plane, const struct path *path) {
    return (struct kernel_grid){
        .data = (uint64_t)(uintptr_t)plane->data,
        .stride = (int64_t)plane->stride,
        .width = (int32_t)plane->width,
        .height = (int32_t)plane->height,
        .edge_x = (int32_t)path->x.edge,
        .edge_y = (int32_t)path->y.edge,
    };
}

/* A grid of values over the spans; `*offset`, in scratch memory, moves behind it. */
static struct kernel_grid values_grid(const struct work *work, const struct path *path, struct span x,
                                      struct span y, size_t *offset) {
    size_t value = work->real ? sizeof(float) : sizeof(uint16_t);
    size_t stride = align_up(span_length(x) * path->plane->channels * value, GRID_ALIGNMENT);
    struct kernel_grid grid = {
        .data = *offset,
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

static void path_init(struct work *work, unsigned index, const struct blur_plan *plan,
                      const struct image *target, size_t *offset) {
    struct path *path = &work->path[index];
    const struct plane *plane = &work->source->plane[index];
    *path = (struct path){.plane = plane, .border = blur_border(work->source->model, index)};
    extent_init(&path->x, &plan->axis[plane->shift_x], plan->edge, plane->width);
    extent_init(&path->y, &plan->axis[plane->shift_y], plan->edge, plane->height);
    path->stages = path->x.stages > path->y.stages ? path->x.stages : path->y.stages;
    path->source = picture_grid(plane, path);
    path->target = picture_grid(&target->plane[index], path);
    for (unsigned i = 0; i < path->stages; i++) {
        path->out[i] = values_grid(work, path, path->x.span[i + 1], path->y.span[i + 1], offset);
    }
    if (path->stages > 0) {
        path->out[path->stages] = values_grid(work, path, path->x.blurred, path->y.blurred, offset);
    }
}

static enum status work_init(struct work *work, struct gpu_lane *lane, const struct blur_plan *plan,
                             const struct image *source, const struct image *target, struct error *err) {
    *work = (struct work){.lane = lane, .source = source, .planes = source->plane_count};
    work->real = source->depth != 8 || pixel_has_alpha(source->model);
    size_t size = 0;
    for (unsigned i = 0; i < work->planes; i++) {
        path_init(work, i, plan, target, &size);
    }
    CUdeviceptr scratch = 0;
    enum status status = size > 0 ? gpu_lane_scratch(lane, size, &scratch, err) : ST_OK;
    for (unsigned i = 0; i < work->planes; i++) {
        struct path *path = &work->path[i];
        for (unsigned k = 0; path->stages > 0 && k <= path->stages; k++) {
            path->out[k].data += scratch;
        }
    }
    return status;
}

static const struct kernel_grid *pass_source(const struct path *path, unsigned i) {
    return i == 0 ? &path->source : &path->out[i - 1];
}

static const struct kernel_grid *pass_target(const struct path *path, unsigned i) {
    return path->stages == 0 ? &path->target : &path->out[i];
}

/* ---- taps ---- */

/* What pass `i` does along an axis: its weights, or NULL for the identity. */
struct pass_axis {
    unsigned shift, radius;
    const int16_t *weight;
    const float *real;
};

static struct pass_axis pass_axis(const struct extent *extent, unsigned i, unsigned stages) {
    if (i == stages) {
        const struct blur_axis *axis = extent->axis;
        return (struct pass_axis){0, axis->radius, axis->weight, axis->weight_real};
    }
    if (i >= extent->stages) {
        return (struct pass_axis){0};
    }
    const struct blur_stage *stage = &extent->stage[i];
    return (struct pass_axis){stage->shift, stage->radius, stage->weight, stage->weight_real};
}

static void fill_whole_taps(struct whole_taps *taps, const struct pass_axis *axis) {
    taps->shift = (uint8_t)axis->shift;
    taps->radius = (uint8_t)axis->radius;
    for (unsigned k = 0; k <= axis->radius; k++) {
        taps->weight[k] = axis->weight ? (uint16_t)axis->weight[k] : 1 << BLUR_WEIGHT_BITS;
    }
}

static void fill_real_taps(struct real_taps *taps, const struct pass_axis *axis) {
    taps->shift = (int32_t)axis->shift;
    taps->radius = (int32_t)axis->radius;
    for (unsigned k = 0; k <= axis->radius; k++) {
        taps->weight[k] = axis->real ? axis->real[k] : 1;
    }
}

/* ---- tiles ---- */

/* Cuts `target` into tiles that follow the *blocks tiles of the launch so far. */
static struct kernel_tiles cut(const struct kernel_grid *target, int32_t width, int32_t height,
                               int32_t columns, unsigned *blocks) {
    struct kernel_tiles tiles = {
        .first_tile = (int32_t)*blocks,
        .tiles_x = (target->width + width - 1) / width,
        .width = width,
        .height = height,
        .columns = columns,
    };
    *blocks += (unsigned)(tiles.tiles_x * ((target->height + height - 1) / height));
    return tiles;
}

static struct kernel_tiles cut_pass(const struct path *path, unsigned i, const struct pass_axis *x,
                                    unsigned *blocks) {
    int32_t width = path->stages == 0 ? DIRECT_WIDTH : i == 0 ? REDUCE_WIDTH >> x->shift : VALUES_WIDTH;
    int32_t height = path->stages == 0 ? DIRECT_HEIGHT : PASS_HEIGHT;
    unsigned channels = path->plane->channels;
    size_t pixels = ((size_t)(width - 1) << x->shift) + 2 * x->radius + 1;
    size_t columns = align_up(pixels * channels + KERNEL_GROUP - 1, KERNEL_GROUP);
    return cut(pass_target(path, i), width, height, (int32_t)columns, blocks);
}

/* Bytes of shared memory that a block needs for its values. */
static unsigned tile_bytes(const struct kernel_tiles *tiles, int32_t rows, size_t value) {
    return (unsigned)((size_t)rows * (size_t)tiles->columns * value);
}

/* ---- launches ---- */

static enum status launch_rows(struct work *work, enum kernel kernel, void *pass, unsigned blocks,
                               unsigned threads_y, unsigned shared, struct error *err) {
    struct gpu_device *device = work->lane->device;
    void *parameters[] = {pass};
    return CUDA_TRY(device->cuda, err, cuLaunchKernel, device->program.kernel[kernel], blocks, 1, 1,
                    KERNEL_THREADS_X, threads_y, 1, shared, work->lane->stream, parameters, NULL);
}

static enum status launch(struct work *work, enum kernel kernel, void *pass, unsigned blocks, unsigned shared,
                          struct error *err) {
    return launch_rows(work, kernel, pass, blocks, KERNEL_THREADS_Y, shared, err);
}

static enum kernel whole_kernel(const struct work *work, enum kernel single, enum kernel triple) {
    return work->path[0].plane->channels == 1 ? single : triple;
}

/* Both axes of all planes that are not reduced, whatever their radii. */
static enum status whole_direct(struct work *work, struct error *err) {
    struct whole_pass pass = {0};
    unsigned blocks = 0, shared = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct path *path = &work->path[p];
        if (path->stages > 0) {
            continue;
        }
        struct whole_plane *plane = &pass.plane[pass.planes++];
        struct pass_axis x = pass_axis(&path->x, 0, 0);
        struct pass_axis y = pass_axis(&path->y, 0, 0);
        plane->source = path->source;
        plane->target = path->target;
        plane->border = path->border;
        fill_whole_taps(&plane->x, &x);
        fill_whole_taps(&plane->y, &y);
        plane->tiles = cut_pass(path, 0, &x, &blocks);
        unsigned bytes = tile_bytes(&plane->tiles, plane->tiles.height, sizeof(uint16_t));
        shared = bytes > shared ? bytes : shared;
    }
    enum kernel kernel = whole_kernel(work, KERNEL_whole_direct_1, KERNEL_whole_direct_3);
    return launch(work, kernel, &pass, blocks, shared, err);
}

static const unsigned table_bytes = KERNEL_ROW_TABLE * sizeof(int32_t);

/* Stage `i` of the reduction of all planes that have one. */
static enum status whole_reduce(struct work *work, unsigned i, struct error *err) {
    struct whole_pass pass = {0};
    unsigned blocks = 0;
    int32_t rows = i == 0 ? KERNEL_REDUCE_ROWS : KERNEL_REDUCE_ROWS / 2;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct path *path = &work->path[p];
        if (i >= path->stages) {
            continue;
        }
        struct whole_plane *plane = &pass.plane[pass.planes++];
        plane->source = *pass_source(path, i);
        plane->target = path->out[i];
        plane->border = path->border;
        plane->x.shift = (uint8_t)pass_axis(&path->x, i, path->stages).shift;
        plane->y.shift = (uint8_t)pass_axis(&path->y, i, path->stages).shift;
        int32_t width = (KERNEL_REDUCE_WIDTH >> plane->x.shift) / path->plane->channels;
        plane->tiles = cut(&plane->target, width, rows, KERNEL_REDUCE_COLUMNS, &blocks);
    }
    enum kernel kernel = i == 0 ? whole_kernel(work, KERNEL_whole_reduce_1, KERNEL_whole_reduce_3)
                                : whole_kernel(work, KERNEL_whole_values_1, KERNEL_whole_values_3);
    unsigned shared = table_bytes + (unsigned)rows * KERNEL_REDUCE_COLUMNS * (unsigned)sizeof(uint16_t);
    return blocks > 0 ? launch_rows(work, kernel, &pass, blocks, KERNEL_REDUCE_THREADS_Y, shared, err)
                      : ST_OK;
}

/* The taps of all planes that are reduced, or of all that are not. */
static enum status whole_wide(struct work *work, bool reduced, struct error *err) {
    struct wide_pass pass = {0};
    unsigned blocks = 0;
    int32_t rows = reduced ? KERNEL_WIDE_VALUES_HEIGHT : KERNEL_WIDE_HEIGHT;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct path *path = &work->path[p];
        if ((path->stages > 0) != reduced) {
            continue;
        }
        if (!wide_possible(path->x.axis, path->y.axis)) { /* never of a reduced plane */
            return whole_direct(work, err);
        }
        struct wide_plane *plane = &pass.plane[pass.planes++];
        plane->source = *pass_source(path, path->stages);
        plane->target = *pass_target(path, path->stages);
        plane->border = path->border;
        wide_fill_taps(plane, path->x.axis, path->y.axis, reduced ? 1 : 2);
        plane->tiles = cut(&plane->target, KERNEL_WIDE_WIDTH / path->plane->channels, rows,
                           KERNEL_WIDE_COLUMNS, &blocks);
    }
    enum kernel kernel = reduced ? whole_kernel(work, KERNEL_whole_blur_1, KERNEL_whole_blur_3)
                                 : whole_kernel(work, KERNEL_whole_wide_1, KERNEL_whole_wide_3);
    unsigned shared = table_bytes + (unsigned)rows * KERNEL_WIDE_COLUMNS * (unsigned)sizeof(uint16_t);
    return blocks > 0 ? launch(work, kernel, &pass, blocks, shared, err) : ST_OK;
}

/* ---- small radii ---- */

/* The radius that the unrolled kernel needs, or 0 where there is none for this picture. */
static unsigned direct_radius(const struct work *work) {
    unsigned radius = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct path *path = &work->path[p];
        unsigned x = path->x.axis->radius;
        unsigned y = path->y.axis->radius;
        if (path->stages > 0) {
            return 0;
        }
        radius = x > radius ? x : radius;
        radius = y > radius ? y : radius;
    }
    return radius <= 3 ? 3 : radius <= KERNEL_DIRECT_RADIUS ? KERNEL_DIRECT_RADIUS : 0;
}

static unsigned padded_weight(const struct blur_axis *axis, int k, int radius) {
    int at = k < radius ? radius - k : k - radius;
    return k >= 0 && at <= axis->radius ? (unsigned)axis->weight[at] : 0;
}

static void fill_direct_plane(struct direct_plane *plane, const struct path *path, int radius,
                              unsigned *blocks) {
    plane->source = path->source;
    plane->target = path->target;
    plane->border = path->border;
    plane->tiles = cut(&path->target, KERNEL_DIRECT_WIDTH / path->plane->channels, KERNEL_DIRECT_HEIGHT,
                       KERNEL_DIRECT_COLUMNS, blocks);
    for (int k = 0; k <= 2 * radius + 1; k++) {
        unsigned first = padded_weight(path->y.axis, k - 1, radius);
        plane->pair_y[k] = first | padded_weight(path->y.axis, k, radius) << 16;
    }
    for (int k = 0; k <= radius; k++) {
        plane->weight_x[k] = 4 * padded_weight(path->x.axis, radius + k, radius);
    }
}

static enum status direct_pass(struct work *work, unsigned radius, struct error *err) {
    struct direct_pass pass = {.planes = (int32_t)work->planes};
    unsigned blocks = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        fill_direct_plane(&pass.plane[p], &work->path[p], (int)radius, &blocks);
    }
    enum kernel kernel = radius == 3 ? whole_kernel(work, KERNEL_whole_direct3_1, KERNEL_whole_direct3_3)
                                     : whole_kernel(work, KERNEL_whole_direct6_1, KERNEL_whole_direct6_3);
    unsigned shared = KERNEL_DIRECT_HEIGHT * KERNEL_DIRECT_COLUMNS * sizeof(uint16_t);
    return launch(work, kernel, &pass, blocks, shared, err);
}

static enum status real_pass(struct work *work, unsigned i, struct error *err) {
    const struct path *path = &work->path[0];
    struct pass_axis x = pass_axis(&path->x, i, path->stages);
    struct pass_axis y = pass_axis(&path->y, i, path->stages);
    unsigned blocks = 0;
    struct real_pass pass = {
        .source = *pass_source(path, i),
        .target = *pass_target(path, i),
        .tiles = cut_pass(path, i, &x, &blocks),
        .channels = path->plane->channels,
        .depth = work->source->depth,
        .alpha = pixel_has_alpha(work->source->model),
    };
    fill_real_taps(&pass.x, &x);
    fill_real_taps(&pass.y, &y);
    enum kernel kernel = path->stages == 0 ? KERNEL_real_direct
                         : i == 0          ? KERNEL_real_reduce
                                           : KERNEL_real_values;
    return launch(work, kernel, &pass, blocks, tile_bytes(&pass.tiles, pass.tiles.height, sizeof(float)),
                  err);
}

static struct enlarge_plane enlarge_plane(const struct path *path, size_t value, unsigned *blocks,
                                          unsigned *shared) {
    struct enlarge_plane plane = {
        .source = path->out[path->stages],
        .target = path->target,
        .levels_x = path->x.axis->levels,
        .levels_y = path->y.axis->levels,
    };
    plane.tiles =
        cut(&plane.target, ENLARGE_WIDTH, ENLARGE_HEIGHT, ENLARGE_WIDTH * path->plane->channels, blocks);
    int32_t rows = plane.levels_y ? (ENLARGE_HEIGHT >> plane.levels_y) + BLUR_TAPS_ENLARGE : ENLARGE_HEIGHT;
    size_t splines = (ENLARGE_WIDTH + ENLARGE_HEIGHT + 1) * BLUR_TAPS_ENLARGE * value;
    unsigned bytes = (unsigned)splines + tile_bytes(&plane.tiles, rows, value);
    *shared = bytes > *shared ? bytes : *shared;
    return plane;
}

static enum status whole_enlarge(struct work *work, struct error *err) {
    enum { VALUE_ROWS = KERNEL_ENLARGE_HEIGHT / 2 + BLUR_TAPS_ENLARGE };
    struct whole_enlargement pass = {0};
    unsigned blocks = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct path *path = &work->path[p];
        if (path->stages > 0) {
            struct enlarge_plane *plane = &pass.plane[pass.planes++];
            plane->source = path->out[path->stages];
            plane->target = path->target;
            plane->levels_x = path->x.axis->levels;
            plane->levels_y = path->y.axis->levels;
            plane->tiles = cut(&plane->target, KERNEL_ENLARGE_WIDTH / path->plane->channels,
                               KERNEL_ENLARGE_HEIGHT, KERNEL_ENLARGE_WIDTH, &blocks);
        }
    }
    enum kernel kernel = whole_kernel(work, KERNEL_whole_enlarge_1, KERNEL_whole_enlarge_3);
    unsigned weights = KERNEL_ENLARGE_HEIGHT * BLUR_TAPS_ENLARGE * sizeof(uint32_t);
    unsigned shared = weights + VALUE_ROWS * KERNEL_ENLARGE_WIDTH * sizeof(uint16_t);
    return blocks > 0 ? launch_rows(work, kernel, &pass, blocks, KERNEL_ENLARGE_THREADS_Y, shared, err)
                      : ST_OK;
}

static enum status real_enlarge(struct work *work, struct error *err) {
    const struct path *path = &work->path[0];
    if (path->stages == 0) {
        return ST_OK;
    }
    unsigned blocks = 0, shared = 0;
    struct real_enlargement pass = {
        .plane = enlarge_plane(path, sizeof(float), &blocks, &shared),
        .channels = path->plane->channels,
        .depth = work->source->depth,
        .alpha = pixel_has_alpha(work->source->model),
    };
    return launch(work, KERNEL_real_enlarge, &pass, blocks, shared, err);
}

static enum status run_real(struct work *work, struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i <= work->path[0].stages && status == ST_OK; i++) {
        status = real_pass(work, i, err);
    }
    return status == ST_OK ? real_enlarge(work, err) : status;
}

static enum status run_whole(struct work *work, struct error *err) {
    unsigned radius = direct_radius(work);
    if (radius > 0) {
        return direct_pass(work, radius, err);
    }
    enum status status = whole_wide(work, false, err);
    for (unsigned i = 0; i < BLUR_STAGES_MAX && status == ST_OK; i++) {
        status = whole_reduce(work, i, err);
    }
    status = status == ST_OK ? whole_wide(work, true, err) : status;
    return status == ST_OK ? whole_enlarge(work, err) : status;
}

enum status gpu_blur(struct gpu_lane *lane, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err) {
    struct work work;
    enum status status = work_init(&work, lane, plan, source, target, err);
    if (status != ST_OK) {
        return status;
    }
    return work.real ? run_real(&work, err) : run_whole(&work, err);
}
