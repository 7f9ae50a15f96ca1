/* SPDX-License-Identifier: MIT
 * Where filters act: from the regions of a request to a mask, and to a picture that has forgotten what lies
 * in them. Regions are given in the upright picture and drawn in the stored one, on whose blocks redaction
 * works; then the mask is turned with the picture. */
#ifndef BLURD_SERVER_PICTURE_SELECTION_H
#define BLURD_SERVER_PICTURE_SELECTION_H

#include "codecs/codec.h"
#include "core/slot.h"
#include "cpu/mask/mask.h"
#include "filters/backend.h"
#include "server/message/parameters.h"

struct selection {
    int64_t deadline_ns; /* of the request; set after selection_init */
    bool wanted;         /* there are regions */
    bool redact;         /* what is inside, or without regions all of the picture */
    bool interpolated; /* reduced colour is interpolated when the picture is decoded; set after selection_init
                        */
    struct region_set region; /* in the stored picture */
    struct image mask;        /* coverage of the picture; once selection_draw was called */
    struct image spare;       /* the same size: what is drawn before it is turned or made soft */
    struct mask_report report;
};

/* Takes the regions over for a picture that is stored with this EXIF orientation and has this (stored) size.
 * ST_ARGUMENT: a region that is to be redacted lies off the picture, or is smaller than a pixel. */
enum status selection_init(struct selection *selection, const struct parameters *parameters,
                           uint8_t orientation, uint32_t width, uint32_t height, struct error *err);

/* The shape of the mask of a picture. */
struct image_shape selection_mask_shape(const struct image_shape *picture);

/* Bytes of each of the two masks; 0: none are wanted. */
size_t selection_mask_bytes(const struct selection *selection, const struct image_shape *stored);

/* Takes the memory of both masks out of the slot, if any are wanted. ST_BUSY, ST_LIMIT as slot_take. */
enum status selection_take_memory(struct selection *selection, struct slot *slot,
                                  const struct image_shape *stored, struct error *err);

/* Draws the mask over the decoded picture `stored`, and with mode=redact makes that forget what is inside.
 * `picture` tells how it was compressed. All of these end with ST_LIMIT at the deadline. ST_ARGUMENT: a
 * region that is to be redacted has no pixel. */
enum status selection_draw(struct selection *selection, const struct parameters *parameters,
                           const struct picture *picture, const struct image *stored, struct error *err);

/* Turns the mask upright with the picture. */
enum status selection_turn(struct selection *selection, uint8_t orientation, struct error *err);

/* Whether the edges are to be made soft. */
bool selection_is_soft(const struct selection *selection, const struct parameters *parameters);

/* Makes them so. ST_BUSY without memory, ST_LIMIT at the deadline. */
enum status selection_feather(struct selection *selection, const struct mask_feathering *how,
                              struct error *err);

/* A sentence about regions that did nothing or less than asked, or "". */
void selection_notice(const struct selection *selection, char *text, size_t size);

#endif
