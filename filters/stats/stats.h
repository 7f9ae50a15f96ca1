/* SPDX-License-Identifier: MIT
 * Statistics of a picture. All sums are whole numbers, so a backend may add in any order. A backend writes a
 * struct stats to the first row of the target, see stats_shape(). */
#ifndef BLURD_FILTERS_STATS_STATS_H
#define BLURD_FILTERS_STATS_STATS_H

#include "filters/definition.h"

enum { STATS_BINS = 256, STATS_CHANNELS_MAX = 4 };

struct stats_channel {
    uint64_t sum;                   /* of the samples */
    uint64_t squares;               /* of their squares: below 2^64 for 2^32 samples of 16 bits */
    uint64_t minimum, maximum;      /* 0 and 0 when nothing is counted */
    uint64_t histogram[STATS_BINS]; /* by the upper 8 bits */
};

struct stats {
    uint64_t pixels; /* counted pixels: under a mask those with a coverage of 128 or more, else all */
    struct stats_channel channel[STATS_CHANNELS_MAX]; /* the picture's; alpha as stored; the rest is 0 */
};

/* The shape of an image whose first row holds a struct stats. */
struct image_shape stats_shape(void);

extern const struct filter filter_stats;

#endif
