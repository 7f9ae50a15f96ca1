/* SPDX-License-Identifier: MIT
 * Draws the regions of a request as a mask, and redacts their content. Requests give regions in the upright
 * picture. They are drawn in the stored picture, whose blocks redaction needs; then the mask is turned. */
#ifndef BLURD_SERVER_PICTURE_SELECTION_H
#define BLURD_SERVER_PICTURE_SELECTION_H

#include "core/slot.h"
#include "server/planner/selection_plan.h"

struct outcome;

/* Writes the number of regions, given and found, to the outcome: of frames the most of one. ST_NOTHING when
 * the request requires a region or a mask and has neither. */
enum status selection_count(const struct selection *selection, const struct parameters *parameters,
                            struct outcome *outcome, struct error *err);

/* Reads the report for a stored picture of this shape, and sets `none`. ST_ARGUMENT when a region to redact
 * has no pixel; ST_NOTHING when no pixel is covered and the request requires one. */
enum status selection_check(struct selection *selection, const struct parameters *parameters,
                            const struct image_shape *stored, struct error *err);

/* Takes memory for both masks from the slot if they are wanted. Fails like slot_take. */
enum status selection_take_memory(struct selection *selection, struct slot *slot,
                                  const struct image_shape *stored, struct error *err);

/* The blocks of a file that regions to redact are rounded out to. `interpolated`: decoding interpolated its
 * reduced colour. */
struct mask_grid selection_blocks(const struct picture *picture, bool interpolated);

/* Decodes the mask of the form, turned as the stored picture lies, into `mask`; uses the memory of `spare`.
 * Fails like selection_open_part and codec_decode. */
enum status selection_read_part(const struct selection *selection, struct error *err);

/* Draws the mask for the decoded picture `stored`, and with mode=redact overwrites the regions in it.
 * `picture` tells how it was compressed. This, selection_turn and selection_feather return ST_LIMIT at the
 * deadline. Fails like selection_read_part and selection_check, with the picture unchanged. */
enum status selection_draw(struct selection *selection, const struct parameters *parameters,
                           const struct picture *picture, const struct image *stored, struct error *err);

/* Prepares the masks for another stored picture of that shape, after selection_turn. */
void selection_restart(struct selection *selection, const struct image_shape *stored);

enum status selection_turn(struct selection *selection, uint8_t orientation, struct error *err);

/* Makes the edges of the mask soft. ST_BUSY without memory. */
enum status selection_feather(struct selection *selection, const struct mask_feathering *how,
                              struct error *err);

/* Writes sentences about regions that cover nothing, lie off the picture or are cut by its border, and about
 * what the file's coding may show of what is hidden; or "". */
void selection_notice(const struct selection *selection, char *text, size_t size);

#endif
