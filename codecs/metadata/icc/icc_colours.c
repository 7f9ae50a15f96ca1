/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_colours.h"

#include <stdlib.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/icc/icc_element.h"
#include "codecs/metadata/icc/icc_write.h"

#define TAG ICC_SIGNATURE

enum {
    CICP = TAG('c', 'I', 'C', 'P'),
    GAMA = TAG('g', 'A', 'M', 'A'),
    CHRM = TAG('c', 'H', 'R', 'M'),
    SRGB = TAG('s', 'R', 'G', 'B'),
};

/* Values of ITU-T H.273. */
enum { CODE_BT709 = 1, CODE_UNSPECIFIED = 2, CODE_SRGB = 13 };

/* What a file says about colours. */
enum said { SAID_NOTHING, SAID_SRGB, SAID_COLOURS, SAID_UNKNOWN };

#define D65                                                                                                  \
    { .3127, .3290 }
#define C                                                                                                    \
    { .310, .316 }

/* ITU-T H.273, table 2. */
static const struct {
    uint8_t code;
    double white[2], primary[3][2];
} primaries[] = {
    {CODE_BT709, D65, {{.64, .33}, {.30, .60}, {.15, .06}}},
    {CODE_UNSPECIFIED, D65, {{.64, .33}, {.30, .60}, {.15, .06}}},
    {4, C, {{.67, .33}, {.21, .71}, {.14, .08}}},
    {5, D65, {{.64, .33}, {.29, .60}, {.15, .06}}},
    {6, D65, {{.630, .340}, {.310, .595}, {.155, .070}}},
    {7, D65, {{.630, .340}, {.310, .595}, {.155, .070}}},
    {8, C, {{.681, .319}, {.243, .692}, {.145, .049}}},
    {9, D65, {{.708, .292}, {.170, .797}, {.131, .046}}},
    {11, {.314, .351}, {{.680, .320}, {.265, .690}, {.150, .060}}},
    {12, D65, {{.680, .320}, {.265, .690}, {.150, .060}}},
    {22, D65, {{.630, .340}, {.295, .605}, {.155, .077}}},
};

#define CURVE_SRGB                                                                                           \
    { ICC_WRITE_PARTS, 2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045 }
#define CURVE_BT709                                                                                          \
    { ICC_WRITE_PARTS, 1 / .45, 1 / 1.099, .099 / 1.099, 1 / 4.5, .081 }

/* ITU-T H.273, table 3, from stored values to light. */
static const struct {
    uint8_t code;
    struct icc_write_curve curve;
} transfers[] = {
    {1, CURVE_BT709},
    {CODE_UNSPECIFIED, CURVE_SRGB},
    {4, {.form = ICC_WRITE_POWER, .g = 2.2}},
    {5, {.form = ICC_WRITE_POWER, .g = 2.8}},
    {6, CURVE_BT709},
    {7, {ICC_WRITE_PARTS, 1 / .45, 1 / 1.1115, .1115 / 1.1115, 1 / 4., .0913}},
    {8, {.form = ICC_WRITE_POWER, .g = 1}},
    {11, CURVE_BT709},
    {CODE_SRGB, CURVE_SRGB},
    {14, CURVE_BT709},
    {15, CURVE_BT709},
    {16, {.form = ICC_WRITE_PQ}},
    {18, {.form = ICC_WRITE_HLG}},
};

/* Adobe RGB (1998), 4.3.1 and 4.3.4. */
static const struct icc_write_colours adobe = {
    .white = D65,
    .primary = {{.64, .33}, {.21, .71}, {.15, .06}},
    .curve = {.form = ICC_WRITE_POWER, .g = 563. / 256},
};

static const uint8_t *find(const struct metadata *metadata, uint32_t tag, size_t size) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->kind == CHUNK_COLOUR && chunk->tag == tag && chunk->data.size == size) {
            return chunk->data.data;
        }
    }
    return NULL;
}

/* ---- code points ---- */

static bool take_primaries(uint8_t code, struct icc_write_colours *colours) {
    for (size_t i = 0; i < sizeof primaries / sizeof *primaries; i++) {
        if (primaries[i].code == code) {
            memcpy(colours->white, primaries[i].white, sizeof colours->white);
            memcpy(colours->primary, primaries[i].primary, sizeof colours->primary);
            return true;
        }
    }
    return false;
}

static bool take_transfer(uint8_t code, struct icc_write_colours *colours) {
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++) {
        if (transfers[i].code == code) {
            colours->curve = transfers[i].curve;
            return true;
        }
    }
    return false;
}

/* The transfers of BT.601, BT.709 and BT.2020 are one curve, which pictures of BT.709 share with sRGB: what
 * shows pictures takes one for the other. */
static bool is_usual(uint8_t transfer) {
    return transfer == CODE_BT709 || transfer == CODE_UNSPECIFIED || transfer == 6 || transfer == CODE_SRGB ||
           transfer == 14 || transfer == 15;
}

static enum said read_code(const uint8_t *code, bool grey, struct icc_write_colours *colours) {
    if (code[0] == CODE_UNSPECIFIED && code[1] == CODE_UNSPECIFIED) {
        return SAID_NOTHING;
    }
    if (is_usual(code[1]) && (grey || code[0] == CODE_BT709 || code[0] == CODE_UNSPECIFIED)) {
        return SAID_SRGB;
    }
    colours->code[0] = code[0] == CODE_UNSPECIFIED ? CODE_BT709 : code[0];
    colours->code[1] = code[1];
    return take_primaries(code[0], colours) && take_transfer(code[1], colours) ? SAID_COLOURS : SAID_UNKNOWN;
}

