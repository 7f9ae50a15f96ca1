/* SPDX-License-Identifier: MIT
 * The sRGB curve (IEC 61966-2-1) between a sample v and light, both from 0 to 1:
 *
 *     light = v / 12.92 for v <= 0.04045, else ((v + 0.055) / 1.055)^2.4
 *
 * and its table for samples of 8 bits c and light of 16 bits L, which devices get. */
#ifndef BLURD_FILTERS_COLOUR_LIGHT_H
#define BLURD_FILTERS_COLOUR_LIGHT_H

#include <stdint.h>

enum { LIGHT_SAMPLES = 256, LIGHT_LEVELS = 65536 };

double light_of(double v);
double light_sample(double light);

struct light_table {
    uint16_t light[LIGHT_SAMPLES]; /* L of c: round(65535 light_of(c / 255)) */
    uint16_t least[LIGHT_SAMPLES]; /* least L of which c is the sample: round(255 light_sample(L / 65535)) */
};

/* Made at the first call, in less than a millisecond. Thread-safe. */
const struct light_table *light_table(void);

#endif
