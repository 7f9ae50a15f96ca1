/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_write.h"

#include <math.h>

#include "codecs/metadata/icc/icc_element.h"
#include "codecs/metadata/icc/icc_sanitize.h"

enum { TAGS_MAX = 9, ENTRY_SIZE = 12, SAMPLES = 1024, XYZ_SIZE = 20, MATRIX_SIZE = 44, CODE_SIZE = 12 };

#define SIGNATURE ICC_SIGNATURE

/* The curve is that of IEC 61966-2-1. */
const struct icc_write_colours icc_write_srgb = {
    .white = {.3127, .3290},
    .primary = {{.64, .33}, {.30, .60}, {.15, .06}},
    .curve = {ICC_WRITE_PARTS, 2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045},
    .code = {1, 13},
};

static const double d50[3] = {.9642, 1, .8249}; /* ICC.1:2022, clause 7.2.16 */

/* ICC.1:2022, annex E: light as the eye's receptors see it (Bradford). */
static const double receptors[3][3] = {
    {.8951, .2664, -.1614}, {-.7502, 1.7135, .0367}, {.0389, -.0685, 1.0296}};

/* ---- matrices ---- */

static void multiply(const double a[3][3], const double b[3][3], double product[3][3]) {
    for (int i = 0; i < 9; i++) {
        const double *row = a[i / 3];
        product[i / 3][i % 3] = row[0] * b[0][i % 3] + row[1] * b[1][i % 3] + row[2] * b[2][i % 3];
    }
}

static void apply(const double m[3][3], const double v[3], double result[3]) {
    for (int i = 0; i < 3; i++) {
        result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
    }
}

static bool invert(const double m[3][3], double inverse[3][3]) {
    double cofactor[3][3];
    for (int i = 0; i < 9; i++) {
        int r = i / 3, c = i % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        cofactor[r][c] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
    }
    double determinant = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
    for (int i = 0; i < 9; i++) {
        inverse[i / 3][i % 3] = cofactor[i % 3][i / 3] / determinant;
    }
    return fabs(determinant) > 1e-6;
}

static bool to_xyz(const double xy[2], double xyz[3]) {
    xyz[0] = xy[0] / xy[1], xyz[1] = 1, xyz[2] = (1 - xy[0] - xy[1]) / xy[1];
    return xy[0] >= 0 && xy[0] <= 1 && xy[1] > 1e-5 && xy[1] <= 1;
}

/* The matrix from light under the white to light under D50. False for a white that a receptor hardly sees,
 * whose factors would not fit in a profile. Candles give .09 for blue, lamps of 2856 K .34. */
static bool make_adaptation(const double white[3], double adaptation[3][3]) {
    const double least = .05;
    double inverse[3][3], scaled[3][3], from[3], to[3];
    invert(receptors, inverse);
    apply(receptors, white, from);
    apply(receptors, d50, to);
    for (int i = 0; i < 9; i++) {
        scaled[i / 3][i % 3] = receptors[i / 3][i % 3] * to[i / 3] / from[i / 3];
    }
    multiply(inverse, scaled, adaptation);
    return from[0] > least && from[1] > least && from[2] > least;
}

/* Columns of `matrix` become the primaries, in the amounts that make white; false when one is not positive.
 */
static bool scale_primaries(double matrix[3][3], const double white[3]) {
    double inverse[3][3], amount[3];
    if (!invert(matrix, inverse)) {
        return false;
    }
    apply(inverse, white, amount);
    for (int i = 0; i < 9; i++) {
        matrix[i / 3][i % 3] *= amount[i % 3];
    }
    return amount[0] > 0 && amount[1] > 0 && amount[2] > 0;
}

static bool make_colorants(const struct icc_write_colours *colours, double adaptation[3][3],
                           double colorants[3][3]) {
    double white[3], matrix[3][3];
    if (!to_xyz(colours->white, white) || white[0] > 10 || fabs(white[2]) > 10) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        double xyz[3];
        if (!to_xyz(colours->primary[i], xyz)) {
            return false;
        }
        matrix[0][i] = xyz[0], matrix[1][i] = xyz[1], matrix[2][i] = xyz[2];
    }
    if (!scale_primaries(matrix, white) || !make_adaptation(white, adaptation)) {
        return false;
    }
    multiply(adaptation, matrix, colorants);
    return true;
}