/* ---- chunks of PNG ---- */

/* Eight numbers in steps of 1/100000: x and y of white, red, green and blue. Returns whether they are other
 * primaries than those of sRGB. */
static bool read_chromaticities(const uint8_t *chrm, struct icc_write_colours *colours) {
    enum { TOLERANCE = 100, ONE = 100000 };
    const double *usual[] = {icc_write_srgb.white, icc_write_srgb.primary[0], icc_write_srgb.primary[1],
                             icc_write_srgb.primary[2]};
    double *to[] = {colours->white, colours->primary[0], colours->primary[1], colours->primary[2]};
    bool other = false;
    for (unsigned i = 0; i < 8; i++) {
        double value = (double)bytes_be32(chrm + 4 * (size_t)i), distance = value - usual[i / 2][i % 2] * ONE;
        to[i / 2][i % 2] = value / ONE;
        other = other || distance > TOLERANCE || distance < -TOLERANCE;
    }
    return other;
}

/* 1/2.2 is what encoders of sRGB write, and means that. */
static bool read_gamma(const uint8_t *gama, struct icc_write_colours *colours) {
    enum { USUAL = 45455, TOLERANCE = 100, ONE = 100000 };
    int64_t gamma = bytes_be32(gama);
    bool other = llabs(gamma - USUAL) > TOLERANCE;
    if (other) {
        colours->curve = (struct icc_write_curve){.form = ICC_WRITE_POWER, .g = ONE / (double)gamma};
    }
    return other;
}

static enum said read_png(const struct metadata *metadata, bool grey, struct icc_write_colours *colours) {
    enum { LEAST = 1000, MOST = 10000000 }; /* exponents of 1/100 to 100 */
    const uint8_t *gama = find(metadata, GAMA, 4), *chrm = find(metadata, CHRM, 32);
    if (find(metadata, SRGB, 1)) {
        return SAID_SRGB;
    }
    if (gama && (bytes_be32(gama) < LEAST || bytes_be32(gama) > MOST)) {
        return SAID_UNKNOWN;
    }
    bool other = gama && read_gamma(gama, colours);
    other = (chrm && !grey && read_chromaticities(chrm, colours)) || other;
    return other ? SAID_COLOURS : gama || chrm ? SAID_SRGB : SAID_NOTHING;
}

/* ---- the choice ---- */

struct choice {
    struct icc_write_colours colours;
    enum said said;
    bool native;   /* the target has a place for it */
    bool outranks; /* an ICC profile of the same file does not count */
};

/* cICP goes before iCCP (PNG, third edition, on the precedence of chunks for colours). In AVIF and HEIC a
 * profile goes before the code points. */
static bool has_lower_profile(const struct metadata *metadata) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        if (metadata->chunk[i].kind == CHUNK_ICC_DEFLATED) {
            return true;
        }
    }
    return false;
}

static struct choice choose(const struct metadata *metadata, enum codec_colours place, bool grey) {
    struct choice choice = {.colours = icc_write_srgb, .said = SAID_NOTHING};
    const uint8_t *code = find(metadata, CICP, 4);
    if (code) {
        bool whole = code[0] != CODE_UNSPECIFIED && code[1] != CODE_UNSPECIFIED;
        choice.said = read_code(code, grey, &choice.colours);
        choice.native = place == COLOURS_CODES || (place == COLOURS_CHUNKS && whole);
        choice.outranks = whole && choice.said != SAID_UNKNOWN && has_lower_profile(metadata);
    }
    if (choice.said == SAID_NOTHING) {
        choice.said = read_png(metadata, grey, &choice.colours);
        choice.native = place == COLOURS_CHUNKS;
    }
    if (choice.said == SAID_NOTHING && exif_is_adobe_rgb(metadata->exif)) {
        choice = (struct choice){.colours = adobe, .said = SAID_COLOURS};
    }
    return choice;
}

/* Whether the answer cannot say what the chunk says, with a profile or without one. */
static bool is_chunk_lost(const struct metadata_chunk *chunk, enum codec_colours place, bool profile) {
    bool part = chunk->kind == CHUNK_ICC || chunk->kind == CHUNK_ICC_DEFLATED;
    bool light = chunk->kind == CHUNK_COLOUR &&
                 (chunk->tag == TAG('m', 'D', 'C', 'V') || chunk->tag == TAG('c', 'L', 'L', 'I'));
    return (part && !profile) || (light && place != COLOURS_CHUNKS);
}

enum status icc_colours_describe(const struct metadata *metadata, const struct codec *target,
                                 enum pixel_model model, struct buf *profile, bool *complete,
                                 struct error *err) {
    bool grey = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    struct choice choice = choose(metadata, target->colours, grey);
    profile->size = choice.outranks && target->colours != COLOURS_CHUNKS ? 0 : profile->size;
    bool given = profile->size > 0;
    bool needed = !choice.native && (choice.said == SAID_COLOURS || choice.said == SAID_UNKNOWN);
    *complete = true;
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        *complete =
            *complete && !is_chunk_lost(&metadata->chunk[i], target->colours, given || choice.outranks);
    }
    if (given || !needed) {
        return ST_OK;
    }
    enum status status = choice.said == SAID_COLOURS ? icc_write(&choice.colours, grey, profile, err) : ST_OK;
    *complete = *complete && profile->size > 0 && !(grey && icc_write_has_code(&choice.colours));
    return status;
}
