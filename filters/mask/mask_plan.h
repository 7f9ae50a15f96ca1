/* SPDX-License-Identifier: MIT
 * A mask, and the redaction before it, as a device with JPEG codecs makes them: plain data that can be sent
 * to any process, with a list of rectangles beside it. cpu/mask/mask.h and cpu/mask/redact.h define the
 * result, and all backends give the same bytes.
 *
 * The device draws the rectangles with 255 over zeros, or over weights. Without redaction it then inverts the
 * mask if asked. With MASK_PLAN_INSIDE it inverts it if asked, and rounds what is not 0 (inverted: not 255)
 * out to whole blocks of the JPEG, 8 samples of the most reduced plane a side; these are overwritten as one
 * region. With MASK_PLAN_REGIONS the rectangles are parts of such blocks' rows, and those of each region are
 * overwritten with a colour of their own. Last the mask is feathered.
 *
 * `fill` says what regions are overwritten with. For FILL_RING with MASK_PLAN_REGIONS a second list follows
 * the rectangles: the bounding rectangle of each region with its ring, and last, as of a region with the
 * number `regions`, that of all together, cut into rows of blocks. What is in no region counts there. With
 * MASK_PLAN_INSIDE the device finds the ring itself. */
#ifndef BLURD_FILTERS_MASK_MASK_PLAN_H
#define BLURD_FILTERS_MASK_MASK_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/image.h"
#include "core/status.h"
#include "filters/argument/fill.h"
#include "filters/chain.h"

enum {
    MASK_PLAN_RECTS_MAX = 32768,
    MASK_PLAN_REGIONS_MAX = 1024,
    MASK_PLAN_SIDE_MAX = UINT16_MAX, /* of a picture; a JPEG's */
    MASK_PLAN_BLOCK = 8,
};

enum mask_plan_redaction { MASK_PLAN_KEEP, MASK_PLAN_REGIONS, MASK_PLAN_INSIDE };

/* Columns x0 to x1 and rows y0 to y1, the latter excluded. With MASK_PLAN_REGIONS it lies in one row of
 * blocks, consists of whole blocks but for the picture's border, and overlaps no other of its region. */
struct mask_plan_rect {
    uint16_t x0, y0, x1, y1;
    uint16_t region; /* with MASK_PLAN_REGIONS, from 0: where several overlap, the last one shows */
    uint16_t reserved;
};

struct mask_plan {
    uint8_t masks;     /* 1: the mask limits the chain; 0: there is only redaction */
    uint8_t redaction; /* enum mask_plan_redaction */
    uint8_t invert;    /* 1: what is not in the rectangles; not with MASK_PLAN_REGIONS */
    uint8_t weighs;    /* 1: the rectangles are drawn over weights; not with MASK_PLAN_REGIONS */
    uint8_t fill;      /* enum fill_kind */
    uint8_t colour[3]; /* FILL_COLOUR: a sample for each plane; FILL_RING: where there is no ring */
    uint32_t rects;    /* with those of the rings MASK_PLAN_RECTS_MAX at most */
    uint32_t rings;    /* of the second list */
    uint32_t regions;  /* 1 to MASK_PLAN_REGIONS_MAX with MASK_PLAN_REGIONS, else 0 */
    uint32_t look;     /* side of the tiles of redact_options.block; 0: flat */
    double feather;    /* pixels; 0: none */
};

/* Bytes of the list of rectangles and rings. */
static inline size_t mask_plan_list_bytes(const struct mask_plan *plan) {
    return ((size_t)plan->rects + plan->rings) * sizeof(struct mask_plan_rect);
}

/* The sides in pixels of the blocks of a JPEG with planes of this shape. */
void mask_plan_grid(const struct image_shape *shape, uint32_t *width, uint32_t *height);

/* ST_INTERNAL when a number is out of bounds for a JPEG of this shape. */
enum status mask_plan_check(const struct mask_plan *plan, const struct image_shape *shape, struct error *err);

/* The shape of the mask of such a picture. */
struct image_shape mask_plan_shape(const struct image_shape *picture);

/* Makes the chain that feathers a mask of this shape: a Gaussian blur whose sigma is half of `feather`. */
enum status mask_plan_feather(const struct image_shape *mask, double feather, struct chain *chain,
                              struct error *err);

#endif
