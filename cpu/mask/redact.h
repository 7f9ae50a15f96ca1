/* SPDX-License-Identifier: MIT
 * Redaction replaces a region, before any filter runs, by a colour that reveals next to nothing about it. It
 * is irreversible by construction.
 *
 * The guarantee. With FILL_COLOUR and FILL_RING the result does not depend on a region's pixels at all. With
 * FILL_MEAN it depends on one mean colour, of which each channel is one of 16 levels: at most 4 bits for
 * grey, 8 with alpha, 12 for RGB and YCbCr, 16 for RGBA. Two pictures that differ only in a region, and with
 * FILL_MEAN have the same levels there, give the same bytes. Nothing outside of the regions changes.
 *
 * A region consists of every pixel that its shape touches, rounded out to blocks (`outward` in
 * cpu/mask/mask.h), and every reduced sample that covers such a pixel. A JPEG spreads each pixel over its
 * block: the grid must be that of the blocks (8 times the sampling factors) for the guarantee to hold for the
 * scene, and not only for the decoded samples. Where the decoder interpolates reduced colour across blocks,
 * the pixels that depend on a neighbour belong to the region: the grid's margin.
 *
 * All colours are taken from the original. Regions are then filled in order, so the last one shows where
 * they overlap. Means are rounded to nearest, colours weighted by alpha.
 *
 * FILL_RING is the mean of the samples in the ring: the bounding rectangle of the region's pixels and
 * FILL_RING_WIDTH pixels around it, without all pixels of all regions, so that none of another region counts
 * either. A ring may have no samples of a channel: other regions enclose the region, or all its pixels are
 * transparent. The channel is then the mean of the ring around all regions together. If that has none either,
 * it is that of fill.colour.
 *
 * FILL_MEAN has the levels of the region's own mean:
 *
 *     grey, red, green, blue, Y     the middle of 16 equal bins: mean / 16 * 16 + 8 at 8 bits
 *     Cb, Cr                        the nearest multiple of 16, 240 at most, so that grey stays grey
 *     alpha                         the nearest multiple of 17 (4369 at 16 bits), so that opaque stays opaque
 */
#ifndef BLURD_CPU_MASK_REDACT_H
#define BLURD_CPU_MASK_REDACT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"
#include "core/status.h"
#include "cpu/mask/mask.h"
#include "filters/argument/fill.h"
#include "filters/argument/region.h"

struct redact_options {
    struct fill fill;
    bool invert;               /* the pixels in no region form the only region */
    const struct image *drawn; /* a mask drawn `outward`: its pixels form the only region, the set is not
                                  looked at; NULL: none */
    uint32_t block; /* look: side in pixels of tiles that are a little lighter or darker by a hash of their
                       place; 0: flat */
    struct mask_grid grid; /* blocks that regions are rounded out to */
    int64_t deadline_ns;   /* CLOCK_MONOTONIC; looked at every few rows; 0: none */
};

/* Redacts `image`, of any model and depth, in place. Without regions the whole picture is one, inverted or
 * not. `mask` is lent during the call: 8-bit PIXEL_GRAY of the picture's size, undefined afterwards.
 * ST_INTERNAL, with the image unchanged, for another mask; ST_LIMIT, with the image useless, at the deadline.
 * Thread-safe for different pictures. */
enum status redact_image(const struct image *image, const struct region_set *set,
                         const struct redact_options *options, const struct image *mask, struct error *err);

/* Sets the colours of pixels that are less than a tenth opaque to 0, and leaves alpha. They cannot be seen,
 * so nothing can be found in them, but programs that leave out alpha show them. Pictures without alpha stay
 * as they are. */
void redact_faint(const struct image *picture);

#endif
