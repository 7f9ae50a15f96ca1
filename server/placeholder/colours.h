/* SPDX-License-Identifier: MIT
 * The average and the dominant colour of a thumbnail. */
#ifndef BLURD_SERVER_PLACEHOLDER_COLOURS_H
#define BLURD_SERVER_PLACEHOLDER_COLOURS_H

#include "server/placeholder/thumbnail.h"

struct colour {
    uint8_t red, green, blue;
};

/* The mean of all pixels, as stored, weighted by alpha. Black if all are transparent. */
struct colour colours_average(const struct thumbnail *thumbnail);

/* The mean of the fullest of 4096 bins, which the upper 4 bits of red, green and blue select, in this order
 * of significance. Pixels are weighted by alpha. Of equally full bins the first is taken. */
struct colour colours_dominant(const struct thumbnail *thumbnail);

#endif
