/* SPDX-License-Identifier: MIT
 * The selection of a request as a device with JPEG codecs draws it. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_MASK_H
#define BLURD_SERVER_PICTURE_TRANSCODE_MASK_H

#include "server/planner/plan.h"

/* Fills *mask for the stored picture of a plan, and sets *wanted when there is something to draw or to
 * redact. Lists of regions and a mask of the form are put into memory of the slot, which an engine maps; the
 * lists are made in `own`, which none does. Fills the selection's report. ST_UNSUPPORTED: the CPU has to draw
 * it; else fails like selection_draw. */
enum status transcode_mask_make(struct transcode_mask *mask, struct work_plan *plan, struct slot *slot,
                                struct slot *own, bool *wanted, struct error *err);

#endif
