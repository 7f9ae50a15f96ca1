/* SPDX-License-Identifier: MIT
 * The weights of the columns of each plane and the background of a larger canvas come first. Groups of rows
 * are then made in bands. */
#include "core/numbers.h"
#include "filters/blur/cpu/blur.h"

#include <stdatomic.h>
#include <string.h>

#include "core/bytes.h"
#include "core/deadline.h"
#include "cpu/bands.h"
#include "filters/resize/cpu/resize_group.h"

static enum status run_resize(const struct cpu_context *context, const struct resize_plan *plan,
                              const struct image *source, const struct image *target, struct error *err);
static struct scratch_need resize_need(const struct row_set *rows, const struct resize_plan *plan,
                                       const struct image *source);

enum { TAPS_OF_BLUR = 8 }; /* taps of both axes together that cost as much as the blur of a sample */

struct resizing {
    const struct cpu_context *context;
    const struct resize_plan *plan;
    const struct image *target;
    struct resize_group group[IMAGE_PLANES_MAX];
    struct resize_columns columns[IMAGE_PLANES_MAX];
    uint8_t *memory; /* of the seats */
    size_t seat;
    atomic_bool *late; /* set at the deadline */
};

/* ---- columns ---- */

/* Lays the weights of a plane's columns over memory at `begin` (NULL: only counts); returns the bytes. */
static size_t place_columns(struct resize_columns *columns, const struct resize_group *group,
                            uint8_t *begin) {
    columns->most = (size_t)resize_taps_most(group->kernel, group->x.scale, (int32_t)group->source->width);
    size_t spans = bytes_align_up(group->x.count * sizeof(struct resize_span), IMAGE_ALIGNMENT);
    columns->span = (struct resize_span *)(void *)begin;
    columns->weight = begin ? (float *)(void *)(begin + spans) : NULL;
    return spans + bytes_align_up(group->x.count * columns->most * sizeof(float), IMAGE_ALIGNMENT);
}

static void fill_columns(struct resize_columns *columns, const struct resize_group *group) {
    for (uint32_t x = 0; x < group->x.count; x++) {
        columns->span[x] = resize_group_weights(columns->weight + x * columns->most, group->kernel, &group->x,
                                                group->source->width, x);
    }
}

/* The columns of the source that are read: positions ascend with those of the target. */
static void bound_columns(struct resize_columns *columns, const struct resize_group *group) {
    const int32_t size = (int32_t)group->source->width;
    struct resize_taps first = resize_taps_at(group->kernel, group->x.scale, group->x.begin, size, 0);
    struct resize_taps last =
        resize_taps_at(group->kernel, group->x.scale, group->x.begin, size, (int32_t)group->x.count - 1);
    columns->from = (uint32_t)first.from;
    columns->to = (uint32_t)last.to;
}

/* ---- planes ---- */

static bool same_columns(const struct resizing *all, unsigned a, unsigned b) {
    return all->group[a].source->shift_x == all->group[b].source->shift_x;
}

/* Fills everything but memory, and computes the need. */
static struct scratch_need prepare(struct resizing *all, const struct resize_plan *plan,
                                   const struct image *source, const struct image *target) {
    struct scratch_need need = {0, 0};
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *from = &source->plane[i], *to = &target->plane[i];
        struct resize_group *group = &all->group[i];
        *group = (struct resize_group){
            .source = from,
            .target = to,
            .format = {from->channels, source->depth, image_pixel_has_alpha(source->model)},
            .kernel = plan->kernel,
            .x = resize_plane_axis(&plan->x, from->shift_x, to->shift_x, to->width),
            .y = resize_plane_axis(&plan->y, from->shift_y, to->shift_y, to->height),
            .columns = &all->columns[i],
        };
        bound_columns(&all->columns[i], group);
        size_t columns = place_columns(&all->columns[i], group, NULL);
        need.shared += i == 2 && same_columns(all, 1, 2) ? 0 : columns;
        size_t seat = resize_group_bytes(group);
        need.seat = seat > need.seat ? seat : need.seat;
    }
    return need;
}

/* Both planes of chroma have the same columns. */
static void make_columns(struct resizing *all, unsigned planes, uint8_t *memory) {
    for (unsigned i = 0; i < planes; i++) {
        if (i == 2 && same_columns(all, 1, 2)) {
            all->columns[2] = all->columns[1];
        } else {
            memory += place_columns(&all->columns[i], &all->group[i], memory);
            fill_columns(&all->columns[i], &all->group[i]);
        }
    }
    all->memory = memory;
}

