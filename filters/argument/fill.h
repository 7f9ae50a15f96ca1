/* SPDX-License-Identifier: MIT
 * What replaces the content of a region before the filters run, as a request says it:
 *
 *     mean                   16 levels of the region's own mean
 *     tiles                  the same level in tiles, a little lighter or darker, which look like a mosaic
 *     ring                   the mean of pixels around it
 *     rrggbb, #rrggbbaa      a colour
 *
 * cpu/mask/redact.h defines each. Thread-safe. */
#ifndef BLURD_FILTERS_ARGUMENT_FILL_H
#define BLURD_FILTERS_ARGUMENT_FILL_H

#include <stdint.h>

#include "core/status.h"

enum fill_kind { FILL_MEAN, FILL_COLOUR, FILL_RING, FILL_KINDS };

enum { FILL_TILE_SIDE = 16 }; /* pixels */
enum { FILL_RING_WIDTH = 8 }; /* pixels around a region's bounding rectangle; whole samples of all planes */

struct fill {
    uint8_t kind;      /* enum fill_kind */
    uint8_t colour[4]; /* FILL_COLOUR: red, green, blue, alpha in sRGB; FILL_RING: where there is no ring */
    uint8_t tiles;     /* 1: FILL_MEAN draws its level as tiles, whatever the filter is; other kinds: 0 */
};

/* Parses a fill. ST_ARGUMENT names the parameter `name` and what is allowed, with *fill untouched. */
enum status fill_parse(struct fill *fill, const char *name, const char *text, struct error *err);

#endif
