/* SPDX-License-Identifier: MIT
 * The five filters that a PNG may use on a row, done and undone. A filter predicts each byte from those of
 * the pixel to the left, above, and above to the left; the file holds the difference. Thread-safe, no state.
 * Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_FILTER_H
#define BLURD_CODECS_PNG_PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum png_filter { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVG, FILTER_PAETH, FILTER_COUNT };

/* One row, `size` bytes of whole pixels of `pixel` bytes (1, 2, 3, 4, 6 or 8) each. `above` is the
 * row above as it was before filtering, zeros for the first. None of the three overlap, and not a
 * byte beyond them is touched. */
struct png_row {
    uint8_t *to;
    const uint8_t *from;
    const uint8_t *above;
    size_t size;
    unsigned pixel;
};

/* Turns the filtered bytes `from` into the row's. False when there is no such filter. */
bool png_unfilter(unsigned filter, const struct png_row *row);

/* Undoes Paeth's filter on two rows at once: `lower.above` is `upper.to`. Nearly twice as fast. */
void png_unfilter_paeth_pair(const struct png_row *upper, const struct png_row *lower);

/* png_unfilter byte by byte, as the specification has it: for processors without a faster way, and to
 * compare with. */
bool png_unfilter_plain(unsigned filter, const struct png_row *row);

/* The other way: `from` and `above` are pixels, `to` is filtered by one of the five. */
void png_filter(unsigned filter, const struct png_row *row);

/* The same with the instructions that every processor of the kind has, to compare with. */
void png_filter_baseline(unsigned filter, const struct png_row *row);

/* The sum of the bytes as distances from 0, 255 being -1: small where a filter predicts well. */
uint64_t png_filter_sum(const uint8_t *bytes, size_t size);

#endif
