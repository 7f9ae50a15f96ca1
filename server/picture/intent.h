/* SPDX-License-Identifier: MIT
 * What a request asks for, as far as the first bytes of its body tell. It is made once, when the body is
 * there, and predicts time, memory and whether a GPU may do it, by the rules of plan.h. The worker's plan is
 * the same with the whole header, and with the fields of a form, which nothing has read yet. */
#ifndef BLURD_SERVER_PICTURE_INTENT_H
#define BLURD_SERVER_PICTURE_INTENT_H

#include "codecs/peek.h"
#include "server/picture/plan.h"

struct intent {
    bool known;         /* the picture was recognised, and codec_probe may take it */
    struct peek header; /* a usual JPEG's where it was not */
    struct plan plan;   /* upright, without metadata, and without limits */
};

/* Into a zeroed intent. `parameters` must outlive it. Takes about a microsecond, however large the body. */
void intent_make(struct intent *intent, struct bytes body, const char *content_type, const char *accept,
                 const struct parameters *parameters, const struct codec_limits *limits);

/* The same with the header already read, NULL where it was not recognised, and a body of `size` bytes. */
void intent_guess(struct intent *intent, const struct peek *header, size_t size, const char *accept,
                  const struct parameters *parameters);

/* Whether a GPU's codecs may do it. */
bool intent_suits_device(const struct intent *intent);

#endif
