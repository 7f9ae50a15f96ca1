/* SPDX-License-Identifier: MIT
 * Every engine must pass this test before it serves. */
#ifndef BLURD_GPU_FRONT_SELFTEST_H
#define BLURD_GPU_FRONT_SELFTEST_H

#include <stdatomic.h>

#include "core/slot.h"
#include "filters/backend.h"
#include "gpu/front/link.h"

/* Runs each filter on small pictures, in fixed and floating point, with a mask and without, on the engine and
 * on `reference`, in the slot. *refused has a bit for each filter (enum filter_id) that the GPU must not run.
 * Filters that are refused already are not tried. Filters whose bytes differ, or during which the engine
 * fails, are added, except for the blur. ST_DEVICE after a wrong blur and after a run that failed: the engine
 * must not serve. */
enum status selftest_run(struct engine_link *link, struct slot *slot, struct backend *reference,
                         _Atomic uint32_t *refused, struct error *err);

/* Whether no step of the chain is a refused filter. */
bool selftest_allows(uint32_t refused, const struct chain *chain);

#endif
