/* SPDX-License-Identifier: MIT */
#include "cpu/place.h"

#include "cpu/bands.h"
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

enum status place(const struct cpu_context *context, const struct image *source, uint8_t orientation,
                  const struct image *target, struct error *err) {
    const struct placing all = {source, target, orientation};
    struct pass pass = {.band = place_band, .context = &all, .deadline_ns = context->deadline_ns};
    for (unsigned i = 0; i < all.target->plane_count; i++) {
        const struct plane *plane = &all.target->plane[i];
        pass.rows[i] = plane->height;
        pass.cost[i] = (uint64_t)plane->width * plane->channels;
    }
    return bands_run(context->crew, bands_seats(context->crew, &pass, 0), &pass, err);
}
