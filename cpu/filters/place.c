/* SPDX-License-Identifier: MIT
 * Filters that copy pixels to other places: crop and rotate. */
#include "cpu/bands.h"
#include "cpu/filter.h"
#include "cpu/orient.h"

struct placing {
    const struct image *source; /* the part that is copied */
    const struct image *target;
    uint8_t orientation;
};

static void place_band(const void *context, const struct band *band) {
    const struct placing *all = context;
    const struct plane *source = &all->source->plane[band->plane];
    size_t size = (size_t)source->channels * (all->source->depth / 8);
    orient_rows(source, all->orientation, &all->target->plane[band->plane], size, band->from, band->to);
}

static enum status place(const struct cpu_context *context, const struct placing *all, struct error *err) {
    struct pass pass = {.band = place_band, .context = all, .deadline_ns = context->deadline_ns};
    for (unsigned i = 0; i < all->target->plane_count; i++) {
        const struct plane *plane = &all->target->plane[i];
        pass.rows[i] = plane->height;
        pass.cost[i] = (uint64_t)plane->width * plane->channels;
    }
    return bands_run(context->crew, bands_seats(context->crew, &pass, 0), &pass, err);
}

static enum status crop(const struct cpu_context *context, const void *plan, const struct image *source,
                        const struct image *target, struct error *err) {
    const struct image part = crop_view(plan, source);
    return place(context, &(struct placing){&part, target, 1}, err);
}

static enum status rotate(const struct cpu_context *context, const void *planned, const struct image *source,
                          const struct image *target, struct error *err) {
    const struct rotate_plan *plan = planned;
    return place(context, &(struct placing){source, target, (uint8_t)plan->orientation}, err);
}

const struct cpu_filter cpu_filter_crop = {.run = crop};
const struct cpu_filter cpu_filter_rotate = {.run = rotate};
