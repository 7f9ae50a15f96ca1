/* SPDX-License-Identifier: MIT
 * The checks that every codec makes in the same words. Internal to codecs/. */
#ifndef BLURD_CODECS_LIMITS_H
#define BLURD_CODECS_LIMITS_H

#include "codecs/codec.h"

/* ST_CORRUPT for a side of 0, ST_LIMIT over the side or pixel limit, both named. */
enum status limits_check_size(uint32_t width, uint32_t height, const struct codec_limits *limits,
                              struct error *err);

/* ST_LIMIT once the deadline (CLOCK_MONOTONIC, 0: none) has passed. Costs one clock read;
 * call it once a row. */
enum status limits_check_deadline(int64_t deadline_ns, struct error *err);

/* Nanoseconds to the deadline, 0 when it has passed, INT64_MAX when there is none. */
int64_t limits_time_left(int64_t deadline_ns);

#endif
