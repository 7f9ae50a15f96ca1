/* SPDX-License-Identifier: MIT
 * Redaction: what lies in a region is replaced, before any filter runs, by a colour that says next to
 * nothing about it. Irreversible by construction.
 *
 * The guarantee. The result depends on what was in a region only through one mean colour, of which
 * each channel is one of 16 levels: at most 4 bits for grey, 8 with alpha, 12 for RGB and YCbCr, 16 for RGBA.
 * Two pictures that differ in a region alone, and have the same levels there, give the same bytes; outside
 * of the regions nothing changes.
 *
 * What is in a region is every pixel that its shape touches, rounded out to blocks (`outward` in
 * cpu/mask/mask.h), and every reduced sample that covers such a pixel. A JPEG has spread each pixel over its
 * block: the grid must be that of the blocks (8 times the sampling factors) for the guarantee to hold for the
 * scene, and not only for the decoded samples. Where the decoder has interpolated reduced colour across
 * blocks, the pixels that depend on a neighbour belong to the region: the grid's margin.
 *
 * The mean of all regions is taken from the original, then they are filled in order: where they overlap, the
 * last one shows. Levels, from the mean rounded to nearest, colours weighted by alpha:
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
#include "filters/region.h"

struct redact_options {
    bool invert;    /* what is in no region is one region, and the only one */
    uint32_t block; /* look: side in pixels of tiles that are a little lighter or darker by a hash of their
                       place; 0: flat */
    struct mask_grid grid; /* blocks that regions are rounded out to */
    int64_t deadline_ns;   /* CLOCK_MONOTONIC; looked at every few rows; 0: none */
};

/* Redacts `image`, of any model and depth, in place. No region: the whole picture is one, inverted or not.
 * `mask` is lent for the time of the call: 8-bit PIXEL_GRAY of the picture's size; its content is undefined
 * after. ST_INTERNAL, and the image unchanged, when it is not. ST_LIMIT, and the image useless, at the
 * deadline. Thread-safe for different pictures. */
enum status redact_image(const struct image *image, const struct region_set *set,
                         const struct redact_options *options, const struct image *mask, struct error *err);

#endif
