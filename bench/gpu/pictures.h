/* SPDX-License-Identifier: MIT
 * The pictures that a blur is measured with, wherever it needs them. */
#ifndef BLURD_BENCH_GPU_PICTURES_H
#define BLURD_BENCH_GPU_PICTURES_H

#include "bench/gpu/bench.h"

enum { PICTURES = 4 };

/* PIXEL_RGB has the packed ones, too; other models have none. */
struct pictures {
    struct image_shape shape;
    size_t size;                                     /* of one, laid out as images are, or more */
    uint8_t *memory;                                 /* shared and registered, as slots are */
    struct image source[PICTURES], target[PICTURES]; /* in it */
    struct image expected[PICTURES];                 /* the CPU's */
    struct image device_source[PICTURES], device_target[PICTURES];
    size_t packed_size; /* rows without padding, as in textbooks */
    uint8_t *pageable_source[PICTURES], *pageable_target[PICTURES];
    CUdeviceptr packed_source[PICTURES], packed_target[PICTURES];
    CUdeviceptr device, packed; /* the memory that holds the device's planes */
};

/* Photo-like: gradients, edges and grain, another one each. Uploaded already. Each target has room for so
 * many bytes, and at least for a picture of the shape. */
struct pictures *pictures_create(struct bench *bench, const struct image_shape *shape, size_t room);
void pictures_destroy(struct bench *bench, struct pictures *pictures);

/* device_target to target, which was overwritten before. */
bool pictures_download(struct bench *bench, struct pictures *pictures);

/* Whether every target is the CPU's to the byte; overwrites them afterwards. */
bool pictures_equal(struct pictures *pictures);
/* Whether every pageable_target is within 1 of the CPU's. */
bool pictures_within_one(const struct pictures *pictures);

#endif
