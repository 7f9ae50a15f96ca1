/* SPDX-License-Identifier: MIT
 * Which descriptions of colours become a profile, and which profiles are read. */
#include "codecs/metadata/icc/icc_colours.h"

#include "codecs/definition.h"
#include "codecs/metadata/icc/icc.h"
#include "codecs/metadata/icc/icc_element.h"
#include "codecs/metadata/icc/icc_sanitize.h"
#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

#include <zlib.h>

#include <cmocka.h>

#define TAG ICC_SIGNATURE

enum { SIZE = 400 };

static struct metadata_chunk colour(uint32_t tag, const void *data, size_t size) {
    return (struct metadata_chunk){CHUNK_COLOUR, tag, {data, size}};
}

/* Bytes of the profile that a JPEG gets. */
static size_t described(const struct metadata *metadata, enum pixel_model model, bool *complete) {
    struct buf profile;
    struct error err;
    buf_init(&profile, METADATA_ICC_MAX);
    assert_int_equal(icc_colours_describe(metadata, codec_get(CODEC_JPEG), model, &profile, complete, &err),
                     ST_OK);
    size_t size = profile.size;
    buf_finish(&profile);
    return size;
}

static void test_code_points(void **state) {
    (void)state;
    static const struct {
        uint8_t code[4];
        bool needs;
    } cases[] = {{{1, 1}, false},  {{1, 2}, false},  {{1, 6}, false}, {{1, 13}, false},
                 {{1, 14}, false}, {{1, 15}, false}, {{2, 6}, false}, {{2, 2}, false},
                 {{1, 4}, true},   {{1, 8}, true},   {{9, 6}, true},  {{12, 13}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metadata metadata = {.chunk_count = 1};
        bool complete;
        metadata.chunk[0] = colour(TAG('c', 'I', 'C', 'P'), cases[i].code, 4);
        assert_int_equal(described(&metadata, PIXEL_RGB, &complete) > 0, cases[i].needs);
        assert_true(complete);
        metadata.chunk[0].kind = CHUNK_TEXT; /* of another kind, or of another length */
        assert_int_equal(described(&metadata, PIXEL_RGB, &complete), 0);
        metadata.chunk[0] = colour(TAG('c', 'I', 'C', 'P'), cases[i].code, 3);
        assert_int_equal(described(&metadata, PIXEL_RGB, &complete), 0);
    }
}

/* Each of the eight numbers counts, but for greys. */
static void test_chromaticities(void **state) {
    (void)state;
    static const uint32_t usual[8] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
    for (unsigned i = 0; i <= 8; i++) {
        uint8_t chrm[32];
        for (unsigned k = 0; k < 8; k++) {
            bytes_put_be32(chrm + 4 * (size_t)k, usual[k] + (k == i ? 2000 : 90));
        }
        struct metadata metadata = {.chunk_count = 1};
        bool complete;
        metadata.chunk[0] = colour(TAG('c', 'H', 'R', 'M'), chrm, sizeof chrm);
        assert_int_equal(described(&metadata, PIXEL_RGB, &complete) > 0, i < 8);
        assert_int_equal(described(&metadata, PIXEL_GRAY, &complete), 0);
    }
}

static void test_what_is_lost(void **state) {
    (void)state;
    static const uint8_t bytes[8] = {0};
    const struct metadata_chunk chunks[] = {{CHUNK_ICC, 0, {bytes, 8}},
                                            {CHUNK_ICC_DEFLATED, 0, {bytes, 8}},
                                            colour(TAG('m', 'D', 'C', 'V'), bytes, 8),
                                            colour(TAG('c', 'L', 'L', 'I'), bytes, 8),
                                            {CHUNK_COMMENT, 0, {bytes, 8}},
                                            {CHUNK_TEXT, TAG('c', 'L', 'L', 'I'), {bytes, 8}}};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        struct metadata metadata = {.chunk_count = 1};
        bool complete;
        metadata.chunk[0] = chunks[i];
        assert_int_equal(described(&metadata, PIXEL_RGB, &complete), 0);
        assert_int_equal(complete, i >= 4);
    }
}

