/* SPDX-License-Identifier: MIT
 * What a request selects of its picture: regions, the mask of a form and what a search will find. Requests
 * give them in the upright picture; here they lie as in the stored one. server/picture/selection.h draws. */
#ifndef BLURD_SERVER_PLANNER_SELECTION_PLAN_H
#define BLURD_SERVER_PLANNER_SELECTION_PLAN_H

#include "codecs/codec.h"
#include "cpu/mask/mask.h"
#include "server/message/parameters.h"

/* The mask of a form: a grey PNG of 8 bits that weighs the filter for each pixel of the upright picture. */
struct mask_part {
    struct bytes input; /* no data: the form has none */
    struct picture picture;
    struct codec_limits limits; /* those of the request that hold for a mask */
};

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
    bool lenient; /* one of several frames, which together have what is required: this one need not */
    bool none;    /* a mask is wanted, and covers no pixel; valid after selection_check */
};

/* Fills all of *selection for a picture with this EXIF orientation and stored size. `region` shares the
 * memory that was lent to the parameters' set, which must outlive it. Thread-safe for different selections.
 * ST_ARGUMENT: a region to redact lies off the picture or is smaller than a pixel; a list of regions is for a
 * picture of another size. */
enum status selection_init(struct selection *selection, const struct parameters *parameters,
                           uint8_t orientation, uint32_t width, uint32_t height, struct error *err);

/* Reads the header of the form's mask, if there is one, for a picture. ST_ARGUMENT: it is no grey PNG of 8
 * bits and of this size; ST_LIMIT like codec_probe. Errors begin with the part's name. plan_finish frees what
 * it took. */
enum status selection_open_part(struct selection *selection, const struct parameters *parameters,
                                const struct picture *picture, const struct codec_limits *limits,
                                struct error *err);

/* Returns the status, with the part's name before the text of a codec's error. What is wrong with the file is
 * the fault of the parameter: ST_ARGUMENT. */
enum status selection_refuse_part(enum status status, const struct error *cause, struct error *err);

/* Memory that selection_read_part takes of its own. */
size_t selection_part_bytes(const struct selection *selection);

struct image_shape selection_mask_shape(const struct image_shape *picture);

/* Size of each of the two masks in bytes; 0: none are wanted. */
size_t selection_mask_bytes(const struct selection *selection, const struct image_shape *stored);

/* Whether the edges of the mask are to be made soft. */
bool selection_is_soft(const struct selection *selection, const struct parameters *parameters);

#endif
