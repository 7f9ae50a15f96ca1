/* SPDX-License-Identifier: MIT
 * A GPU for predictions. */
#ifndef BLURD_TESTS_UNIT_SERVER_PLANNER_GPU_FIXTURE_H
#define BLURD_TESTS_UNIT_SERVER_PLANNER_GPU_FIXTURE_H

#include "filters/backend.h"

static unsigned gpu_codecs = 28;                         /* JPEGs at a time; 0: its codecs do not serve */
static enum backend_state gpu_filters = BACKEND_SERVING; /* whether it runs chains for workers */

static unsigned gpu_transcodes(struct backend *backend) {
    (void)backend;
    return gpu_codecs;
}

static enum backend_state gpu_state(struct backend *backend, bool await, char reason[BACKEND_REASON_MAX]) {
    (void)backend, (void)await, (void)reason;
    return gpu_filters;
}

static const struct backend_ops gpu_ops = {.transcodes = gpu_transcodes, .state = gpu_state};
static struct backend gpu = {&gpu_ops, "cuda:0"};

#endif
