/* SPDX-License-Identifier: MIT
 * Plans the search of a detector in a request: a chain of its own over the decoded picture, whose result
 * becomes regions of the selection, or the answer of /detect. server/picture/detection.h has what follows. */
#ifndef BLURD_SERVER_PLANNER_DETECTION_PLAN_H
#define BLURD_SERVER_PLANNER_DETECTION_PLAN_H

#include "core/image.h"
#include "detect/detectors.h"
#include "filters/chain.h"
#include "server/message/parameters.h"

/* From the search to the answer. */
struct detection_found {
    struct candidates candidates; /* the chain's result */
    struct boxes boxes;           /* valid after detection_read */
    struct region_room room;      /* for the regions */
};

/* Zero-initialise. */
struct detection {
    bool wanted;
    enum detector_id detector;
    struct chain chain;            /* turns the stored picture upright, stretches it and searches */
    struct boxes_frame frame;      /* the stretched picture and the upright one */
    struct image result;           /* of the chain; in memory that an engine may map */
    struct detection_found *found; /* what the daemon makes of it; in memory of its own */
};

/* Plans the search in a stored picture of this shape and EXIF orientation, if it is asked for. ST_LIMIT when
 * the picture is too large for it. */
enum status detection_plan(struct detection *detection, const struct parameters *parameters,
                           const struct image_shape *stored, uint8_t orientation, struct error *err);

/* Whether each step of the search takes the planes of such a picture as they are. */
bool detection_takes_planes(const struct parameters *parameters, const struct image_shape *planes,
                            uint8_t orientation);

/* Bytes for the result and what is made of it; 0 if none is wanted. */
size_t detection_bytes(const struct detection *detection);

#endif
