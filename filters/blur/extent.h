/* SPDX-License-Identifier: MIT
 * Positions of the samples of one axis through the stages of a blur.
 *
 * The edge mode extends the picture without end, so each stage yields samples outside the picture, too. Under
 * EDGE_CLAMP and EDGE_ZERO these become constant a few samples outside: a short span is kept, and positions
 * beyond it read its ends. Under EDGE_MIRROR and EDGE_WRAP the span is as long as later stages reach, but one
 * period at most, from position 0 on; positions beyond it read the period again, whose samples are equal to
 * the bit. So a stage keeps at most twice a period, however far the blur reaches (docs/adr/0024). */
#ifndef BLURD_FILTERS_BLUR_EXTENT_H
#define BLURD_FILTERS_BLUR_EXTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "filters/blur/blur.h"

/* Positions lo to hi, both included. */
struct span {
    ptrdiff_t lo;
    ptrdiff_t hi;
};

static inline size_t span_length(struct span span) {
    return (size_t)(span.hi - span.lo + 1);
}

static inline ptrdiff_t span_clamp(struct span span, ptrdiff_t at) {
    return at < span.lo ? span.lo : at > span.hi ? span.hi : at;
}

struct extent {
    const struct blur_axis *axis;
    enum edge edge; /* EDGE_CLAMP instead of mirror and wrap where the side is 1 */
    ptrdiff_t size; /* samples of the picture */
    unsigned stages;
    struct blur_stage stage[BLUR_STAGES_MAX];
    struct span span[BLUR_STAGES_MAX + 1]; /* [i]: kept before stage i; the same from [stages] on */
    struct span blurred;                   /* positions that the low-resolution filter yields */
};

void extent_init(struct extent *extent, const struct blur_axis *axis, enum edge edge, uint32_t size);

/* The sample of the picture that position `at` reads, or OUTSIDE for the border colour. */
ptrdiff_t extent_source(const struct extent *extent, ptrdiff_t at);

/* Whether positions outside read the picture again. */
bool extent_repeats(const struct extent *extent);

/* The position in span[i], 0 < i, that holds the sample of position `at`. */
ptrdiff_t extent_kept(const struct extent *extent, unsigned i, ptrdiff_t at);

/* The input positions from which stage `i` yields span[i + 1]; span[i] where there is no such stage. */
struct span extent_needed(const struct extent *extent, unsigned i);

#endif
