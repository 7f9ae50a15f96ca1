/* SPDX-License-Identifier: MIT */
#include "server/message/accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define JPEG CODEC_JPEG
#define PNG CODEC_PNG
#define WEBP CODEC_WEBP
#define AVIF CODEC_AVIF
#define JXL CODEC_JXL

/* The choice, from a copy in heap memory of its size. */
static enum codec_id choose(const char *accept, enum codec_id input) {
    char *copy = strdup(accept);
    assert_non_null(copy);
    enum codec_id chosen = accept_choose(copy, input, false);
    free(copy);
    return chosen;
}

/* The format chosen for a JPEG, and for a PNG. */
static const struct {
    const char *accept;
    enum codec_id of_jpeg, of_png;
} accepted[] = {
    {"", JPEG, PNG},
    {"*/*", JPEG, PNG},
    {"image/*", JPEG, PNG},
    {"image/jpeg", JPEG, JPEG},
    {"image/png", PNG, PNG},
    {"IMAGE/PNG", PNG, PNG},
    {"image/png, image/jpeg", JPEG, PNG},
    {"image/bmp", JPEG, PNG},
    {"text/html", JPEG, PNG},
    {"image/png;q=0.9, image/jpeg;q=0.8", PNG, PNG},
    {"image/png;q=0.8,image/jpeg;q=0.9", JPEG, JPEG},
    {"image/png; q=0.5, */*", JPEG, JPEG},
    {"image/png;q=0.5,image/*;q=0.4", PNG, PNG},
    {"image/*;q=0.4,image/png;q=0.5", PNG, PNG},
    {"*/*;q=0.9, image/*;q=0.1, image/jpeg;q=0.2", JPEG, JPEG},
    {"image/jpeg;q=0, */*", PNG, PNG},
    {"image/png;q=0", JPEG, PNG},
    {"image/jpeg;q=0, image/png;q=0", JPEG, PNG},
    {"image/bmp, image/png;q=0.1", PNG, PNG},
    {"image/png;Q=0.1, image/jpeg;Q=0.2", JPEG, JPEG},
    {"image/png;x=1;q=0.1, image/jpeg;q=0.2", JPEG, JPEG},
    {"image/png ;q=0.1 , image/jpeg\t; q=0.2", JPEG, JPEG},
    {" \timage/png", PNG, PNG},
    {",,image/png,,", PNG, PNG},
    {"image/png-x, image/jpegs", JPEG, PNG},
    {"image/pn", JPEG, PNG},
    {"image", JPEG, PNG},
    {"*", JPEG, PNG},
    {"image/png;q=1.000, image/jpeg;q=0.999", PNG, PNG},
    {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", JPEG, PNG},
    {"text/html,application/xml;q=0.9,image/png,*/*;q=0.8", PNG, PNG},
};

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        if (choose(accepted[i].accept, CODEC_JPEG) != accepted[i].of_jpeg ||
            choose(accepted[i].accept, CODEC_PNG) != accepted[i].of_png) {
            fail_msg("\"%s\"", accepted[i].accept);
        }
    }
    assert_int_equal(accept_choose(NULL, CODEC_JPEG, false), CODEC_JPEG);
    assert_int_equal(accept_choose(NULL, CODEC_PNG, false), CODEC_PNG);
}

/* What is chosen with WebP, AVIF and JPEG XL; a format that the build does not write counts as not named. */
static const struct {
    const char *accept;
    enum codec_id of_jpeg, of_png, of_webp, of_avif, of_heic, of_jxl;
} more[] = {
    {"", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"*/*", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/*;q=0.1", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/webp", WEBP, WEBP, WEBP, WEBP, WEBP, WEBP},
    {"image/avif", AVIF, AVIF, AVIF, AVIF, AVIF, AVIF},
    {"image/jpeg", JPEG, JPEG, JPEG, JPEG, JPEG, JPEG},
    {"image/jpeg, image/png", JPEG, PNG, JPEG, JPEG, JPEG, JPEG},
    {"image/heic", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/avif, image/webp", WEBP, WEBP, WEBP, AVIF, WEBP, WEBP},
    {"image/avif, image/webp;q=0.9", AVIF, AVIF, AVIF, AVIF, AVIF, AVIF},
    {"image/avif;q=0, image/webp;q=0", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/webp;q=0, image/*", JPEG, PNG, JPEG, AVIF, JPEG, JXL},
    {"image/webp;q=0.5, image/*", JPEG, PNG, JPEG, AVIF, JPEG, JXL},
    {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5", WEBP, PNG, WEBP, AVIF, WEBP,
     WEBP},
    {"image/webp,image/avif,image/heic,video/*;q=0.8,image/png,image/*;q=0.8,*/*;q=0.5", WEBP, PNG, WEBP,
     AVIF, WEBP, WEBP},
    {"image/jxl", JXL, JXL, JXL, JXL, JXL, JXL},
    {"image/jxl,image/avif,image/webp,image/apng,image/*,*/*;q=0.8", JPEG, PNG, WEBP, AVIF, JPEG, JXL},
    {"image/jxl, image/avif", JXL, JXL, JXL, AVIF, JXL, JXL},
};

