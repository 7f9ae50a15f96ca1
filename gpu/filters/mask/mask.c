/* SPDX-License-Identifier: MIT */
#include "gpu/filters/mask/mask.h"

#include <stddef.h>

#include "core/bytes.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/mask/mask_kernels.h"
#include "gpu/stream/launch.h"

_Static_assert(sizeof(struct mask_plan_rect) == sizeof(struct kernel_rect) &&
                   offsetof(struct mask_plan_rect, y1) == offsetof(struct kernel_rect, y1) &&
                   offsetof(struct mask_plan_rect, region) == offsetof(struct kernel_rect, region),
               "kernels read what filters/mask/mask_plan.h says");
_Static_assert((int)FILL_MEAN == KERNEL_FILL_MEAN && (int)FILL_COLOUR == KERNEL_FILL_COLOUR &&
                   (int)FILL_RING == KERNEL_FILL_RING,
               "kernels know the fills of filters/argument/fill.h");

/* The parts of the memory. Sums, bounds and owners are set to 0 together. */
struct layout {
    size_t rects, sums, bounds, owners, turned, soft; /* offsets */
    size_t cleared;                                   /* bytes from `sums` on */
    size_t size;
    int32_t columns, rows; /* of blocks */
    uint32_t block_width, block_height;
};

static size_t take(struct layout *layout, size_t size) {
    size_t at = layout->size;
    layout->size = bytes_align_up(at + size, IMAGE_ALIGNMENT);
    return at;
}

static struct layout lay_out(const struct gpu_mask_job *job, const struct image_shape *shape) {
    const struct mask_plan *plan = job->plan;
    struct layout layout = {0};
    struct image image;
    struct image_shape upright = orient_shape(shape, job->orientation), mask = mask_plan_shape(&upright);
    size_t mask_bytes = image_layout(&image, &mask);
    mask_plan_grid(shape, &layout.block_width, &layout.block_height);
    layout.columns = (int32_t)((shape->width + layout.block_width - 1) / layout.block_width);
    layout.rows = (int32_t)((shape->height + layout.block_height - 1) / layout.block_height);
    layout.rects = take(&layout, mask_plan_list_bytes(plan));
    if (plan->redaction != MASK_PLAN_KEEP) {
        size_t regions = plan->redaction == MASK_PLAN_REGIONS ? plan->regions : 1;
        layout.sums = take(&layout, (regions + 1) * KERNEL_REDACT_SUMS * sizeof(uint64_t));
        layout.bounds = take(&layout, KERNEL_REDACT_BOUNDS * sizeof(uint32_t));
        layout.owners = take(&layout, (size_t)layout.columns * (size_t)layout.rows * sizeof(uint32_t));
        layout.cleared = layout.size - layout.sums;
    }
    layout.turned = take(&layout, orient_turns(job->orientation) ? mask_bytes : 0);
    layout.soft = take(&layout, plan->feather > 0 ? mask_bytes : 0);
    return layout;
}

/* Redaction of what is inside looks at the mask, too. */
static bool draws(const struct mask_plan *plan) {
    return plan->masks || plan->redaction == MASK_PLAN_INSIDE;
}

enum status gpu_mask_reserve(struct gpu_mask *mask, struct gpu_stream *stream, const struct gpu_mask_job *job,
                             const struct image_shape *shape, struct error *err) {
    const struct layout layout = lay_out(job, shape);
    const struct image_shape coverage = mask_plan_shape(shape);
    struct image image;
    enum status status = gpu_stream_reserve(stream, &mask->memory, layout.size, err);
    return status == ST_OK && draws(job->plan)
               ? gpu_stream_reserve(stream, &stream->mask, image_layout(&image, &coverage), err)
               : status;
}

/* One job on its stream. */
struct work {
    struct gpu_stream *stream;
    const struct gpu_mask_job *job;
    struct layout layout;
    CUdeviceptr memory;
    struct image mask; /* on the device */
    size_t mask_bytes;
};

