/* SPDX-License-Identifier: MIT
 * The Gaussian in double precision: sampled, with tails of 6 sigma, over the picture extended without end. */
#ifndef BLURD_TESTS_REFERENCE_GAUSSIAN_H
#define BLURD_TESTS_REFERENCE_GAUSSIAN_H

#include "filters/argument/edge.h"
#include "tests/filters/filter_image.h"

/* The position in 0..n-1 that stands for `at` on an axis of n positions, or -1 for the border colour
 * (EDGE_ZERO). */
long reference_fold(enum edge edge, long at, long n);

/* The blur of a picture with one channel, into `out`: width * height values, row by row. */
void reference_gaussian(const struct image *source, double sigma, enum edge edge, double *out);

#endif
