/* SPDX-License-Identifier: MIT
 * The test that every engine must pass before it serves: its pixels are those of the CPU. */
#ifndef BLURD_GPU_FRONT_SELFTEST_H
#define BLURD_GPU_FRONT_SELFTEST_H

#include "core/slot.h"
#include "filters/backend.h"
#include "gpu/front/link.h"

/* Filters small pictures of every kind (fixed and floating point, each filter, with a mask and without) on
 * the engine and on `reference`, in the slot, and compares the bytes. ST_DEVICE when they differ or a run
 * fails. */
enum status selftest_run(struct engine_link *link, struct slot *slot, struct backend *reference,
                         struct error *err);

#endif
