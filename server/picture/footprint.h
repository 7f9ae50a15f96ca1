/* SPDX-License-Identifier: MIT
 * The memory that a picture takes, beside its body: what the pipeline takes out of a slot or claims, told
 * from the plan before it is taken, and from a guess at the plan when the request is queued. */
#ifndef BLURD_SERVER_PICTURE_FOOTPRINT_H
#define BLURD_SERVER_PICTURE_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "filters/backend.h"
#include "server/picture/plan.h"

/* In bytes. */
struct footprint {
    size_t picture; /* of each of two places, for the stored picture, the upright one and a result; 0: the
                       picture is too large for memory */
    size_t linear;  /* of each of two more, for pictures in linear light; 0: not wanted */
    size_t mask;    /* of each of two, for regions and redaction; 0: not wanted */
    size_t working; /* that the CPU backend works in, on one thread */
    size_t library; /* that codecs take by themselves, and the answer */
};

/* What the plan takes, with the filters on that CPU backend. */
struct footprint footprint_of(const struct plan *plan, const struct backend *cpu);

/* All of it. */
uint64_t footprint_sum(const struct footprint *footprint);

/* Bytes for a JPEG that a device encodes: what filtered photographs take is a fraction of this, and one that
 * takes more is encoded by the CPU. */
size_t footprint_room(const struct plan *plan);

#endif
