/* SPDX-License-Identifier: MIT
 * Regions in JSON, as detectors give them:
 *
 *     {"unit": "ratio", "margin": 20, "threshold": 0.5, "labels": ["face"], "width": 640, "height": 480,
 *      "regions": [{"box": [x, y, w, h], "score": 0.9, "label": "face", "margin": 0},
 *                  {"corners": [x1, y1, x2, y2]}, {"ellipse": [x, y, w, h]},
 *                  {"polygon": [[x, y], [x, y], [x, y]]}, {"x": 1, "y": 2, "width": 3, "height": 4}]}
 *
 * or the array alone. Every name but `regions` may be missing. Arrays with the names of detectors, such as
 * `faces`, are read like `regions`, and entries may have `landmarks`, and a `polygon` beside a box, both of
 * which are passed over, so that an answer of /detect is a list, too. So is one of /redact?plan=true:
 * `sha256` is that of the picture's file, which the caller checks, with `clear_transparent` nearly
 * transparent pixels lose their colour, and the array `doubtful` and each `origin` are passed over. Numbers
 * are those of the upright picture, whose size must be `width` and `height` if these are given. Boxes may
 * reach beyond the picture. `margin` is the percentage of its width and height by which a box or ellipse
 * grows on each side. Entries with a score below `threshold`, or with a label that is not in `labels`, are
 * left out. A box with
 * `"keep": true` is no region, but a rectangle that a search does not hide; the list's margin is not for it.
 *
 * docs/api/regions.md has the limits. Every name is read once, and unknown names are refused. */
#ifndef BLURD_FILTERS_ARGUMENT_REGION_LIST_H
#define BLURD_FILTERS_ARGUMENT_REGION_LIST_H

#include "core/bytes.h"
#include "filters/argument/region_keep.h"

enum {
    REGION_LIST_BYTES_MAX = 1 << 20,
    REGION_LIST_ENTRIES_MAX = 16384, /* entries of the list; the ones that are left out count, too */
};

enum { REGION_LIST_SHA256 = 32 };

/* What the list says of its picture. */
struct region_list_about {
    uint32_t width, height; /* 0: the list does not name it */
    bool hashed;            /* it names the file's SHA-256 */
    uint8_t sha256[REGION_LIST_SHA256];
    bool clear_transparent; /* colours of nearly transparent pixels have to go (cpu/mask/redact.h) */
    bool invert;            /* the regions are what stays */
    bool pixels;            /* the picture is filtered in pixels, even if its planes could be */
    bool ruled;             /* a unit, margin, threshold or labels change what its entries say */
};

/* Appends the regions of the list to a set that has room, and its entries with `"keep": true` to `keep`.
 * ST_ARGUMENT names the parameter `regions`, the entry and the broken rule; both are then useless. */
enum status region_list_parse(struct region_set *set, struct region_keep *keep, struct bytes text,
                              struct region_list_about *about, struct error *err);

#endif
