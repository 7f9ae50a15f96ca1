/* SPDX-License-Identifier: MIT
 * The ways to filter all rows of a picture, and samples by which to choose one. Internal to codecs/; one
 * thread at a time per rows. */
#ifndef BLURD_CODECS_PNG_PNG_WAYS_H
#define BLURD_CODECS_PNG_PNG_WAYS_H

#include "codecs/png/png_rows.h"

/* Each filter, and the best filter of each row. */
enum { PNG_WAY_BEST_OF_EACH = FILTER_COUNT, PNG_WAYS };

/* Filters `count` rows from `y` to count * rows->line bytes. */
void png_way_filter(const struct png_rows *rows, uint32_t y, uint32_t count, unsigned way, uint8_t *to);

/* Filters bands of rows from all over the picture, `most` rows (at least 1) together at most; returns how
 * many there are. */
uint32_t png_way_sample(const struct png_rows *rows, unsigned way, uint32_t most, uint8_t *to);

#endif
