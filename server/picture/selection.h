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
#include "server/picture/mask_part.h"

struct outcome;

struct selection {
    int64_t deadline_ns; /* of the request; the caller sets it after selection_init */
    bool wanted;         /* a mask limits the filter: there are regions, a mask or a search for them */
    bool redact;         /* redact what the mask covers, or without one the whole picture */
    bool interpolated;   /* decoding interpolates colour; the caller sets it after selection_init */
    bool spread; /* the file's coding predicts pixels from others; the caller sets it after selection_init */
    struct region_set region; /* in the stored picture */
    struct mask_part part;    /* the mask of the form */
    uint8_t orientation;      /* by which regions and mask of the upright picture are turned */
    struct image mask;        /* coverage of the picture; valid after selection_draw */
    struct image spare;       /* second buffer of the same size, for turning and feathering */
    struct mask_report report;
    bool none; /* a mask is wanted, and covers no pixel; valid after selection_check */
};

/* Copies the regions for a picture with this EXIF orientation and stored size.
 * ST_ARGUMENT: a region to redact lies off the picture or is smaller than a pixel; a list of regions is for a
 * picture of another size. */
enum status selection_init(struct selection *selection, const struct parameters *parameters,
                           uint8_t orientation, uint32_t width, uint32_t height, struct error *err);

/* Reads the header of the form's mask for a stored picture of this size. Fails like mask_part_open. */
enum status selection_open_part(struct selection *selection, const struct parameters *parameters,
                                const struct picture *picture, const struct codec_limits *limits,
                                struct error *err);

/* Counts the regions, with the faces found, for the answer. ST_NOTHING when there is none and no mask, and
 * the request requires one. */
enum status selection_count(const struct selection *selection, const struct parameters *parameters,
                            struct outcome *outcome, struct error *err);

/* Reads the report for a stored picture of this shape, and sets `none`. ST_ARGUMENT when a region to redact
 * has no pixel; ST_NOTHING when no pixel is covered and the request requires one. */
enum status selection_check(struct selection *selection, const struct parameters *parameters,
                            const struct image_shape *stored, struct error *err);

struct image_shape selection_mask_shape(const struct image_shape *picture);

/* Size of each of the two masks in bytes; 0: none are wanted. */
size_t selection_mask_bytes(const struct selection *selection, const struct image_shape *stored);

/* Takes memory for both masks from the slot if they are wanted. Fails like slot_take. */
enum status selection_take_memory(struct selection *selection, struct slot *slot,
                                  const struct image_shape *stored, struct error *err);

/* Draws the mask for the decoded picture `stored`, and with mode=redact overwrites the regions in it.
 * `picture` tells how it was compressed; `limits` are those of the request. This, selection_turn and
 * selection_feather return ST_LIMIT at the deadline. Fails like selection_check, with the picture unchanged.
 */
enum status selection_draw(struct selection *selection, const struct parameters *parameters,
                           const struct picture *picture, const struct codec_limits *limits,
                           const struct image *stored, struct error *err);

enum status selection_turn(struct selection *selection, uint8_t orientation, struct error *err);

bool selection_is_soft(const struct selection *selection, const struct parameters *parameters);

/* Makes the edges of the mask soft. ST_BUSY without memory. */
enum status selection_feather(struct selection *selection, const struct mask_feathering *how,
                              struct error *err);

/* Writes sentences about regions that cover nothing, lie off the picture or are cut by its border, and about
 * what the file's coding may show of what is hidden; or "". */
void selection_notice(const struct selection *selection, char *text, size_t size);

/* Frees what selection_open_part took. */
void selection_finish(struct selection *selection);

#endif