/* cICP goes before the profile of the same PNG. Another PNG gets both, other formats what cICP says. */
static void test_a_profile_beside_code_points(void **state) {
    (void)state;
    static const struct {
        enum codec_id target;
        bool stays;
    } cases[] = {{CODEC_PNG, true}, {CODEC_JPEG, false}, {CODEC_WEBP, false}};
    static const uint8_t code[4] = {1, 13, 0, 1}, bytes[8] = {0};
    const struct metadata metadata = {
        .chunk_count = 2,
        .chunk = {colour(TAG('c', 'I', 'C', 'P'), code, 4), {CHUNK_ICC_DEFLATED, 0, {bytes, sizeof bytes}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf profile;
        struct error err;
        bool complete;
        buf_init(&profile, METADATA_ICC_MAX);
        assert_int_equal(buf_append(&profile, bytes, sizeof bytes, &err), ST_OK);
        assert_int_equal(
            icc_colours_describe(&metadata, codec_get(cases[i].target), PIXEL_RGB, &profile, &complete, &err),
            ST_OK);
        assert_int_equal(profile.size, cases[i].stays ? sizeof bytes : 0);
        assert_true(complete);
        buf_finish(&profile);
    }
}

static size_t take(const struct metadata *metadata, uint8_t *bytes) {
    struct buf profile;
    struct error err;
    assert_int_equal(icc_read(metadata, PIXEL_RGB, &profile, &err), ST_OK);
    size_t size = profile.size;
    assert_true(size <= SIZE);
    memcpy(bytes, profile.data ? profile.data : bytes, size);
    buf_finish(&profile);
    return size;
}

/* In three parts with something else between them; without one part it is no profile. */
static void test_parts_are_joined(void **state) {
    (void)state;
    uint8_t profile[SIZE], result[SIZE];
    icc_make(profile, SIZE, "RGB ");
    struct metadata metadata = {.chunk_count = 4,
                                .chunk = {{CHUNK_ICC, 0, {profile, 100}},
                                          {CHUNK_ICC, 0, {profile + 100, 100}},
                                          {CHUNK_COMMENT, 0, {profile, 100}},
                                          {CHUNK_ICC, 0, {profile + 200, SIZE - 200}},
                                          {CHUNK_ICC, 0, {profile, SIZE}}}}; /* beyond the count */
    assert_int_equal(take(&metadata, result), SIZE);
    assert_memory_equal(result, profile, SIZE);
    metadata.chunk_count = 3;
    assert_int_equal(take(&metadata, result), 0);
    metadata.chunk_count = 4;
    memcpy(profile, "acsp", 4); /* a length that it has not */
    assert_int_equal(take(&metadata, result), 0);
}

static void test_deflated(void **state) {
    (void)state;
    uint8_t profile[SIZE], result[SIZE], chunk[2 * SIZE] = "name\0";
    uLongf size = sizeof chunk - 6;
    icc_make(profile, SIZE, "RGB ");
    assert_int_equal(compress(chunk + 6, &size, profile, SIZE), Z_OK);
    struct metadata metadata = {.chunk_count = 1, .chunk = {{CHUNK_ICC_DEFLATED, 0, {chunk, 6 + size}}}};
    assert_int_equal(take(&metadata, result), SIZE);
    assert_memory_equal(result, profile, SIZE);
    metadata.chunk[0].data.size = 6 + size / 2;
    assert_int_equal(take(&metadata, result), 0);
    metadata.chunk[0].data.size = 6 + size;
    chunk[5] = 1; /* another method */
    assert_int_equal(take(&metadata, result), 0);
}

static enum status read_in_little(void *context) {
    struct buf profile;
    struct error err;
    limit_memory(0);
    return icc_read(context, PIXEL_RGB, &profile, &err);
}

static enum status sanitize_in_little(void *context) {
    const struct metadata *metadata = context;
    struct buf profile;
    struct error err;
    buf_init(&profile, METADATA_ICC_MAX);
    limit_memory(0);
    return icc_sanitize(metadata->chunk[0].data, &profile, &err);
}

/* Want of memory is told: the profile does not go without a word. */
static void test_without_memory(void **state) {
    (void)state;
    if (!memory_is_limited()) {
        skip();
    }
    enum { LARGE = METADATA_ICC_MAX };
    uint8_t *large = malloc(LARGE);
    icc_make(large, LARGE, "RGB ");
    struct metadata metadata = {.chunk_count = 1, .chunk = {{CHUNK_ICC, 0, {large, LARGE}}}};
    assert_int_equal(in_child(read_in_little, &metadata), ST_BUSY);
    assert_int_equal(in_child(sanitize_in_little, &metadata), ST_BUSY);
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_points),      cmocka_unit_test(test_chromaticities),
        cmocka_unit_test(test_what_is_lost),     cmocka_unit_test(test_a_profile_beside_code_points),
        cmocka_unit_test(test_parts_are_joined), cmocka_unit_test(test_deflated),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
