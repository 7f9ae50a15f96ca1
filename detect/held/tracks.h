/* SPDX-License-Identifier: MIT
 * Boxes of neighbouring frames that are about the same thing. What is found in a frame is hidden in the
 * frames around it, too; a thing that stays where it is gets one box for all of them, so that its border does
 * not flicker.
 *
 * The boxes of a window of frames become tracks, from the first frame to the last: each box continues the
 * track of its kind whose last box it overlaps most, if both share half of what they cover together. A track
 * is still where each of its boxes covers three quarters of the rectangle around all of them: one box around
 * them takes their place. The boxes of other tracks stay as they are. Only where that would be too many, one
 * rectangle takes the place of each track. So what was covered stays covered, by whole numbers alone. */
#ifndef BLURD_DETECT_HELD_TRACKS_H
#define BLURD_DETECT_HELD_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum {
    TRACKS_UNIT = 16, /* parts of a pixel in which boxes lie */
    TRACKS_MAX = 1024,
    TRACKS_SIDE_MAX = 1 << 26, /* units: no edge is further from 0 */
};

/* Right and bottom lie behind the box; each side is above 0. */
struct track_box {
    int32_t left, top, right, bottom;
    uint8_t kind;   /* of thing: only boxes of one kind are about the same one */
    bool round;     /* the ellipse in the box is meant */
    uint16_t track; /* tracks_hold's */
};

struct track {
    struct track_box last, around; /* its newest box, and the rectangle around all */
    uint32_t count;
    int64_t least;          /* area of its smallest box */
    int32_t wide, high;     /* the greatest sides */
    int64_t middle_from[2]; /* of left + right and top + bottom the least and the greatest */
    int64_t middle_to[2];
};

/* Needs no initialisation. */
struct tracks {
    uint32_t count, held;
    struct track track[TRACKS_MAX];
    struct track_box box[TRACKS_MAX]; /* the first `held` of them cover all that was found in the window */
};

/* A box around one in pixels, rounded outwards such that the ellipse in it contains that in the other. */
struct track_box tracks_box(const double number[4], unsigned kind, bool round);

/* Makes tracks->box of the boxes that were found in the frames of a window, in their order; at most `most`,
 * which is at most TRACKS_MAX. Each box, or the ellipse in it, lies within one of tracks->box. ST_LIMIT when
 * there are more tracks. Takes time in proportion to boxes times tracks. */
enum status tracks_hold(struct tracks *tracks, struct track_box *found, uint32_t count, uint32_t most,
                        struct error *err);

#endif
