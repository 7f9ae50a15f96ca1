/* SPDX-License-Identifier: MIT
 * The search for codes: what a reader reads, and what only looks like a code, at several sizes. */
#ifndef BLURD_DETECT_CODES_CPU_CODES_SEARCH_H
#define BLURD_DETECT_CODES_CPU_CODES_SEARCH_H

#include "core/deadline.h"
#include "detect/candidates.h"
#include "detect/codes/cpu/codes_level.h"
#include "detect/codes/symbols.h"

enum { CODES_LEVELS_MAX = 6 };

struct codes_pyramid {
    unsigned count;
    struct codes_level level[CODES_LEVELS_MAX]; /* each has half of the size of the one before */
};

/* A side of the first level for that of a picture: a multiple of CODES_CELL, and never less than a level
 * needs. */
uint32_t codes_search_side(uint32_t side);

/* The bytes of all levels of a picture of that size. */
size_t codes_search_bytes(uint32_t width, uint32_t height);

/* Lays the levels over memory of that size, aligned to 8 bytes. The caller then writes the grey pixels of the
 * first level, whose sides are those of codes_search_side(): it repeats the picture's last column and row. */
void codes_search_place(struct codes_pyramid *pyramid, uint32_t width, uint32_t height, uint8_t *memory);

/* Appends a candidate for each place that looks like a code at least so much (codes_features_judge), and one
 * for each symbol. The sums are the score and the corners, x before y, in pixels of the picture. ST_LIMIT at
 * the deadline. Takes no memory. */
enum status codes_search_run(const struct codes_pyramid *pyramid, const struct codes_symbols *symbols,
                             int32_t least, int64_t deadline_ns, struct candidates *candidates,
                             struct error *err);

#endif
