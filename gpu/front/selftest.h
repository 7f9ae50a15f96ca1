/* SPDX-License-Identifier: MIT
 * A GPU that computes something else must never serve. */
#ifndef BLURD_GPU_FRONT_SELFTEST_H
#define BLURD_GPU_FRONT_SELFTEST_H

#include "gpu/front/supervisor.h"

/* Filters small pictures of every kind (fixed and floating point, each filter, with a mask and without) on
 * the engine and on options->reference, and compares the bytes. ST_DEVICE when they differ or a run fails. */
enum status selftest_run(struct supervisor *supervisor, struct supervisor_link *link,
                         const struct gpu_options *options, struct error *err);

#endif
