/* SPDX-License-Identifier: MIT
 * A preliminary plan (plan.h), made from the first bytes of a complete body without the fields of a form. It
 * predicts time and memory, and whether a GPU's codecs may take the request. */
#ifndef BLURD_SERVER_PLANNER_INTENT_H
#define BLURD_SERVER_PLANNER_INTENT_H

#include "codecs/peek.h"
#include "server/planner/plan.h"

struct intent {
    bool known;            /* the picture was recognised, and codec_probe may take it */
    struct peek header;    /* of a usual JPEG if the picture was not recognised */
    uint32_t frames;       /* about how many the request takes of an animation; of a still picture 1 */
    struct work_plan plan; /* upright, without metadata, and without limits */
};

/* Fills a zeroed intent; `parameters` must outlive it. Takes about a microsecond for a body of any size, and
 * for an animation as long as frames_estimate. */
void intent_make(struct intent *intent, struct bytes body, const char *content_type, const char *accept,
                 const struct parameters *parameters, const struct codec_limits *limits);

/* Does the same for a header that was already read (NULL: not recognised) and a body of `size` bytes. */
void intent_guess(struct intent *intent, const struct peek *header, size_t size, const char *accept,
                  const struct parameters *parameters);

#endif
