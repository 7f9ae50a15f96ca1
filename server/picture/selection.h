/* SPDX-License-Identifier: MIT
 * Draws the regions of a request as a mask, and redacts their content. Requests give regions in the upright
 * picture. They are drawn in the stored picture, whose blocks redaction needs; then the mask is turned. */
#ifndef BLURD_SERVER_PICTURE_SELECTION_H
#define BLURD_SERVER_PICTURE_SELECTION_H

#include "codecs/codec.h"
#include "core/slot.h"
#include "cpu/mask/mask.h"
#include "filters/backend.h"
#include "server/message/parameters.h"

struct selection {
    int64_t deadline_ns;      /* of the request; the caller sets it after selection_init */
    bool wanted;              /* there are regions */
    bool redact;              /* redact the regions, or without regions the whole picture */
    bool interpolated;        /* decoding interpolates colour; the caller sets it after selection_init */
    struct region_set region; /* in the stored picture */
    struct image mask;        /* coverage of the picture; valid after selection_draw */
    struct image spare;       /* second buffer of the same size, for turning and feathering */
    struct mask_report report;
};

/* Copies the regions for a picture with this EXIF orientation and stored size.
 * ST_ARGUMENT: a region to redact lies off the picture or is smaller than a pixel. */
enum status selection_init(struct selection *selection, const struct parameters *parameters,
                           uint8_t orientation, uint32_t width, uint32_t height, struct error *err);

struct image_shape selection_mask_shape(const struct image_shape *picture);

/* Size of each of the two masks in bytes; 0: none are wanted. */
size_t selection_mask_bytes(const struct selection *selection, const struct image_shape *stored);

/* Takes memory for both masks from the slot if they are wanted. Fails like slot_take. */
enum status selection_take_memory(struct selection *selection, struct slot *slot,
                                  const struct image_shape *stored, struct error *err);

/* Draws the mask for the decoded picture `stored`, and with mode=redact overwrites the regions in it.
 * `picture` tells how it was compressed. This, selection_turn and selection_feather return ST_LIMIT at the
 * deadline. ST_ARGUMENT: a region to redact has no pixel. */
enum status selection_draw(struct selection *selection, const struct parameters *parameters,
                           const struct picture *picture, const struct image *stored, struct error *err);

enum status selection_turn(struct selection *selection, uint8_t orientation, struct error *err);

bool selection_is_soft(const struct selection *selection, const struct parameters *parameters);

/* Makes the edges of the mask soft. ST_BUSY without memory. */
enum status selection_feather(struct selection *selection, const struct mask_feathering *how,
                              struct error *err);

/* Writes a sentence about regions that lie off the picture or are cut by its border, or "". */
void selection_notice(const struct selection *selection, char *text, size_t size);

#endif