/* ---- curves ---- */

/* BT.2100, table 4: PQ to light, 1 being 10000 cd/m2. */
static double pq_light(double x) {
    const double m1 = 2610. / 16384, m2 = 2523. / 32, c1 = 3424. / 4096, c2 = 2413. / 128, c3 = 2392. / 128;
    double root = pow(x, 1 / m2);
    return pow(fmax(root - c1, 0) / (c2 - c3 * root), 1 / m1);
}

/* BT.2100, table 5: HLG to light on a display of 1000 cd/m2 (system gamma 1.2), 1 being its peak. */
static double hlg_light(double x) {
    const double a = .17883277, b = .28466892, c = .55991073;
    double scene = x <= .5 ? x * x / 3 : (exp((x - c) / a) + b) / 12;
    return pow(scene, 1.2);
}

static double table_light(enum icc_write_form form, double x) {
    enum { WHITE = 203 }; /* cd/m2: BT.2408, table 1 */
    double light = form == ICC_WRITE_PQ ? pq_light(x) * 10000 : hlg_light(x) * 1000;
    return fmin(light / WHITE, 1);
}

static void put_fixed(uint8_t *at, double value) {
    bytes_put_be32(at, (uint32_t)(int32_t)floor(value * 65536 + .5));
}

/* Returns the size of the element. */
static size_t put_curve(uint8_t *element, const struct icc_write_curve *curve) {
    const double numbers[5] = {curve->g, curve->a, curve->b, curve->c, curve->d};
    bool parts = curve->form == ICC_WRITE_PARTS;
    if (parts || curve->form == ICC_WRITE_POWER) {
        memcpy(element, "para", 4);
        element[9] = parts ? 3 : 0;
        for (size_t i = 0; i < (parts ? 5 : 1); i++) {
            put_fixed(element + 12 + 4 * i, numbers[i]);
        }
        return parts ? 32 : 16;
    }
    memcpy(element, "curv", 4);
    bytes_put_be32(element + 8, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        unsigned light = (unsigned)lround(65535 * table_light(curve->form, (double)i / (SAMPLES - 1)));
        element[12 + 2 * i] = (uint8_t)(light >> 8), element[13 + 2 * i] = (uint8_t)light;
    }
    return 12 + 2 * SAMPLES;
}

/* ---- the profile ---- */

/* The header, the table, the curve, and all other elements. */
enum {
    RAW_MAX = ICC_HEADER_SIZE + 4 + TAGS_MAX * ENTRY_SIZE + ICC_WRITE_CURVE_MAX + 4 * XYZ_SIZE + MATRIX_SIZE +
              CODE_SIZE
};

struct icc_draft {
    struct bytes element[TAGS_MAX];
    uint32_t tag[TAGS_MAX];
    unsigned count;
};

static void add(struct icc_draft *draft, uint32_t tag, const uint8_t *element, size_t size) {
    draft->tag[draft->count] = tag;
    draft->element[draft->count++] = (struct bytes){element, size};
}

/* Elements that follow each other and are the same are written once. Returns the size. */
static size_t assemble(const struct icc_draft *draft, bool grey, uint8_t raw[RAW_MAX]) {
    size_t at = 0, next = ICC_HEADER_SIZE + 4 + draft->count * ENTRY_SIZE;
    memset(raw, 0, next);
    memcpy(raw + 8, "\4\x40", 2); /* version 4.4 */
    memcpy(raw + 12, grey ? "mntrGRAYXYZ " : "mntrRGB XYZ ", 12);
    memcpy(raw + 36, "acsp", 4);
    bytes_put_be32(raw + ICC_HEADER_SIZE, draft->count);
    for (unsigned i = 0; i < draft->count; i++) {
        uint8_t *entry = raw + ICC_HEADER_SIZE + 4 + i * ENTRY_SIZE;
        const struct bytes element = draft->element[i];
        if (i == 0 || element.data != draft->element[i - 1].data) {
            memcpy(raw + next, element.data, element.size);
            at = next;
            next += element.size;
        }
        bytes_put_be32(entry, draft->tag[i]);
        bytes_put_be32(entry + 4, (uint32_t)at);
        bytes_put_be32(entry + 8, (uint32_t)element.size);
    }
    bytes_put_be32(raw, (uint32_t)next);
    return next;
}

