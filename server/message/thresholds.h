/* SPDX-License-Identifier: MIT
 * The value of `detect_threshold`: the least scores of what detectors find. */
#ifndef BLURD_SERVER_MESSAGE_THRESHOLDS_H
#define BLURD_SERVER_MESSAGE_THRESHOLDS_H

#include "detect/detectors.h"
#include "filters/argument/argument.h"

/* All zero: each detector has its own. */
struct thresholds {
    uint32_t named;       /* a bit for each detector with a number of its own */
    double of[DETECTORS]; /* these */
    double others;        /* of the other detectors; 0: their own */
};

/* Parses "0.4", "plates:0.3,text:0.7" or "plates:0.3,0.5" into a struct thresholds. ST_ARGUMENT with a
 * sentence that names the parameter and what is wrong. */
enum status thresholds_parse(const struct argument *row, const char *text, void *field, struct error *err);

/* The least score of a detector. */
double thresholds_get(const struct thresholds *thresholds, enum detector_id detector);

#endif
