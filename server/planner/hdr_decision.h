/* SPDX-License-Identifier: MIT
 * What a plan says of the gain map of its picture; server/planner/hdr_plan.h fills it. */
#ifndef BLURD_SERVER_PLANNER_HDR_DECISION_H
#define BLURD_SERVER_PLANNER_HDR_DECISION_H

#include "codecs/codec.h"
#include "codecs/gainmap/gainmap.h"

struct hdr_decision {
    struct gainmap map;     /* of a JPEG, or of an AVIF or HEIC that is answered as JPEG; else GAINMAP_NONE */
    bool kept;              /* the answer has it, unless it turns out to be damaged */
    bool whole;             /* the answer is, or packs, the file with its map as it is */
    const char *why;        /* where such a map is dropped without being asked to: the reason; else NULL */
    struct picture picture; /* of the map; where it is kept */
    struct image_shape stored, upright;
};

#endif
