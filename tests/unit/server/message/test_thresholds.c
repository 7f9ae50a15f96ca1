/* SPDX-License-Identifier: MIT
 * Thresholds of all detectors, and of some by name. */
#include "server/message/parameters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct parameters parameters;

static enum status set(const char *text, struct error *err) {
    *err = (struct error){0};
    parameters_init(&parameters, filter_find("blur"));
    return parameters_set(&parameters, "detect_threshold", text, err);
}

static double get(enum detector_id detector) {
    return thresholds_get(&parameters.detect.threshold, detector);
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double faces, text_score, plates;
    } right[] = {{"0.4", 0.4, 0.4, 0.4},
                 {"plates:0.35", 0.3, 0.6, 0.35},
                 {"plates:0.35,text:0.7", 0.3, 0.7, 0.35},
                 {"0.2,plates:0.35", 0.2, 0.2, 0.35},
                 {"text:0.05,0.95", 0.95, 0.05, 0.95}};
    struct error err;
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(set(right[i].text, &err), ST_OK);
        assert_true(get(DETECTOR_FACES) == right[i].faces && get(DETECTOR_TEXT) == right[i].text_score &&
                    get(DETECTOR_PLATES) == right[i].plates);
    }
    parameters_init(&parameters, filter_find("blur"));
    assert_true(get(DETECTOR_FACES) == 0.3 && get(DETECTOR_PLATES) == 0.5);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"1", "detect_threshold is 1, it must be from 0.05 to 0.95"},
        {"", "detect_threshold is empty, it must be"},
        {"plates:2", "detect_threshold is 2 for plates, it must be from 0.05"},
        {"plates:", "detect_threshold is empty for plates"},
        {"plates", "detect_threshold is plates, it must be"},
        {"plate:0.5", "detect_threshold has plate:0.5, whose name is no detector's"},
        {":0.5", "detect_threshold has :0.5, whose name"},
        {"0.5,", "detect_threshold is empty"},
        {"0.5,0.5", "detect_threshold has two numbers for all others"},
        {"text:0.5,text:0.6", "detect_threshold has two numbers for text"},
        {"text:0.5:0.6", "detect_threshold is 0.5:0.6 for text"},
        {"text: 0.5", "detect_threshold is  0.5 for text"},
        {"0.3000000000000000000000000000000000000000000000000000000000000000000000x", "it must be from"},
    };
    struct error err;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(set(wrong[i][0], &err), ST_ARGUMENT);
        if (!strstr(err.text, wrong[i][1])) {
            fail_msg("%s: \"%s\" does not have \"%s\"", wrong[i][0], err.text, wrong[i][1]);
        }
        assert_string_equal(err.parameter, "detect_threshold");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
