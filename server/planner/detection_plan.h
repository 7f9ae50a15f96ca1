/* SPDX-License-Identifier: MIT
 * Plans the searches of detectors in a request: for each a chain of its own over the decoded picture, whose
 * result becomes regions of the selection, or the answer of /detect. server/search/detection.h has what
 * follows. */
#ifndef BLURD_SERVER_PLANNER_DETECTION_PLAN_H
#define BLURD_SERVER_PLANNER_DETECTION_PLAN_H

#include "core/image.h"
#include "detect/detectors.h"
#include "filters/chain.h"
#include "server/message/parameters.h"

/* From the searches to the answer. */
struct detection_found {
    struct candidates candidates; /* the last chain's result */
    struct region_room room;      /* for the regions */
    /* Of each detector, valid after detection_read of its searches, behind them the doubtful ones of each, if
     * they are wanted, then those of a further search. There is memory for detection_boxes() of them. */
    struct boxes boxes[2 * DETECTORS + 1];
};

/* Further searches of a detector with detect_effort=high, at most; smaller copies of those that halve it
 * (struct detector); and all searches of a request. */
enum {
    DETECTION_FURTHER = 3,
    DETECTION_HALVINGS = 8,
    DETECTION_SEARCHES = DETECTORS * (1 + DETECTION_FURTHER) + DETECTION_HALVINGS
};

struct detection_search {
    uint32_t detectors;       /* a bit for each that searches: several only with the same network */
    bool further;             /* its boxes are joined to those of the detector's first search */
    bool usual;               /* its threshold is that which was asked for */
    bool mirrored;            /* the mirror image is searched */
    struct chain chain;       /* turns the stored picture upright, stretches it and searches */
    struct boxes_frame frame; /* the stretched picture and the upright one */
};

/* Zero-initialise. */
struct detection {
    bool doubtful;    /* boxes that score a little less than the threshold are wanted, too */
    unsigned count;   /* searches, in the order of their first detectors' numbers, further ones behind the
                         detector's first; 0: none is wanted */
    uint32_t wanted;  /* a bit for each detector that searches */
    uint32_t counted; /* those whose boxes are regions, or the answer; those of the others say what is kept */
    struct detection_search search[DETECTION_SEARCHES];
    struct image result;               /* of one chain after the other; in memory that an engine may map */
    struct detection_found *found;     /* what the daemon makes of them; in memory of its own */
    struct region_room *doubtful_room; /* for regions of doubtful boxes, if they are wanted */
};

/* Plans the searches in a stored picture of this shape and EXIF orientation that are asked for. ST_LIMIT when
 * the picture is too large for one, ST_ARGUMENT when `except` names a place off it. */
enum status detection_plan(struct detection *detection, const struct parameters *parameters,
                           const struct image_shape *stored, uint8_t orientation, struct error *err);

/* The grid that the edges of boxes lie on, in pixels; 1: any. */
int detection_grid(const struct detector *detector, const struct parameters *parameters);

/* Whether each step of the searches takes the planes of such a picture as they are. */
bool detection_takes_planes(const struct parameters *parameters, const struct image_shape *planes,
                            uint8_t orientation);

/* Whether GPUs search with all of the detectors. */
bool detection_suits_gpu(const struct detection *detection);

/* The part of a threshold that doubtful boxes reach. */
#define DETECTION_DOUBTFUL 0.7

/* How many detectors search. */
unsigned detection_kinds(const struct detection *detection);

/* Index of a detector's boxes: how many with smaller numbers search. */
unsigned detection_kind(const struct detection *detection, enum detector_id detector);

/* How many sets of boxes there are. */
unsigned detection_boxes(const struct detection *detection);

/* Bytes of *detection->found. */
size_t detection_found_bytes(const struct detection *detection);

/* Bytes for the results and what is made of them; 0 if none is wanted. */
size_t detection_bytes(const struct detection *detection);

#endif