static enum status upload(const struct work *work, CUdeviceptr to, const void *from, size_t size,
                          struct error *err) {
    return size > 0 ? gpu_stream_upload(work->stream, to, from, size, err) : ST_OK;
}

static enum status clear(const struct work *work, CUdeviceptr from, size_t size, struct error *err) {
    return gpu_stream_fill(work->stream, from, 0, size, err);
}

static enum status edit(const struct work *work, const struct image *soft, struct error *err) {
    struct mask_edit_pass pass = {.mask = gpu_launch_grid(&work->mask.plane[0], EDGE_CLAMP),
                                  .invert = soft == NULL};
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, 0};
    if (soft) {
        pass.soft = gpu_launch_grid(&soft->plane[0], EDGE_CLAMP);
    }
    pass.tiles =
        gpu_launch_tiles(&pass.mask, KERNEL_MASK_TILE_WIDTH, KERNEL_MASK_TILE_HEIGHT, 0, &blocks.count);
    return gpu_launch(work->stream, KERNEL_mask_edit, &pass, blocks, err);
}

/* The rectangles over zeros or weights. */
static enum status draw(const struct work *work, struct error *err) {
    const struct gpu_mask_job *job = work->job;
    struct mask_draw_pass pass = {.mask = gpu_launch_grid(&work->mask.plane[0], EDGE_CLAMP),
                                  .rects = work->memory + work->layout.rects};
    enum status status = job->plan->weighs
                             ? upload(work, work->stream->mask.data, job->weights, work->mask_bytes, err)
                             : clear(work, work->stream->mask.data, work->mask_bytes, err);
    if (status == ST_OK && job->plan->rects > 0) {
        struct gpu_blocks blocks = {job->plan->rects, KERNEL_THREADS_Y, 0};
        status = gpu_launch(work->stream, KERNEL_mask_draw, &pass, blocks, err);
    }
    bool inverts = job->plan->invert && job->plan->redaction == MASK_PLAN_KEEP;
    return status == ST_OK && inverts ? edit(work, NULL, err) : status;
}

static struct redact_pass redact_pass_of(const struct work *work, const struct image *picture) {
    const struct mask_plan *plan = work->job->plan;
    const struct layout *layout = &work->layout;
    const bool inside = plan->redaction == MASK_PLAN_INSIDE;
    struct redact_pass pass = {
        .rects = work->memory + layout->rects,
        .owners = work->memory + layout->owners,
        .sums = work->memory + layout->sums,
        .bounds = work->memory + layout->bounds,
        .planes = picture->plane_count,
        .columns = layout->columns,
        .rows = layout->rows,
        .block_width = (int32_t)layout->block_width,
        .block_height = (int32_t)layout->block_height,
        .parts = (layout->columns + KERNEL_REDACT_BLOCKS - 1) / KERNEL_REDACT_BLOCKS,
        .regions = inside ? 1 : (int32_t)plan->regions,
        .inside = inside,
        .invert = plan->invert,
        .look = plan->look,
        .fill = plan->fill,
        .colour = {plan->colour[0], plan->colour[1], plan->colour[2]},
    };
    if (inside) {
        pass.mask = gpu_launch_grid(&work->mask.plane[0], EDGE_CLAMP);
    }
    for (unsigned p = 0; p < picture->plane_count; p++) {
        const struct plane *plane = &picture->plane[p];
        pass.plane[p] =
            (struct redact_plane){gpu_launch_grid(plane, EDGE_CLAMP), plane->shift_x, plane->shift_y};
    }
    return pass;
}

