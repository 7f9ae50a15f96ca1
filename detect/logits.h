/* SPDX-License-Identifier: MIT
 * Probabilities as networks write them into bytes: logits around NETWORK_LINEAR_ZERO (detect/convert.py,
 * MAP_SCALE). */
#ifndef BLURD_DETECT_LOGITS_H
#define BLURD_DETECT_LOGITS_H

#include <stdint.h>

enum { LOGITS_STEPS = 16 /* of a byte, for each unit */ };

/* The smallest byte above 0 whose probability is at least the threshold; INT32_MAX when none is. */
int32_t logits_byte(double threshold);

/* The probability that a byte stands for. */
double logits_probability(int32_t byte);

#endif
