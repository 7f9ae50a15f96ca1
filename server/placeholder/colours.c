/* SPDX-License-Identifier: MIT */
#include "server/placeholder/colours.h"

#include <stdbool.h>

enum { BIN_BITS = 4, BINS = 1 << 3 * BIN_BITS };

struct sum {
    uint32_t colour[3], alpha;
};

static unsigned bin_of(const uint8_t pixel[4]) {
    enum { DROPPED = 8 - BIN_BITS };
    return (unsigned)(pixel[0] >> DROPPED) << 2 * BIN_BITS | (unsigned)(pixel[1] >> DROPPED) << BIN_BITS |
           pixel[2] >> DROPPED;
}

static uint8_t mean_of(uint32_t sum, uint32_t alpha) {
    uint32_t mean = alpha ? (sum + alpha / 2) / alpha : 0;
    return (uint8_t)mean;
}

/* Returns the mean colour of the pixels in a bin, or of all with BINS. */
static struct colour mean_colour(const struct thumbnail *thumbnail, unsigned bin) {
    struct sum sum = {{0}, 0};
    for (uint32_t i = 0; i < thumbnail->width * thumbnail->height; i++) {
        const uint8_t *pixel = thumbnail->pixel[i];
        bool counts = bin == BINS || bin_of(pixel) == bin;
        for (unsigned c = 0; c < 3 && counts; c++) {
            sum.colour[c] += (uint32_t)pixel[c] * pixel[3];
        }
        sum.alpha += counts ? pixel[3] : 0;
    }
    return (struct colour){mean_of(sum.colour[0], sum.alpha), mean_of(sum.colour[1], sum.alpha),
                           mean_of(sum.colour[2], sum.alpha)};
}

struct colour colours_average(const struct thumbnail *thumbnail) {
    return mean_colour(thumbnail, BINS);
}

struct colour colours_dominant(const struct thumbnail *thumbnail) {
    uint32_t weight[BINS] = {0};
    unsigned fullest = 0;
    for (uint32_t i = 0; i < thumbnail->width * thumbnail->height; i++) {
        weight[bin_of(thumbnail->pixel[i])] += thumbnail->pixel[i][3];
    }
    for (unsigned bin = 1; bin < BINS; bin++) {
        fullest = weight[bin] > weight[fullest] ? bin : fullest;
    }
    return mean_colour(thumbnail, fullest);
}
