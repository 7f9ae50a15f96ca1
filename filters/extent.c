/* SPDX-License-Identifier: MIT */
#include "filters/extent.h"

/* Rounds down, also below 0, as an arithmetic shift does with every compiler we know. */
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

/* A sample is constant as soon as all of its taps are. */
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

static void periodic_spans(struct extent *extent) {
    struct span reach = {extent->blurred.lo - extent->axis->radius,
                         extent->blurred.hi + extent->axis->radius};
    extent->span[BLUR_STAGES_MAX] = reach;
    for (unsigned i = BLUR_STAGES_MAX; i-- > 0;) {
        extent->span[i] = extent_needed(extent, i);
    }
}

void extent_init(struct extent *extent, const struct blur_axis *axis, enum edge edge, uint32_t size) {
    bool periodic = edge == EDGE_MIRROR || edge == EDGE_WRAP;
    *extent = (struct extent){.axis = axis, .edge = periodic && size == 1 ? EDGE_CLAMP : edge, .size = size};
    extent->stages = blur_stages(axis->levels, extent->stage);
    ptrdiff_t last = (ptrdiff_t)size - 1;
    extent->blurred = axis->levels ? (struct span){-1, (last >> axis->levels) + 2} : (struct span){0, last};
    if (extent->edge == EDGE_MIRROR || extent->edge == EDGE_WRAP) {
        periodic_spans(extent);
        return;
    }
    extent->span[0] = extent->edge == EDGE_ZERO ? (struct span){-1, last + 1} : (struct span){0, last};
    constant_spans(extent);
}

ptrdiff_t extent_source(const struct extent *extent, ptrdiff_t at) {
    return edge_source(extent->edge, extent->size, at);
}
