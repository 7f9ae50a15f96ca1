/* SPDX-License-Identifier: MIT
 * The five row filters of PNG, applied and undone. A filter predicts each byte from the pixels to the
 * left, above, and above to the left; the file holds the difference. Thread-safe, no state. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_FILTER_H
#define BLURD_CODECS_PNG_PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum png_filter { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVG, FILTER_PAETH, FILTER_COUNT };

/* A row of `size` bytes in whole pixels of `pixel` bytes (1, 2, 3, 4, 6 or 8). `above` is the unfiltered
 * row above, zeros for the first row. The three do not overlap, and no byte beyond them is touched. */
struct png_row {
    uint8_t *to;
    const uint8_t *from;
    const uint8_t *above;
    size_t size;
    unsigned pixel;
};

/* Undoes a filter from `from` to `to`. False when there is no such filter. */
bool png_unfilter(unsigned filter, const struct png_row *row);

/* Undoes Paeth's filter on two rows at once: `lower.above` is `upper.to`. Nearly twice as fast. */
void png_unfilter_paeth_pair(const struct png_row *upper, const struct png_row *lower);

/* png_unfilter byte by byte, as in the specification: for other processors, and as a reference. */
bool png_unfilter_plain(unsigned filter, const struct png_row *row);

/* Filters `from` to `to`; `from` and `above` are pixels. */
void png_filter(unsigned filter, const struct png_row *row);

/* The sum of the bytes' distances from 0, 255 being -1: small where a filter predicts well. */
uint64_t png_filter_sum(const uint8_t *bytes, size_t size);

#endif
