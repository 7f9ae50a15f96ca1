/* SPDX-License-Identifier: MIT
 * Elements of ICC profiles: what the tags of a profile refer to. Layouts: ICC.1:2022, clause 10. Internal to
 * codecs/metadata. */
#ifndef BLURD_CODECS_METADATA_ICC_ELEMENT_H
#define BLURD_CODECS_METADATA_ICC_ELEMENT_H

#include "core/bytes.h"

#define ICC_SIGNATURE(a, b, c, d)                                                                            \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* Groups of types that may stand for each other. */
enum {
    ICC_XYZ = 1,    /* XYZ: one colour */
    ICC_CURVE = 2,  /* curv, para: tables and formulas of one channel */
    ICC_MATRIX = 4, /* sf32: nine numbers */
    ICC_TABLE = 8,  /* mft1, mft2, mAB, mBA: curves, matrices and a table of colours */
    ICC_CODE = 16,  /* cicp: code points of ITU-T H.273 */
};

/* The group of the element's type; 0 when it is none of them. */
unsigned icc_element_types(struct bytes element);

/* Appends the element without what its type does not use: reserved bytes are zero, and bytes between and
 * behind its parts are left out. Appends nothing when it is damaged. Fails as buf_append does. */
enum status icc_element_copy(struct bytes element, struct buf *output, struct error *err);

#endif
