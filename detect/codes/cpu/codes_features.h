/* SPDX-License-Identifier: MIT
 * Whether a place looks like a code: numbers that are measured in it, and trees of thresholds that judge
 * them. */
#ifndef BLURD_DETECT_CODES_CPU_CODES_FEATURES_H
#define BLURD_DETECT_CODES_CPU_CODES_FEATURES_H

#include <stdbool.h>

#include "detect/codes/cpu/codes_parts.h"
#include "detect/codes/cpu/codes_place.h"

/* Shares are of 256. The busy axis is the one whose lines have more edges for each pixel, the calm one the
 * other. */
enum codes_feature {
    CODES_TEXTURE, /* enum codes_texture */
    CODES_DARK_SHARE,
    CODES_CLEAR,    /* share of pixels that are far from the middle between dark and light */
    CODES_SEEN,     /* share of pixels that are not flat */
    CODES_FILL,     /* share of the rectangle that is cells of the part */
    CODES_DIRECTED, /* share of the gradients that are along the busy axis */
    CODES_STRAIGHT, /* how well all edges follow the axes */
    CODES_SIDE,     /* pixels of the shorter side */
    CODES_ASPECT,   /* of the sides, the longer one first, in 16ths */
    /* The busy axis, then the calm one: */
    CODES_EDGES,   /* edges of a line, in 16ths */
    CODES_STRETCH, /* pixels between edges, in 16ths */
    CODES_FEWEST,  /* edges of lines with few, as a share of the mean */
    CODES_MOST,    /* edges of lines with many, as a share of the mean */
    CODES_LONGEST, /* the longest stretch as a multiple of the mean, in 16ths */
    CODES_SQUARES, /* the mean of stretches by pixels as a multiple of that by stretches, in 16ths */
    CODES_ALIKE,   /* share of pixels that have the tone of another line */
    CODES_CALM,    /* the same seven from here on */
    CODES_FEATURES = CODES_CALM + CODES_CALM - CODES_EDGES
};

void codes_features_measure(const struct codes_place *place, enum codes_texture texture,
                            int32_t feature[CODES_FEATURES]);

/* Whether all needed features are there: cheap, and true of each code that can be told. */
bool codes_features_suffice(const int32_t feature[CODES_FEATURES]);

/* How much the features are a code's, in 256ths of the logarithm of the odds. */
int32_t codes_features_judge(const int32_t feature[CODES_FEATURES]);

#endif
