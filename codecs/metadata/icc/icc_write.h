/* SPDX-License-Identifier: MIT
 * Writes ICC profiles for colours that a file describes in another way. The layouts are those of ICC.1:2022
 * (profile version 4.4). Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_WRITE_H
#define BLURD_CODECS_METADATA_ICC_WRITE_H

#include "core/bytes.h"

/* How stored values become light. */
struct icc_write_curve {
    enum icc_write_form {
        ICC_WRITE_POWER, /* x ^ g */
        ICC_WRITE_PARTS, /* (a x + b) ^ g from d on, and c x below */
        ICC_WRITE_PQ,    /* BT.2100 PQ and HLG: tables up to the reference white, and the code */
        ICC_WRITE_HLG,
    } form;
    double g, a, b, c, d;
};

struct icc_write_colours {
    double white[2], primary[3][2]; /* chromaticities x and y; primaries are red, green and blue */
    struct icc_write_curve curve;
    uint8_t code[2]; /* primaries and transfer of ITU-T H.273; written with PQ and HLG, else unused */
};

enum { ICC_WRITE_CURVE_MAX = 64 << 10 }; /* bytes of a curve that icc_write_from_curve takes */

/* Appends to *output, an empty buffer, a profile for RGB, or for grey with the curve alone. Appends nothing
 * when the numbers are no colours: a primary without light, a white that the primaries cannot mix, or one
 * without red, green or blue. The table of PQ and HLG ends at the reference white of BT.2408, 203 cd/m2;
 * readers that know the code see more. ST_BUSY without memory. Thread-safe. */
enum status icc_write(const struct icc_write_colours *colours, bool grey, struct buf *output,
                      struct error *err);

/* Whether light beyond the reference white is described by the code alone (PQ and HLG). A profile for grey
 * has no place for a code (ICC.1:2022, cicpTag). */
bool icc_write_has_code(const struct icc_write_colours *colours);

/* The same with the primaries of sRGB and a curve that is an element of another profile. Appends nothing for
 * a curve over ICC_WRITE_CURVE_MAX. */
enum status icc_write_from_curve(struct bytes curve, bool grey, struct buf *output, struct error *err);

/* BT.709, of sRGB too (ITU-T H.273, table 2, value 1). */
extern const struct icc_write_colours icc_write_srgb;

#endif
