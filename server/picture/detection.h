/* SPDX-License-Identifier: MIT
 * The search of a detector in a request: a chain of its own over the decoded picture, whose result becomes
 * regions of the selection, or the answer of /detect. A request that asks for it fails when it cannot be
 * done: no picture leaves with what was not looked for. */
#ifndef BLURD_SERVER_PICTURE_DETECTION_H
#define BLURD_SERVER_PICTURE_DETECTION_H

#include "core/image.h"
#include "detect/detectors.h"
#include "detect/model.h"
#include "filters/chain.h"
#include "server/message/parameters.h"

struct outcome;
struct slot;

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

/* Takes memory for the result from `pictures`, and for what is made of it from `own`, which no other process
 * maps. Fails like slot_take. */
enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err);

/* Finds the boxes in the chain's result, of which it uses a copy, with the detector's one of `models`.
 * ST_LIMIT when there are too many to hide all. */
enum status detection_read(struct detection *detection, struct model *const *models, struct error *err);

/* Appends a region for each box to a set in the upright picture. ST_LIMIT when the set is full. */
enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err);

/* Appends the answer of /detect. */
enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err);

enum { DETECTION_REPORT_MAX = 4096 };

/* Writes the boxes for a header, as many as fit: "x,y,width,height,score; ...". */
void detection_report(const struct detection *detection, char text[DETECTION_REPORT_MAX]);

/* Notes the boxes for the headers of the answer, the log and the metrics. */
void detection_note(const struct detection *detection, const struct parameters *parameters,
                    struct outcome *outcome);

#endif
