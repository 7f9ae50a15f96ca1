/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_write.h"

#include <math.h>

#include "codecs/definition.h"
#include "codecs/metadata/icc/icc_sanitize.h"
#include "tests/unit/codecs/picture_fixture.h"

#include <cmocka.h>

static const struct icc_write_colours p3 = {
    .white = {.3127, .3290},
    .primary = {{.680, .320}, {.265, .690}, {.150, .060}},
    .curve = {.form = ICC_WRITE_POWER, .g = 2.2},
};

static struct buf written(const struct icc_write_colours *colours, bool grey) {
    struct buf output;
    struct error err;
    buf_init(&output, METADATA_ICC_MAX);
    assert_int_equal(icc_write(colours, grey, &output, &err), ST_OK);
    return output;
}

static const uint8_t *element(const struct buf *profile, const char *tag) {
    for (uint32_t i = 0; i < bytes_be32(profile->data + 128); i++) {
        const uint8_t *entry = profile->data + 132 + 12 * (size_t)i;
        if (memcmp(entry, tag, 4) == 0) {
            return profile->data + bytes_be32(entry + 4);
        }
    }
    return NULL;
}

static double number(const uint8_t *at) {
    return (int32_t)bytes_be32(at) / 65536.;
}

/* The numbers of Apple's profile "Display P3" and of the ICC's for sRGB, version 4. */
static void test_known_colorants(void **state) {
    (void)state;
    static const double known[2][9] = {
        {.51512, .24120, -.00105, .29198, .69225, .04189, .15710, .06657, .78407},
        {.43607, .22249, .01392, .38515, .71687, .09708, .14307, .06061, .71410}};
    for (int i = 0; i < 2; i++) {
        struct buf profile = written(i == 0 ? &p3 : &icc_write_srgb, false);
        for (int k = 0; k < 9; k++) {
            static const char *const tags[] = {"rXYZ", "gXYZ", "bXYZ"};
            double made = number(element(&profile, tags[k / 3]) + 8 + 4 * (size_t)(k % 3));
            assert_true(fabs(made - known[i][k]) < .0003);
        }
        buf_finish(&profile);
    }
}

static void test_curves(void **state) {
    (void)state;
    struct buf profile = written(&p3, true);
    assert_memory_equal(profile.data + 16, "GRAY", 4);
    assert_memory_equal(element(&profile, "kTRC"), "para\0\0\0\0\0\0\0\0\0\2\x33\x33", 16);
    assert_null(element(&profile, "cicp"));
    buf_finish(&profile);
    profile = written(&icc_write_srgb, false);
    assert_memory_equal(element(&profile, "gTRC"), "para\0\0\0\0\0\3\0\0\0\2\x66\x66", 16);
    buf_finish(&profile);
}

/* 203 cd/m2 is 58 % of PQ and 75 % of HLG (BT.2408, table 1). */
static void test_high_dynamic_range(void **state) {
    (void)state;
    static const double white[] = {.5807, .75};
    for (int i = 0; i < 2; i++) {
        struct icc_write_colours colours = p3;
        colours.curve.form = i == 0 ? ICC_WRITE_PQ : ICC_WRITE_HLG;
        colours.code[0] = 9, colours.code[1] = i == 0 ? 16 : 18;
        struct buf profile = written(&colours, false);
        const uint8_t code[] = {9, colours.code[1], 0, 1};
        const uint8_t *samples = element(&profile, "rTRC") + 12;
        size_t at = (size_t)(white[i] * 1023);
        assert_memory_equal(element(&profile, "cicp") + 8, code, 4);
        assert_true(bytes_be16(samples + 2 * (at - 10)) < 65000);
        assert_true(bytes_be16(samples + 2 * (at - 10)) > 55000);
        assert_int_equal(bytes_be16(samples + 2 * (at + 10)), 65535);
        buf_finish(&profile);
    }
}

/* The next answer writes the profile byte for byte. */
static void test_a_written_profile_stays(void **state) {
    (void)state;
    struct buf profile = written(&p3, false), again;
    buf_init(&again, METADATA_ICC_MAX);
    assert_int_equal(icc_sanitize(buf_bytes(&profile), &again, NULL), ST_OK);
    assert_int_equal(again.size, profile.size);
    assert_memory_equal(again.data, profile.data, profile.size);
    buf_finish(&profile);
    buf_finish(&again);
}

static void test_what_is_no_colour(void **state) {
    (void)state;
    static const double wrong[][2] = {{1.2, .3}, {-.1, .3}, {.64, 1.1}, {.64, -.1}};
    for (int i = 0; i < 9; i++) {
        struct icc_write_colours colours = p3;
        if (i > 4) {
            memcpy(colours.primary[0], wrong[i - 5], sizeof wrong[0]);
        } else if (i == 0) {
            colours.white[1] = 0;
        } else if (i == 1) {
            memcpy(colours.primary[1], colours.primary[0], sizeof colours.primary[0]);
        } else if (i == 2) {
            colours.white[0] = .1, colours.white[1] = .8; /* outside of the triangle */
        } else if (i == 3) {
            colours.primary[2][1] = 0;
        } else { /* a white without blue, between primaries that no eye can see */
            colours.white[0] = .6378, colours.white[1] = .3622;
            colours.primary[0][0] = 1, colours.primary[0][1] = .5;
        }
        struct buf profile = written(&colours, false);
        assert_int_equal(profile.size, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_colorants),    cmocka_unit_test(test_curves),
        cmocka_unit_test(test_high_dynamic_range), cmocka_unit_test(test_a_written_profile_stays),
        cmocka_unit_test(test_what_is_no_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
