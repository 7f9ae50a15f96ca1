/* SPDX-License-Identifier: MIT
 * Boxes of the ISO base media file format (ISO/IEC 14496-12), of which AVIF and HEIC are. All functions stay
 * inside their input and are thread-safe. Internal to codecs/. */
#ifndef BLURD_CODECS_BMFF_BMFF_H
#define BLURD_CODECS_BMFF_BMFF_H

#include <stdbool.h>

#include "core/bytes.h"

struct peek;

/* Whether the file begins with a box `ftyp` that lists the brand of four letters, as major or compatible. */
bool bmff_has_brand(struct bytes input, const char brand[static 4]);

/* What the items of a file have, whichever picture they belong to, before turning and cropping. */
struct bmff_facts {
    uint32_t width, height; /* of the largest item */
    uint8_t channels;       /* the most of an item; 0: none tells */
    bool deep;              /* some item has more than 8 bits */
    bool alpha;             /* some item is an alpha plane */
};

/* Reads them from the box `meta`, in microseconds, for predictions: they may be a lie. False when the file
 * states no size in its first boxes. */
bool bmff_look(struct bytes input, struct bmff_facts *facts);

/* As `peek` of struct codec, from these facts. */
bool bmff_peek(struct bytes input, struct peek *peek);

/* The signature of HEIC and AVIF files: the box `ftyp`, whose brands `sniff` tells apart. */
#define BMFF_SIGNATURE                                                                                       \
    { "\0\0??ftyp????????", 16 }

struct bmff_box {
    uint32_t type; /* four letters, big-endian */
    struct bytes body;
};

static inline uint32_t bmff_type(const char letters[static 4]) {
    return (uint32_t)(uint8_t)letters[0] << 24 | (uint32_t)(uint8_t)letters[1] << 16 |
           (uint32_t)(uint8_t)letters[2] << 8 | (uint8_t)letters[3];
}

/* Takes the first box off *rest; a body that is too long ends with *rest. False without a whole, valid
 * header. */
bool bmff_next(struct bytes *rest, struct bmff_box *box);

/* Finds the first box of the type among `boxes`; false, and an empty body, without one. */
bool bmff_find(struct bytes boxes, const char type[static 4], struct bytes *body);

/* Takes a big-endian number of 0 to 8 bytes off *from; 0 bytes are 0. False when *from is shorter. */
bool bmff_number(struct bytes *from, unsigned size, uint64_t *value);

/* Takes the version and the flags off the body of a full box. False when it is shorter. */
bool bmff_version(struct bytes *body, uint8_t *version, uint32_t *flags);

#endif