/* For the picture that covers the canvas, until it is blurred. */
static struct scratch_need blurred_need(const struct row_set *rows, const struct resize_plan *plan,
                                        const struct image *source, const struct image *target) {
    const struct resize_plan ground = resize_ground_plan(plan);
    const struct image_shape shape = image_shape(target);
    struct image canvas;
    size_t bytes = image_layout(&canvas, &shape);
    struct scratch_need resize = resize_need(rows, &ground, source);
    struct scratch_need blur = cpu_blur_need(rows, &plan->blur, target, false);
    return (struct scratch_need){bytes + max_size(resize.shared, blur.shared),
                                 max_size(resize.seat, blur.seat)};
}

static struct scratch_need resize_need(const struct row_set *rows, const struct resize_plan *plan,
                                       const struct image *source) {
    struct resizing all;
    struct image target;
    struct image_shape shape = image_shape(source);
    filter_resize.result(plan, &shape);
    image_layout(&target, &shape);
    struct scratch_need need = prepare(&all, plan, source, &target);
    if (resize_is_blurred(plan)) {
        struct scratch_need ground = blurred_need(rows, plan, source, &target);
        need = (struct scratch_need){max_size(need.shared, ground.shared), max_size(need.seat, ground.seat)};
    }
    return need;
}

/* ---- background ---- */

/* Writes a pixel, and then copies what is there. */
static void fill_samples(uint8_t *to, const uint16_t *colour, const struct row_format *format,
                         size_t pixels) {
    size_t sample = format->depth / 8, done = sample * format->channels, end = pixels * done;
    for (unsigned c = 0; c < format->channels && pixels > 0; c++) {
        if (format->depth == 8) {
            to[c] = (uint8_t)colour[c];
        } else {
            memcpy(to + c * sample, &colour[c], sample);
        }
    }
    for (size_t more; done < end; done += more) {
        more = done < end - done ? done : end - done;
        memcpy(to + done, to, more);
    }
}

static void ground_band(const void *context, const struct band *band) {
    const struct resizing *all = context;
    const struct resize_group *group = &all->group[band->plane];
    const uint16_t *colour = &all->plan->colour[band->plane]; /* the only plane has all channels */
    const struct plane *target = group->target;
    size_t pixel = (size_t)group->format.channels * (group->format.depth / 8);
    for (uint32_t y = band->from; y < band->to; y++) {
        uint8_t *row = plane_row(target, y);
        if (y < group->y.first || y - group->y.first >= group->y.count) {
            fill_samples(row, colour, &group->format, target->width);
            continue;
        }
        uint32_t end = group->x.first + group->x.count;
        fill_samples(row, colour, &group->format, group->x.first);
        fill_samples(row + end * pixel, colour, &group->format, target->width - end);
    }
}

static enum status fill_background(const struct resizing *all, struct error *err) {
    struct pass pass = {.band = ground_band, .context = all, .deadline_ns = all->context->deadline_ns};
    for (unsigned i = 0; i < all->target->plane_count; i++) {
        pass.rows[i] = all->target->plane[i].height;
        pass.cost[i] = (uint64_t)all->target->plane[i].width * all->target->plane[i].channels;
    }
    return bands_run(all->context->crew, bands_seats(all->context->crew, &pass, 0), &pass, err);
}

/* Covers the canvas with the picture and blurs that into the target. */
static enum status blur_background(const struct resizing *all, const struct image *source,
                                   struct error *err) {
    const struct cpu_context *context = all->context;
    const struct resize_plan ground = resize_ground_plan(all->plan);
    const struct scratch_need need = blurred_need(context->rows, all->plan, source, all->target);
    const struct image_shape shape = image_shape(all->target);
    struct image canvas;
    size_t bytes = image_layout(&canvas, &shape);
    enum status status = producer_make(context->producer, err);
    status = status == ST_OK ? scratch_reserve(context->scratch, scratch_need_bytes(&need, 1), err) : status;
    if (status != ST_OK) {
        return status;
    }
    struct scratch rest = {context->scratch->memory + bytes, context->scratch->size - bytes, true};
    const struct cpu_context own = {
        .rows = context->rows, .scratch = &rest, .crew = context->crew, .deadline_ns = context->deadline_ns};
    image_place(&canvas, context->scratch->memory);
    status = run_resize(&own, &ground, source, &canvas, err);
    return status == ST_OK ? cpu_blur(&own, &all->plan->blur, &canvas, all->target, err) : status;
}

/* ---- picture ---- */

/* The end of the rows of the target that groups below `to` make, less those above the picture. */
static uint32_t group_end(const struct resize_group *group, uint32_t to) {
    uint32_t end = to * RESIZE_ROWS;
    return end < group->y.count ? end : group->y.count;
}