static void test_more_formats(void **state) {
    (void)state;
    if (!codec_encodes(CODEC_WEBP) || !codec_encodes(CODEC_AVIF) || !codec_encodes(CODEC_JXL)) {
        print_message("this build does not write WebP, AVIF and JPEG XL\n");
        skip();
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        const enum codec_id wanted[] = {more[i].of_jpeg, more[i].of_png,  more[i].of_webp,
                                        more[i].of_avif, more[i].of_heic, more[i].of_jxl};
        static const enum codec_id input[] = {JPEG, PNG, WEBP, AVIF, CODEC_HEIC, JXL};
        for (unsigned k = 0; k < sizeof wanted / sizeof *wanted; k++) {
            if (choose(more[i].accept, input[k]) != wanted[k]) {
                fail_msg("\"%s\" for %s", more[i].accept, codec_get(input[k])->title);
            }
        }
    }
}

/* The answer always has a format that the build writes. */
static void test_the_answer_can_be_written(void **state) {
    (void)state;
    static const char *const lists[] = {"", "*/*", "image/webp", "image/avif, image/webp", "image/heic"};
    for (unsigned id = 0; id < CODEC_COUNT; id++) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            assert_true(codec_encodes(choose(lists[i], (enum codec_id)id)));
        }
        assert_true(codec_encodes(accept_choose(NULL, (enum codec_id)id, false)));
    }
}

/* Weights that are none do not let a client choose by accident, nor read outside. */
static void test_odd_weights(void **state) {
    (void)state;
    static const char *const weights[] = {"",  "q", "q=",   "q=x",  "q=-1",  "q=nan",
                                          ";", "=", "q==1", "qq=0", "q=inf", "q=1e999"};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        char accept[64];
        snprintf(accept, sizeof accept, "image/jpeg;%s", weights[i]);
        assert_int_equal(choose(accept, CODEC_JPEG), CODEC_JPEG);
        snprintf(accept, sizeof accept, "image/jpeg, image/png;%s", weights[i]);
        if (choose(accept, CODEC_JPEG) != CODEC_JPEG) {
            fail_msg("\"%s\" outweighs 1", accept);
        }
    }
}

static void test_quality(void **state) {
    (void)state;
    static const struct {
        const char *list, *name;
        double quality;
    } table[] = {
        {"", "gzip", -1},
        {"gzip", "gzip", 1},
        {"GZip;q=0.25, br", "gzip", 0.25},
        {"gzip;q=0, *", "gzip", 0},
        {"*;q=0.5", "gzip", 0.5},
        {"*/*", "gzip", -1},
        {"x-gzip, gzipped, gzi, gzip/*", "gzip", -1},
        {"text/html", "text/html", 1},
        {"text/*;q=0.5, text/html;q=0.125, */*", "text/html", 0.125},
        {"text/*;q=0.5, */*", "text/html", 0.5},
        {"image/*, */*;q=0.75", "text/html", 0.75},
        {"*, text, text/, text/*x", "text/html", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (accept_quality(table[i].list, table[i].name) != table[i].quality) {
            fail_msg("%s in \"%s\"", table[i].name, table[i].list);
        }
    }
}

static void test_random(void **state) {
    (void)state;
    static const char *const pieces[] = {"image/", "png", "jpeg", "*",  "/", ",",
                                         ";",      "q=",  "0",    ".5", " ", "x"};
    uint32_t seed = 3;
    unsigned changed = 0;
    for (int round = 0; round < 20000; round++) {
        char accept[128] = "";
        for (size_t used = 0, count = (size_t)round % 12; count > 0; count--) {
            seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
            used += (size_t)snprintf(accept + used, sizeof accept - used, "%s", pieces[seed % 12]);
        }
        changed += choose(accept, CODEC_JPEG) != CODEC_JPEG;
    }
    assert_true(changed > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_more_formats),
        cmocka_unit_test(test_the_answer_can_be_written),
        cmocka_unit_test(test_odd_weights),
        cmocka_unit_test(test_quality),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("accept", tests, NULL, NULL);
}
