/* SPDX-License-Identifier: MIT
 * Rules for files that come before libheif, which lets pictures refer to themselves, and leaves the memory of
 * missing tiles as it was. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_CHECK_H
#define BLURD_CODECS_HEIC_HEIC_CHECK_H

#include "codecs/bmff/bmff_light.h"
#include "codecs/definition.h"

struct heic_facts {
    bool gray;       /* the primary picture has no colours */
    uint8_t halved;  /* its chroma: 1 is 4:2:0, 2 is 4:2:2, 0 any other or a mixture */
    bool gain_map;   /* the file has one */
    unsigned losses; /* bits of codecs/metadata/losses.h: pictures beside the primary one */
    struct bmff_light light;
};

/* Checks that the primary picture is made of HEVC pictures, that tiles cover it, and that the pixels to
 * decode are in proportion to the limit. ST_UNSUPPORTED for other codecs and sequences, ST_LIMIT, ST_CORRUPT,
 * ST_BUSY. *mended, which the caller frees with buf_finish, receives what libheif is to read instead, or
 * stays empty: heic_references.h. */
enum status heic_check(struct bytes input, const struct codec_limits *limits, struct heic_facts *facts,
                       struct buf *mended, struct error *err);

#endif