/* The rows of the band are groups. */
static void resize_band(const void *context, const struct band *band) {
    const struct resizing *all = context;
    const struct cpu_row_done *done = all->context->done;
    const struct resize_group *group = &all->group[band->plane];
    for (uint32_t i = band->from; i < band->to && !atomic_load(all->late); i++) {
        if (!resize_group_run(group, i, all->memory + band->seat * all->seat)) {
            atomic_store(all->late, true);
        }
        for (uint32_t y = group_end(group, i); done && y < group_end(group, i + 1); y++) {
            done->row(done->context, band->plane, group->y.first + y);
        }
    }
}

/* Rows of the picture that groups below `to` read: positions ascend with those of the target. */
static uint32_t reach(const void *context, unsigned plane, uint32_t to) {
    const struct resize_group *group = &((const struct resizing *)context)->group[plane];
    const struct resize_taps taps =
        resize_taps_at(group->kernel, group->y.scale, group->y.begin, (int32_t)group->source->height,
                       (int32_t)group_end(group, to) - 1);
    return taps.to < taps.size ? (uint32_t)taps.to << group->source->shift_y : UINT32_MAX;
}

/* Rows of the result that are there once groups below `to` are made. */
static uint32_t makes(const void *context, unsigned plane, uint32_t to) {
    const struct resize_group *group = &((const struct resizing *)context)->group[plane];
    uint32_t end = group_end(group, to);
    return end < group->y.count ? (group->y.first + end) << group->target->shift_y : UINT32_MAX;
}

/* The cost of a group, relative to the blur of its samples. */
static uint64_t group_cost(const struct resize_group *group) {
    uint64_t columns = group->columns->to - group->columns->from;
    uint64_t down = (uint64_t)resize_taps_most(group->kernel, group->y.scale, (int32_t)group->source->height);
    uint64_t along = group->columns->most;
    uint64_t rows = group->y.count < RESIZE_ROWS ? group->y.count : RESIZE_ROWS;
    return group->format.channels * rows * (columns * down + group->x.count * along) / TAPS_OF_BLUR;
}

static enum status make_background(const struct resizing *all, const struct image *source,
                                   struct error *err) {
    return resize_is_blurred(all->plan)       ? blur_background(all, source, err)
           : resize_has_background(all->plan) ? fill_background(all, err)
                                              : ST_OK;
}

static enum status run_resize(const struct cpu_context *context, const struct resize_plan *plan,
                              const struct image *source, const struct image *target, struct error *err) {
    atomic_bool late = false;
    struct resizing all = {.context = context, .plan = plan, .target = target, .late = &late};
    const struct scratch_need need = prepare(&all, plan, source, target);
    struct pass pass = {.band = resize_band,
                        .context = &all,
                        .least = 1,
                        .deadline_ns = context->deadline_ns,
                        .progress = context->progress,
                        .makes = makes};
    for (unsigned i = 0; i < source->plane_count; i++) {
        all.group[i].rows = context->rows;
        all.group[i].deadline_ns = context->deadline_ns;
        pass.rows[i] = (all.group[i].y.count + RESIZE_ROWS - 1) / RESIZE_ROWS;
        pass.cost[i] = group_cost(&all.group[i]);
    }
    unsigned seats = bands_seats(context->crew, &pass, need.seat);
    enum status status = make_background(&all, source, err);
    status = status == ST_OK ? scratch_seats(context->scratch, &need, &seats, err) : status;
    if (status == ST_OK) {
        all.seat = need.seat;
        make_columns(&all, source->plane_count, context->scratch->memory);
    }
    const struct producer *producer =
        resize_is_blurred(plan) ? NULL : context->producer; /* it has made all */
    if (status == ST_OK && (producer || (context->progress && seats == 1))) {
        status = bands_follow(context->crew, seats, &pass, reach, producer, err);
    } else if (status == ST_OK) {
        status = bands_run(context->crew, seats, &pass, err);
    }
    return status == ST_OK && atomic_load(&late) ? deadline_check(context->deadline_ns, err) : status;
}

static enum status run(const struct cpu_context *context, const void *plan, const struct image *source,
                       const struct image *target, struct error *err) {
    return run_resize(context, plan, source, target, err);
}

static struct scratch_need need(const struct row_set *rows, const void *plan, const struct image *source) {
    return resize_need(rows, plan, source);
}

static bool reports(const void *plan) {
    return !resize_has_background(plan);
}

const struct cpu_filter cpu_filter_resize = {.run = run, .need = need, .reports = reports, .follows = true};