/* Blocks of the JPEG get their owners, sums are made, and blocks with owners are filled. */
static enum status redact(const struct work *work, const struct image *picture, struct error *err) {
    const struct mask_plan *plan = work->job->plan;
    struct redact_pass pass = redact_pass_of(work, picture);
    const struct gpu_blocks all = {(unsigned)(pass.parts * pass.rows), KERNEL_THREADS_Y,
                                   KERNEL_REDACT_BLOCKS * 2 * sizeof(uint32_t) + sizeof(uint32_t)};
    const struct gpu_blocks listed = {plan->rects, KERNEL_THREADS_Y, all.shared};
    const struct gpu_blocks rings = {plan->rings, KERNEL_THREADS_Y, all.shared};
    enum status status = clear(work, pass.sums, work->layout.cleared, err);
    if (status == ST_OK && pass.inside) {
        status = gpu_launch(work->stream, KERNEL_redact_settle, &pass, all, err);
    }
    if (status == ST_OK && (!pass.inside || plan->fill == FILL_MEAN)) {
        status = gpu_launch(work->stream, KERNEL_redact_sums, &pass, pass.inside ? all : listed, err);
    }
    if (status == ST_OK && plan->fill == FILL_RING && (pass.inside || plan->rings > 0)) {
        pass.ring = FILL_RING_WIDTH;
        pass.rects += plan->rects * sizeof(struct kernel_rect);
        status = gpu_launch(work->stream, KERNEL_redact_sums, &pass, pass.inside ? all : rings, err);
    }
    return status == ST_OK ? gpu_launch(work->stream, KERNEL_redact_fill, &pass, all, err) : status;
}

/* Turns the mask upright. */
static enum status turn(struct work *work, struct error *err) {
    const uint8_t orientation = work->job->orientation;
    const struct image_shape stored = image_shape(&work->mask), upright = orient_shape(&stored, orientation);
    const struct image mask = work->mask;
    image_layout(&work->mask, &upright);
    image_place(&work->mask, (uint8_t *)(uintptr_t)(work->memory + work->layout.turned));
    return gpu_orient(work->stream, &mask, orientation, &work->mask, err);
}

/* Redacted pixels stay touched (server/picture/selection.c). */
static enum status feather(struct work *work, struct error *err) {
    const struct mask_plan *plan = work->job->plan;
    const struct image_shape shape = image_shape(&work->mask);
    struct image soft = work->mask;
    struct chain chain;
    image_place(&soft, (uint8_t *)(uintptr_t)(work->memory + work->layout.soft));
    enum status status = mask_plan_feather(&shape, plan->feather, &chain, err);
    if (status == ST_OK) {
        status = gpu_blur(work->stream, &chain.step[0].blur, &work->mask, &soft, err);
    }
    if (status == ST_OK && plan->redaction != MASK_PLAN_KEEP) {
        status = edit(work, &soft, err);
    }
    work->mask = soft;
    return status;
}

enum status gpu_mask_enqueue(struct gpu_mask *mask, struct gpu_stream *stream, const struct gpu_mask_job *job,
                             const struct image *picture, struct image *coverage, struct error *err) {
    const struct mask_plan *plan = job->plan;
    const struct image_shape shape = image_shape(picture), masked = mask_plan_shape(&shape);
    struct work work = {
        .stream = stream, .job = job, .layout = lay_out(job, &shape), .memory = mask->memory.data};
    work.mask_bytes = image_layout(&work.mask, &masked);
    enum status status =
        upload(&work, work.memory + work.layout.rects, job->rects, mask_plan_list_bytes(plan), err);
    if (status == ST_OK && draws(plan)) {
        image_place(&work.mask, (uint8_t *)(uintptr_t)stream->mask.data);
        status = draw(&work, err);
    }
    if (status == ST_OK && plan->redaction != MASK_PLAN_KEEP) {
        status = redact(&work, picture, err);
    }
    if (status == ST_OK && plan->masks && orient_turns(job->orientation)) {
        status = turn(&work, err);
    }
    if (status == ST_OK && plan->masks && plan->feather > 0) {
        status = feather(&work, err);
    }
    *coverage = work.mask;
    return status;
}
