/* SPDX-License-Identifier: MIT
 * Every engine must pass this test before it serves. */
#ifndef BLURD_GPU_FRONT_SELFTEST_H
#define BLURD_GPU_FRONT_SELFTEST_H

#include "core/slot.h"
#include "filters/backend.h"
#include "gpu/front/link.h"

/* Runs each filter on small pictures, in fixed and floating point, with a mask and without, on the engine and
 * on `reference`, in the slot. ST_DEVICE when the bytes differ or a run fails. */
enum status selftest_run(struct engine_link *link, struct slot *slot, struct backend *reference,
                         struct error *err);

#endif
