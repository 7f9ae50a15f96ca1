/* SPDX-License-Identifier: MIT
 * What a plan says of the gain map of its picture; server/planner/hdr_plan.h fills it. */
#ifndef BLURD_SERVER_PLANNER_HDR_DECISION_H
#define BLURD_SERVER_PLANNER_HDR_DECISION_H

#include "codecs/codec.h"
#include "codecs/gainmap/gainmap.h"

struct hdr_decision {
    struct gainmap map;     /* of a JPEG; of kind GAINMAP_NONE in any other file */
    bool kept;              /* the answer has it, unless it turns out to be damaged */
    const char *why;        /* where a JPEG's is dropped without being asked to: the reason; else NULL */
    struct picture picture; /* of the map; where it is kept */
    struct image_shape stored, upright;
};

#endif
