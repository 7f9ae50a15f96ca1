/* SPDX-License-Identifier: MIT
 * What is made of the library's failures: a status, and a sentence for each. */
#include "codecs/heic/heic_reader.h"

#include "tests/unit/codecs/heic/heic_fixture.h"

static void test_each_failure_has_a_sentence(void **state) {
    (void)state;
    static const struct {
        struct heif_error failure;
        enum status status;
        const char *text;
    } cases[] = {
        {{heif_error_Invalid_input, heif_suberror_Unspecified, "one\ntwo"},
         ST_CORRUPT,
         "HEIC data are damaged or cut short: one"},
        {{heif_error_Unsupported_feature, heif_suberror_Unspecified, "x"},
         ST_UNSUPPORTED,
         "HEIC variant is not supported: x"},
        {{heif_error_Invalid_input, heif_suberror_Security_limit_exceeded, "x"},
         ST_LIMIT,
         "HEIC is over a limit of its library: x"},
        {{heif_error_Memory_allocation_error, heif_suberror_Unspecified, NULL},
         ST_BUSY,
         "out of memory in the HEIC library: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error err;
        assert_int_equal(heic_reader_fail(&cases[i].failure, &err), cases[i].status);
        assert_string_equal(err.text, cases[i].text);
    }
}

/* The boxes are sound, so heic_check has nothing against them. */
static void test_what_the_library_cannot_read(void **state) {
    (void)state;
    enum { ARRAY_COUNT = 22 }; /* of the parameter sets, in hvcC */
    const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    const struct codec_limits limits = {.max_pixels = 1 << 20, .max_side = 1 << 10, .max_memory = 64 << 20};
    struct buf file = heic_file("heic", items, NULL);
    struct heic_reader reader;
    struct error err;
    assert_int_equal(heic_reader_open(&reader, buf_bytes(&file), &limits, &err), ST_OK);
    heic_reader_finish(&reader);
    uint8_t *config = memmem(file.data, file.size, heic_colour_config, sizeof heic_colour_config);
    config[ARRAY_COUNT] = UINT8_MAX;
    assert_int_equal(heic_reader_open(&reader, buf_bytes(&file), &limits, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "HEIC data are damaged or cut short: "));
    heic_reader_finish(&reader);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_failure_has_a_sentence),
                                       cmocka_unit_test(test_what_the_library_cannot_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
