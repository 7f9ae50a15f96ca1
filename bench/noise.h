/* SPDX-License-Identifier: MIT
 * Pictures of noise for benchmarks that measure the arithmetic alone. */
#ifndef BLURD_BENCH_NOISE_H
#define BLURD_BENCH_NOISE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/image.h"

/* The same samples on each call. The caller frees the memory of plane 0. Ends the program without memory. */
static inline struct image make_image(const struct image_shape *shape) {
    struct image image;
    size_t size = image_layout(&image, shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223;
        memory[i] = (uint8_t)(state >> 24);
    }
    image_place(&image, memory);
    return image;
}

#endif
