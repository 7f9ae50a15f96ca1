/* SPDX-License-Identifier: MIT
 * What is made of the library's failures: a status, and a sentence for each. */
#include "codecs/heic/heic_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_failure_has_a_sentence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
