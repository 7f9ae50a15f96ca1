/* SPDX-License-Identifier: MIT
 * The body of an answer that has the blocks of a JPEG, moved, without decoding a pixel. The JPEG may be
 * packed in a JPEG XL, and the answer again. */
#ifndef BLURD_SERVER_PICTURE_MOVE_BLOCKS_H
#define BLURD_SERVER_PICTURE_MOVE_BLOCKS_H

#include "server/planner/plan.h"

/* Appends it for a plan that moves blocks. A JPEG in a JPEG XL, of which nothing is to be changed, is
 * answered, or packed, to the byte, with its gain map; plan->hdr tells. ST_ARGUMENT: the file does not allow
 * it; else as jpeg_turn and codec_repack. */
enum status move_blocks_write(struct work_plan *plan, struct buf *body, struct error *err);

#endif