/* icc_sanitize adds the texts and lays the profile out. */
static enum status write_draft(const struct icc_draft *draft, bool grey, struct buf *output,
                               struct error *err) {
    uint8_t raw[RAW_MAX];
    return icc_sanitize((struct bytes){raw, assemble(draft, grey, raw)}, output, err);
}

bool icc_write_has_code(const struct icc_write_colours *colours) {
    return colours->curve.form == ICC_WRITE_PQ || colours->curve.form == ICC_WRITE_HLG;
}

/* What stands beside the curve. */
struct elements {
    uint8_t colorant[3][XYZ_SIZE], white[XYZ_SIZE], adaptation[MATRIX_SIZE], code[CODE_SIZE];
};

static bool make_elements(const struct icc_write_colours *colours, struct elements *made) {
    double adaptation[3][3], colorants[3][3];
    if (!make_colorants(colours, adaptation, colorants)) {
        return false;
    }
    *made = (struct elements){.white = "XYZ ", .adaptation = "sf32", .code = "cicp"};
    for (unsigned i = 0; i < 9; i++) {
        memcpy(made->colorant[i / 3], "XYZ ", 4);
        put_fixed(made->colorant[i / 3] + 8 + 4 * (i % 3), colorants[i % 3][i / 3]);
        put_fixed(made->adaptation + 8 + 4 * i, adaptation[i / 3][i % 3]);
    }
    for (unsigned i = 0; i < 3; i++) {
        put_fixed(made->white + 8 + 4 * i, d50[i]);
    }
    made->code[8] = colours->code[0], made->code[9] = colours->code[1], made->code[11] = 1;
    return true;
}

static enum status write_with(const struct icc_write_colours *colours, struct bytes curve, bool grey,
                              struct buf *output, struct error *err) {
    static const uint32_t tags[] = {SIGNATURE('r', 'X', 'Y', 'Z'), SIGNATURE('g', 'X', 'Y', 'Z'),
                                    SIGNATURE('b', 'X', 'Y', 'Z'), SIGNATURE('r', 'T', 'R', 'C'),
                                    SIGNATURE('g', 'T', 'R', 'C'), SIGNATURE('b', 'T', 'R', 'C')};
    struct elements made;
    struct icc_draft draft = {.count = 0};
    if (!make_elements(colours, &made)) {
        return ST_OK;
    }
    for (unsigned i = 0; i < 6 && !grey; i++) {
        struct bytes element = i < 3 ? (struct bytes){made.colorant[i], XYZ_SIZE} : curve;
        add(&draft, tags[i], element.data, element.size);
    }
    if (grey) {
        add(&draft, SIGNATURE('k', 'T', 'R', 'C'), curve.data, curve.size);
    }
    add(&draft, SIGNATURE('w', 't', 'p', 't'), made.white, XYZ_SIZE);
    add(&draft, SIGNATURE('c', 'h', 'a', 'd'), made.adaptation, MATRIX_SIZE);
    if (!grey && icc_write_has_code(colours)) {
        add(&draft, SIGNATURE('c', 'i', 'c', 'p'), made.code, CODE_SIZE);
    }
    return write_draft(&draft, grey, output, err);
}

enum status icc_write(const struct icc_write_colours *colours, bool grey, struct buf *output,
                      struct error *err) {
    uint8_t curve[12 + 2 * SAMPLES] = {0};
    size_t size = put_curve(curve, &colours->curve);
    return write_with(colours, (struct bytes){curve, size}, grey, output, err);
}

enum status icc_write_from_curve(struct bytes curve, bool grey, struct buf *output, struct error *err) {
    return curve.size <= ICC_WRITE_CURVE_MAX ? write_with(&icc_write_srgb, curve, grey, output, err) : ST_OK;
}
