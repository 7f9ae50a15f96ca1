/* SPDX-License-Identifier: MIT
 * Each plane has its own sequence of passes. Planes share the launch of a common pass, since a launch
 * costs more than a plane of 4:2:0 colour. */
#include "filters/blur/gpu/blur_work.h"

static void fill_fixed_taps(struct fixed_taps *taps, const struct blur_pass_axis *axis) {
    taps->shift = (uint8_t)axis->shift;
    taps->radius = (uint8_t)axis->radius;
    for (unsigned k = 0; k <= axis->radius; k++) {
        taps->weight[k] = axis->weight ? (uint16_t)axis->weight[k] : 1 << BLUR_WEIGHT_BITS;
    }
}

static bool wide_possible(const struct blur_axis *x, const struct blur_axis *y) {
    return x->radius <= KERNEL_WIDE_RADIUS && y->radius <= KERNEL_WIDE_RADIUS;
}

/* Writes the bytes of twice the taps, `step` bytes apart, the first behind `zeros`. */
static void wide_fill_weights(uint32_t *high, uint32_t *low, const struct blur_axis *axis, unsigned step,
                              unsigned zeros) {
    for (unsigned i = 0; i <= 2u * axis->radius; i++) {
        unsigned weight = 2u * (unsigned)axis->weight[i < axis->radius ? axis->radius - i : i - axis->radius];
        unsigned at = zeros + i * step;
        high[at / 4] |= (weight >> 8) << 8 * (at % 4);
        low[at / 4] |= (weight & 0xff) << 8 * (at % 4);
    }
}

/* Fills in what depends on the taps. A row is read from where a group begins, as group_offset() says. */
static void wide_fill_plane(struct wide_plane *plane, const struct blur_path *path) {
    const struct blur_axis *x = path->x.axis, *y = path->y.axis;
    int32_t channels = (int32_t)path->plane->channels, radius = x->radius;
    int32_t begin = (plane->target.lo_x - plane->source.lo_x - radius) * channels;
    int32_t offset = path->stages > 0 ? (plane->source.lo_x + 1) * channels : 0;
    unsigned before = (unsigned)(begin + offset) & (KERNEL_GROUP - 1);
    plane->begin = begin - (int32_t)before;
    plane->radius_y = y->radius;
    plane->chunks_x = ((int32_t)before + 2 * radius * channels + 15) / 16 + 1;
    plane->chunks_y = (2 * y->radius + 15) / 16 + 1;
    wide_fill_weights(plane->weight + KERNEL_WIDE_Y_HIGH, plane->weight + KERNEL_WIDE_Y_LOW, y, 1,
                      KERNEL_WIDE_ZEROS);
    wide_fill_weights(plane->weight + KERNEL_WIDE_X_HIGH, plane->weight + KERNEL_WIDE_X_LOW, x,
                      (unsigned)channels, KERNEL_WIDE_ZEROS + before);
}

static enum status launch_rows(struct blur_work *work, enum kernel kernel, void *pass, unsigned blocks,
                               unsigned threads_y, unsigned shared, struct error *err) {
    return gpu_launch(work->stream, kernel, pass, (struct gpu_blocks){blocks, threads_y, shared}, err);
}

static enum status launch(struct blur_work *work, enum kernel kernel, void *pass, unsigned blocks,
                          unsigned shared, struct error *err) {
    return launch_rows(work, kernel, pass, blocks, KERNEL_THREADS_Y, shared, err);
}

static enum kernel fixed_kernel(const struct blur_work *work, enum kernel single, enum kernel triple) {
    return work->path[0].plane->channels == 1 ? single : triple;
}

/* Enqueues both axes of all unreduced planes, of any radius. */
static enum status fixed_direct(struct blur_work *work, struct error *err) {
    struct fixed_pass pass = {.channels = work->path[0].plane->channels};
    unsigned blocks = 0, shared = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct blur_path *path = &work->path[p];
        if (path->stages > 0) {
            continue;
        }
        struct fixed_plane *plane = &pass.plane[pass.planes++];
        struct blur_pass_axis x = blur_pass_axis(&path->x, 0, 0);
        struct blur_pass_axis y = blur_pass_axis(&path->y, 0, 0);
        plane->source = path->source;
        plane->target = path->target;
        plane->border = path->border;
        fill_fixed_taps(&plane->x, &x);
        fill_fixed_taps(&plane->y, &y);
        plane->tiles = blur_cut_pass(path, 0, &x, &blocks);
        unsigned bytes = blur_tile_bytes(&plane->tiles, plane->tiles.height, sizeof(uint16_t));
        shared = bytes > shared ? bytes : shared;
    }
    return launch(work, KERNEL_fixed_direct, &pass, blocks, shared, err);
}

static const unsigned table_bytes = KERNEL_ROW_TABLE * sizeof(int32_t);

/* Fills in stage `i` of all reduced planes but for their tiles. */
static void fill_reduction(struct blur_work *work, unsigned i, struct fixed_pass *pass) {
    for (unsigned p = 0; p < work->planes; p++) {
        const struct blur_path *path = &work->path[p];
        if (i >= path->stages) {
            continue;
        }
        struct fixed_plane *plane = &pass->plane[pass->planes++];
        plane->source = *blur_pass_source(path, i);
        plane->target = path->out[i];
        plane->border = path->border;
        plane->x.shift = (uint8_t)blur_pass_axis(&path->x, i, path->stages).shift;
        plane->y.shift = (uint8_t)blur_pass_axis(&path->y, i, path->stages).shift;
    }
}

/* Whether all planes are reduced by 2 along both axes. */
static bool halves(const struct fixed_pass *pass) {
    bool all = true;
    for (int32_t p = 0; p < pass->planes; p++) {
        all = all && pass->plane[p].x.shift == 1 && pass->plane[p].y.shift == 1;
    }
    return all;
}

