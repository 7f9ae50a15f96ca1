/* SPDX-License-Identifier: MIT
 * Regions as a mask: an 8-bit PIXEL_GRAY picture of the picture's size, 255 inside, 0 outside.
 *
 * The rule. Pixel (i, j) is the square from (i, j) to (i + 1, j + 1), its centre is (i + 0.5, j + 0.5).
 * Places of the shapes are those of filters/argument/region.h, in double precision. A pixel is inside a shape
 * when its centre is:
 *
 *     rectangle   x0 <= cx < x1 and y0 <= cy < y1
 *     ellipse     |cy - my| < ry and mx - h <= cx < mx + h, where h = rx sqrt(1 - ((cy - my) / ry)²)
 *     polygon     the edges that cross the line of the centre, those with y0 <= cy < y1 (y0 < y1: its ends),
 * do so at x = x0 + (cy - y0) (x1 - x0) / (y1 - y0); the winding number of the centre, summed over the
 * crossings x <= cx, is not 0
 *
 * so that shapes which share a border neither overlap nor leave a gap. The mask is the union of the shapes;
 * `invert` exchanges inside and outside.
 *
 * A mask may be drawn over a picture of weights that it holds already: the larger value counts, and `invert`
 * takes both from 255.
 *
 * With `outward`, for redaction, a pixel is inside as soon as the shape and the square have area in common;
 * it may take in a pixel that is missed by less than a millionth. Inverted, a pixel is outside only when the
 * square lies in one of the shapes: what is not in them is touched. Weights count as inside when they are not
 * 0, and inverted when they are not 255. The result is then rounded out to whole
 * blocks of `grid`: a block with a pixel inside is inside as a whole, and so is the grid's margin around it.
 *
 * Nothing here allocates; masks of different memory may be drawn at the same time. */
#ifndef BLURD_CPU_MASK_MASK_H
#define BLURD_CPU_MASK_MASK_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/mask/mask_shape.h"
#include "filters/backend.h"

/* Blocks of width x height pixels; one has its top left corner at (left, top), since the blocks of a mirrored
 * JPEG do not start at 0. left < width, top < height. Sides of 0 count as 1. margin_x columns and margin_y
 * rows around the blocks are inside, too: their pixels were decoded with the help of their neighbours. */
struct mask_grid {
    uint32_t width, height;
    uint32_t left, top;
    uint32_t margin_x, margin_y;
};

struct mask_options {
    bool invert;
    bool outward;
    bool over;             /* the mask holds weights, over which the regions are drawn */
    struct mask_grid grid; /* with outward only */
    int64_t deadline_ns;   /* core/deadline.h; looked at between the regions */
};

enum mask_place {
    MASK_WHOLE, /* all of it lies in the picture */
    MASK_CUT,   /* the picture's border cuts it */
    MASK_OFF,   /* no pixel is inside: it lies off the picture, or between the centres of pixels */
};

struct mask_report {
    uint8_t place[REGIONS_MAX]; /* enum mask_place of each region, before invert and grid */
    struct mask_rect bounds;    /* around the pixels that are not 0 */
    uint64_t covered;           /* pixels that are not 0 */
};

/* Draws all regions into `mask`, whose content is undefined but for `over`. Without both no pixel is inside
 * (inverted: all are). ST_LIMIT at the deadline. */
enum status mask_draw(const struct image *mask, const struct region_set *set,
                      const struct mask_options *options, struct mask_report *report, struct error *err);

/* Which pixels of a shape count with these options. */
enum mask_rule mask_rule_of(const struct mask_options *options);

/* The place of a region whose pixels are all in `drawn`. */
enum mask_place mask_place_of(const struct mask_shape_size *size, const struct region_set *set,
                              uint32_t index, struct mask_rect drawn);

/* Draws only region `index`, ignoring invert, over a mask of zeros. Returns a rectangle around it for
 * mask_clear. */
struct mask_rect mask_draw_region(const struct image *mask, const struct region_set *set, uint32_t index,
                                  const struct mask_options *options);

/* Fills bounds and covered of *report for the part of the mask within a rectangle. Another process may change
 * the pixels meanwhile. */
void mask_measure(const struct image *mask, struct mask_rect within, struct mask_report *report);

/* Sets a rectangle of the mask to 0. */
void mask_clear(const struct image *mask, struct mask_rect rect);

/* Feathering of the borders of a mask. */
struct mask_feathering {
    double feather;         /* pixels, 0.2 to 1000: a Gaussian of half of that as sigma */
    struct lane *lane;      /* of the CPU backend */
    struct crew *crew;      /* NULL: none helps */
    int64_t deadline_ns;    /* core/deadline.h */
    struct working working; /* mask_feather_bytes at least; without memory the lane takes its own */
};

/* Blurs `mask` into `soft` (same size, no overlap). The border's middle becomes half; from 2.5 feather + 2
 * pixels away the mask is exactly 0 or 255. Replaces bounds and covered of *report. ST_BUSY without memory,
 * ST_LIMIT at the deadline. */
enum status mask_feather(const struct mask_feathering *how, const struct image *mask,
                         const struct image *soft, struct mask_report *report, struct error *err);

/* Working memory of mask_feather on one thread for a mask of that shape. */
size_t mask_feather_bytes(const struct backend *cpu, const struct image_shape *mask, double feather);

/* Copies the pixels where the mask is 0 from `source` to `target`: interleaved, of the same shape and the
 * mask's size. The crew (NULL: none) helps; ST_LIMIT at the deadline. */
enum status mask_restore(struct crew *crew, int64_t deadline_ns, const struct image *target,
                         const struct image *source, const struct image *mask, struct error *err);

#endif
