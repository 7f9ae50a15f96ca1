/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_gaussian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

long reference_fold(enum edge edge, long at, long n) {
    switch (edge) {
    case EDGE_CLAMP:
        return at < 0 ? 0 : at >= n ? n - 1 : at;
    case EDGE_WRAP:
        return (at % n + n) % n;
    case EDGE_MIRROR:
        at = (at % (2 * n - 2) + 2 * n - 2) % (2 * n - 2);
        return at < n ? at : 2 * n - 2 - at;
    case EDGE_ZERO:
    case EDGE_FRAME:
        break;
    }
    return at < 0 || at >= n ? -1 : at;
}

static double *zeros(long count) {
    double *made = calloc((size_t)count, sizeof *made);
    if (!made) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    return made;
}

/* matrix[from * n + to]: the weight of sample `from` in result `to`, with the samples outside folded in. */
static double *make_matrix(long n, double sigma, enum edge edge) {
    double *matrix = zeros(n * n);
    long radius = (long)ceil(6 * sigma);
    double sum = 0;
    for (long k = -radius; k <= radius; k++) {
        sum += exp(-(double)(k * k) / (2 * sigma * sigma));
    }
    for (long k = -radius; k <= radius; k++) {
        double weight = exp(-(double)(k * k) / (2 * sigma * sigma)) / sum;
        for (long to = 0; to < n; to++) {
            long from = reference_fold(edge, to + k, n);
            if (from >= 0) {
                matrix[from * n + to] += weight;
            }
        }
    }
    return matrix;
}

static void add_scaled(double *to, const double *values, double weight, long n) {
    for (long i = 0; i < n; i++) {
        to[i] += weight * values[i];
    }
}

void reference_gaussian(const struct image *source, double sigma, enum edge edge, double *out) {
    long width = source->width;
    long height = source->height;
    double *across = make_matrix(width, sigma, edge);
    double *down = make_matrix(height, sigma, edge);
    double *half = zeros(width * height);
    for (long y = 0; y < height; y++) {
        for (long x = 0; x < width; x++) {
            double sample = test_sample(source, 0, (uint32_t)x, (uint32_t)y, 0);
            add_scaled(half + y * width, across + x * width, sample, width);
        }
    }
    for (long i = 0; i < width * height; i++) {
        out[i] = 0;
    }
    for (long y = 0; y < height; y++) {
        for (long to = 0; to < height; to++) {
            add_scaled(out + to * width, half + y * width, down[y * height + to], width);
        }
    }
    free(half);
    free(down);
    free(across);
}