static enum status fixed_halve(struct blur_work *work, struct fixed_pass *pass, struct error *err) {
    unsigned blocks = 0;
    for (int32_t p = 0; p < pass->planes; p++) {
        struct fixed_plane *plane = &pass->plane[p];
        plane->tiles = gpu_launch_tiles(&plane->target, KERNEL_HALVE_WIDTH, KERNEL_HALVE_ROWS, 0, &blocks);
    }
    return launch_rows(work, KERNEL_fixed_halve, pass, blocks, KERNEL_HALVE_THREADS_Y, table_bytes, err);
}

/* Enqueues stage `i` of all reduced planes. */
static enum status fixed_reduce(struct blur_work *work, unsigned i, struct error *err) {
    struct fixed_pass pass = {0};
    unsigned blocks = 0, channels = work->path[0].plane->channels;
    int32_t rows = i == 0 ? KERNEL_REDUCE_ROWS : KERNEL_REDUCE_ROWS / 2;
    fill_reduction(work, i, &pass);
    if (i == 0 && channels == 1 && pass.planes > 0 && halves(&pass)) {
        return fixed_halve(work, &pass, err);
    }
    for (int32_t p = 0; p < pass.planes; p++) {
        struct fixed_plane *plane = &pass.plane[p];
        int32_t width = (KERNEL_REDUCE_WIDTH >> plane->x.shift) / (int32_t)channels;
        plane->tiles = gpu_launch_tiles(&plane->target, width, rows, KERNEL_REDUCE_COLUMNS, &blocks);
    }
    enum kernel kernel = i == 0 ? fixed_kernel(work, KERNEL_fixed_reduce_1, KERNEL_fixed_reduce_3)
                                : fixed_kernel(work, KERNEL_fixed_values_1, KERNEL_fixed_values_3);
    unsigned shared = table_bytes + (unsigned)rows * KERNEL_REDUCE_COLUMNS * (unsigned)sizeof(uint16_t);
    return blocks > 0 ? launch_rows(work, kernel, &pass, blocks, KERNEL_REDUCE_THREADS_Y, shared, err)
                      : ST_OK;
}

/* Enqueues the taps of all reduced or of all unreduced planes. */
static enum status fixed_wide(struct blur_work *work, bool reduced, struct error *err) {
    struct wide_pass pass = {0};
    unsigned blocks = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct blur_path *path = &work->path[p];
        if ((path->stages > 0) != reduced) {
            continue;
        }
        if (!wide_possible(path->x.axis, path->y.axis)) { /* happens to unreduced planes only */
            return fixed_direct(work, err);
        }
        struct wide_plane *plane = &pass.plane[pass.planes++];
        plane->source = *blur_pass_source(path, path->stages);
        plane->target = *blur_pass_target(path, path->stages);
        plane->border = path->border;
        wide_fill_plane(plane, path);
        plane->tiles = gpu_launch_tiles(&plane->target, KERNEL_WIDE_WIDTH / path->plane->channels,
                                        KERNEL_WIDE_HEIGHT, KERNEL_WIDE_PITCH, &blocks);
    }
    enum kernel kernel = reduced ? fixed_kernel(work, KERNEL_fixed_blur_1, KERNEL_fixed_blur_3)
                                 : fixed_kernel(work, KERNEL_fixed_wide_1, KERNEL_fixed_wide_3);
    unsigned shared = table_bytes + 4 * KERNEL_WIDE_WEIGHTS * (unsigned)sizeof(uint32_t) +
                      2 * KERNEL_WIDE_HEIGHT * KERNEL_WIDE_PITCH;
    return blocks > 0 ? launch_rows(work, kernel, &pass, blocks, KERNEL_WIDE_THREADS_Y, shared, err) : ST_OK;
}

static enum status fixed_enlarge(struct blur_work *work, struct error *err) {
    enum { VALUE_ROWS = KERNEL_ENLARGE_HEIGHT / 2 + BLUR_TAPS_ENLARGE };
    struct fixed_enlargement pass = {0};
    unsigned blocks = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct blur_path *path = &work->path[p];
        if (path->stages > 0) {
            struct enlarge_plane *plane = &pass.plane[pass.planes++];
            plane->source = path->out[path->stages];
            plane->target = path->target;
            plane->levels_x = path->x.axis->levels;
            plane->levels_y = path->y.axis->levels;
            plane->tiles = gpu_launch_tiles(&plane->target, KERNEL_ENLARGE_WIDTH / path->plane->channels,
                                            KERNEL_ENLARGE_HEIGHT, KERNEL_ENLARGE_WIDTH, &blocks);
        }
    }
    enum kernel kernel = fixed_kernel(work, KERNEL_fixed_enlarge_1, KERNEL_fixed_enlarge_3);
    unsigned weights = KERNEL_ENLARGE_HEIGHT * BLUR_TAPS_ENLARGE * sizeof(uint32_t);
    unsigned shared = weights + VALUE_ROWS * KERNEL_ENLARGE_WIDTH * sizeof(uint16_t);
    return blocks > 0 ? launch_rows(work, kernel, &pass, blocks, KERNEL_ENLARGE_THREADS_Y, shared, err)
                      : ST_OK;
}

enum status blur_work_fixed(struct blur_work *work, struct error *err) {
    enum status status = fixed_wide(work, false, err);
    for (unsigned i = 0; i < BLUR_STAGES_MAX && status == ST_OK; i++) {
        status = fixed_reduce(work, i, err);
    }
    status = status == ST_OK ? fixed_wide(work, true, err) : status;
    return status == ST_OK ? fixed_enlarge(work, err) : status;
}
