/* SPDX-License-Identifier: MIT
 * Between the parts of the program that checks the GPU's blur. */
#ifndef BLURD_TESTS_GPU_CHECK_H
#define BLURD_TESTS_GPU_CHECK_H

#include "core/backend.h"
#include "filters/chain.h"
#include "gpu/lane.h"

struct check {
    struct cuda cuda;
    struct gpu_device device;
    struct gpu_lane lane;
    struct backend *reference; /* the CPU's */
    struct lane *reference_lane;
    uint64_t random;
    unsigned passed, failed;
};

/* Ends the program when the status is not ST_OK. */
void must(enum status status, const struct error *err);

/* The chain of one blur. */
struct chain make_chain(const struct blur_arguments *arguments, const struct image_shape *shape);

/* Kernel times for pictures of 1080p, and the textbook kernel beside them. */
void check_time(struct check *check);

#endif
