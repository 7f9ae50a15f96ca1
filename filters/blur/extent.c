/* SPDX-License-Identifier: MIT */
#include "filters/blur/extent.h"

/* Rounds down, also below 0. */
static ptrdiff_t shift_down(ptrdiff_t value, unsigned shift) {
    return value >> shift;
}

static ptrdiff_t shift_up(ptrdiff_t value, unsigned shift) {
    return -shift_down(-value, shift);
}

struct span extent_needed(const struct extent *extent, unsigned i) {
    if (i >= extent->stages) {
        return extent->span[i + 1];
    }
    ptrdiff_t step = 1 << extent->stage[i].shift;
    ptrdiff_t radius = extent->stage[i].radius;
    struct span yields = extent->span[i + 1];
    return (struct span){yields.lo * step - radius, yields.hi * step + radius};
}

static void constant_spans(struct extent *extent) {
    for (unsigned i = 0; i < BLUR_STAGES_MAX; i++) {
        struct span span = extent->span[i];
        if (i < extent->stages) {
            const struct blur_stage *stage = &extent->stage[i];
            span.lo = shift_down(span.lo - stage->radius, stage->shift);
            span.hi = shift_up(span.hi + stage->radius, stage->shift);
        }
        extent->span[i + 1] = span;
    }
}

/* Period of the samples that stage i reads. Reducing by a power of two divides the period by the factors of
 * two that both have in common. */
static ptrdiff_t period_of(const struct extent *extent, unsigned i) {
    ptrdiff_t period = extent->edge == EDGE_WRAP ? extent->size : 2 * (extent->size - 1);
    for (unsigned k = 0; k < i && k < extent->stages; k++) {
        for (unsigned halvings = 0; halvings < extent->stage[k].shift && period % 2 == 0; halvings++) {
            period /= 2;
        }
    }
    return period;
}

/* One period, where the span holds one. */
static struct span fold(const struct extent *extent, unsigned i, struct span span) {
    struct span whole = {0, period_of(extent, i) - 1};
    return span.lo <= whole.lo && span.hi >= whole.hi ? whole : span;
}

static void periodic_spans(struct extent *extent) {
    struct span reach = {extent->blurred.lo - extent->axis->radius,
                         extent->blurred.hi + extent->axis->radius};
    extent->span[BLUR_STAGES_MAX] = extent->stages > 0 ? fold(extent, BLUR_STAGES_MAX, reach) : reach;
    for (unsigned i = BLUR_STAGES_MAX; i-- > 0;) {
        struct span needed = extent_needed(extent, i);
        extent->span[i] = i > 0 && extent->stages > 0 ? fold(extent, i, needed) : needed;
    }
}

void extent_init(struct extent *extent, const struct blur_axis *axis, enum edge edge, uint32_t size) {
    bool periodic = edge == EDGE_MIRROR || edge == EDGE_WRAP;
    *extent = (struct extent){.axis = axis, .edge = periodic && size == 1 ? EDGE_CLAMP : edge, .size = size};
    extent->stages = blur_stages(axis->levels, extent->stage);
    ptrdiff_t last = (ptrdiff_t)size - 1;
    extent->blurred = axis->levels ? (struct span){-1, (last >> axis->levels) + 2} : (struct span){0, last};
    if (extent_repeats(extent)) {
        periodic_spans(extent);
        return;
    }
    extent->span[0] = extent->edge == EDGE_ZERO ? (struct span){-1, last + 1} : (struct span){0, last};
    constant_spans(extent);
}

bool extent_repeats(const struct extent *extent) {
    return extent->edge == EDGE_MIRROR || extent->edge == EDGE_WRAP;
}

ptrdiff_t extent_kept(const struct extent *extent, unsigned i, ptrdiff_t at) {
    struct span span = extent->span[i];
    if (!extent_repeats(extent)) {
        return span_clamp(span, at);
    }
    ptrdiff_t length = (ptrdiff_t)span_length(span), rest = (at - span.lo) % length;
    return span.lo + (rest < 0 ? rest + length : rest);
}

ptrdiff_t extent_source(const struct extent *extent, ptrdiff_t at) {
    return edge_source(extent->edge, extent->size, at);
}
