/* SPDX-License-Identifier: MIT
 * The search for a median among the entries of its bin. Included once per instruction set. Sums over blocks
 * of 16 entries lead to the block that has it. The search in a block has no branches: where it ends cannot
 * be predicted. */

#include <string.h>

#include "cpu/rows/rows.h"

enum { SELECT_BLOCK = MEDIAN_ENTRY_BLOCK };

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signed16 __attribute__((vector_size(16)));
typedef int16_t shorts16 __attribute__((vector_size(32)));
typedef uint16_t halves16 __attribute__((vector_size(32)));
typedef uint32_t words16 __attribute__((vector_size(64)));
typedef int32_t integers16 __attribute__((vector_size(64)));
typedef int32_t integers8 __attribute__((vector_size(32)));
typedef int32_t integers4 __attribute__((vector_size(16)));
typedef uint32_t words8 __attribute__((vector_size(32)));
typedef uint64_t longs4 __attribute__((vector_size(32)));

/* For each entry of a block: all bits where it is in the window. */
static inline bytes16 select_inside(const struct median_entries *entries, size_t at,
                                    const struct median_window *window) {
    bytes16 x, y;
    memcpy(&x, entries->x + at, sizeof x);
    memcpy(&y, entries->y + at, sizeof y);
    return (bytes16)(x - window->x < window->width) & (bytes16)(y - window->y < window->height);
}

static inline uint32_t select_sum(const bytes16 *inside) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t half[2];
    memcpy(half, inside, sizeof half);
    return (uint32_t)((((half[0] & ones) + (half[1] & ones)) * ones) >> 56);
}

/* Fills in the weights of the entries inside, and 0 for all others. */
static inline void select_weights(halves16 *weights, const struct median_entries *entries, size_t at,
                                  const bytes16 *inside) {
    memcpy(weights, entries->weight + at, sizeof *weights);
    *weights &= (halves16) __builtin_convertvector((signed16)*inside, shorts16);
}

static inline uint32_t select_sum_weights(const halves16 *weights) {
    words8 pair;
    memcpy(&pair, weights, sizeof pair);
    pair = (pair & 0xffff) + (pair >> 16);
    longs4 four;
    memcpy(&four, &pair, sizeof four);
    four = (four & 0xffffffff) + (four >> 32);
    return (uint32_t)(four[0] + four[1] + four[2] + four[3]);
}

/* Returns the value of the entry with which the sum reaches `rest`, which the bin's entries reach. */
static inline uint16_t select_entry(const struct median_entries *entries, size_t at,
                                    const struct median_window *window, uint32_t rest, bool weighted) {
    bytes16 inside;
    halves16 weights = {0};
    for (;; at += SELECT_BLOCK) {
        inside = select_inside(entries, at, window);
        uint32_t sum;
        if (weighted) {
            select_weights(&weights, entries, at, &inside);
            sum = select_sum_weights(&weights);
        } else {
            sum = select_sum(&inside);
        }
        if (sum >= rest) {
            break;
        }
        rest -= sum;
    }
    uint8_t ones[SELECT_BLOCK];
    uint16_t each[SELECT_BLOCK];
    memcpy(ones, &inside, sizeof ones);
    memcpy(each, &weights, sizeof each);
    uint32_t sum = 0, before = 0;
    for (unsigned i = 0; i < SELECT_BLOCK; i++) {
        sum += weighted ? each[i] : ones[i] & 1u;
        before += sum < rest;
    }
    return entries->value[at + before];
}

static void rank_select(uint16_t *to, const struct median_entries *entries, const uint8_t *bin,
                        const uint32_t *rest, const struct median_window *first, size_t n) {
    for (size_t x = 0; x < n; x++) {
        struct median_window window = *first;
        window.x = (uint8_t)(first->x + x);
        size_t from = bin[x] * (size_t)entries->bin;
        if (rest[x] == 0) {
            to[x] = 0;
        } else if (entries->weight) {
            to[x] = select_entry(entries, from, &window, rest[x], true);
        } else {
            to[x] = select_entry(entries, from, &window, rest[x], false);
        }
    }
}
