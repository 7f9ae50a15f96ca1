/* SPDX-License-Identifier: MIT
 * From candidates of the search for codes (cpu/codes_search.h) to boxes. */
#ifndef BLURD_DETECT_CODES_CODES_H
#define BLURD_DETECT_CODES_CODES_H

#include "detect/detector.h"

/* Of a candidate's sums. */
enum { CODES_SUM_SCORE, CODES_SUM_CORNERS, CODES_SUMS = CODES_SUM_CORNERS + 8 };

/* The score of a code that was read. Others are in 256ths of the logarithm of the odds. */
enum { CODES_SURE = 8 * 256 };

extern const struct detector detector_codes;
extern const struct cpu_search cpu_search_codes;

/* As `find` of struct detector, without a model. Two boxes become one when they share more
 * than half of the smaller one. */
enum status codes_find(const struct model_weights *weights, struct candidates *candidates,
                       const struct boxes_frame *frame, struct boxes *boxes, struct error *err);

/* The smallest score with a probability above a threshold; INT32_MAX when there is none. */
int32_t codes_least(double threshold);

#endif
