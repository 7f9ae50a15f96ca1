/* SPDX-License-Identifier: MIT
 * What was found in the frames of an animation or a series, and is hidden in their neighbours, too. */
#ifndef BLURD_DETECT_HELD_FINDS_H
#define BLURD_DETECT_HELD_FINDS_H

#include "detect/held/tracks.h"

struct region_room; /* filters/argument/region.h */

enum { FINDS_MAX = TRACKS_MAX /* boxes that are found in a frame */ };

/* Boxes of a frame, whose upright picture has this size. */
struct finds {
    uint32_t width, height, count;
    struct track_box box[];
};

/* Boxes of a frame and its neighbours, and memory to make regions of them. */
struct held {
    uint32_t width, height, count; /* of the frame's upright picture; boxes */
    struct track_box *box;
    struct tracks *tracks;
    struct region_room *room; /* is lent to a set that has none */
};

/* Copies boxes for a frame of another size, scaled outwards to it. */
void finds_scale(const struct finds *finds, uint32_t width, uint32_t height, struct track_box *box);

#endif
