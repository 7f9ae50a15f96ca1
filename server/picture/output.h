/* SPDX-License-Identifier: MIT
 * Writes the body of the answer from the picture that the filters made. */
#ifndef BLURD_SERVER_PICTURE_OUTPUT_H
#define BLURD_SERVER_PICTURE_OUTPUT_H

#include "server/planner/plan.h"

/* Initialises the buffer of the answer's body. */
void output_init(const struct work_plan *plan, struct buf *body);

/* Appends what searches found, as the request asks for it. */
enum status output_boxes(const struct work_plan *plan, struct buf *body, struct error *err);

/* Appends the encoded picture, or the JSON that the filter is answered with. `result` has the plan's shape
 * `encoded`; its padding may be overwritten. Sets *kept_blocks when blocks of a JPEG outside of the regions
 * were copied. Fails like codec_encode. */
enum status output_write(const struct work_plan *plan, const struct image *result, bool *kept_blocks,
                         struct buf *body, struct error *err);

#endif
