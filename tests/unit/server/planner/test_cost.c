/* SPDX-License-Identifier: MIT */
#include "server/planner/cost.h"

#include "server/planner/intent.h"
#include "tests/unit/server/planner/gpu_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const struct peek hd = {
    .codec = CODEC_JPEG, .width = 1920, .height = 1080, .channels = 3, .depth = 8, .sampling = 0x22};

static struct parameters blur(void) {
    struct parameters parameters;
    parameters_init(&parameters, filter_get(FILTER_BLUR));
    return parameters;
}

static struct intent intent_of(const struct peek *header, size_t body, const struct parameters *parameters,
                               enum codec_id output) {
    struct intent intent = {0};
    intent_guess(&intent, header, body, codec_get(output)->mime, parameters);
    return intent;
}

static struct cost ask(const struct cost_model *model, const struct intent *intent) {
    return cost_predict(model, intent, &gpu, false);
}

static struct cost predict(const struct peek *header, size_t body, const struct parameters *parameters,
                           enum codec_id output) {
    static const struct cost_model nothing_learnt;
    const struct intent intent = intent_of(header, body, parameters, output);
    return ask(&nothing_learnt, &intent);
}

static int64_t core_ns(const struct peek *header, size_t body, const struct parameters *parameters,
                       enum codec_id output) {
    return predict(header, body, parameters, output).ways[WAY_CPU].ns;
}

static bool is_near(int64_t ns, double ms) {
    return fabs((double)ns / 1e6 - ms) < ms / 3;
}

/* The measurements of docs/adr/0015. */
static void test_times_of_the_table(void **state) {
    (void)state;
    struct parameters parameters = blur();
    struct peek header = hd;
    assert_true(is_near(core_ns(&header, 511000, &parameters, CODEC_JPEG), 12.4));
    assert_true(is_near(core_ns(&header, 170000, &parameters, CODEC_JPEG), 10.4));
    header.progressive = true;
    assert_true(is_near(core_ns(&header, 476000, &parameters, CODEC_JPEG), 20));
    header.sampling = 0; /* libjpeg-turbo decodes to RGB */
    assert_true(is_near(core_ns(&header, 476000, &parameters, CODEC_JPEG), 31.5));
    header = (struct peek){.codec = CODEC_PNG, .width = 1920, .height = 1080, .channels = 3, .depth = 8};
    assert_true(is_near(core_ns(&header, 3142000, &parameters, CODEC_PNG), 41));
    parameters.output.effort = 6;
    assert_true(core_ns(&header, 5755000, &parameters, CODEC_PNG) > 500000000);
    parameters_init(&parameters, filter_get(FILTER_STATS));
    assert_true(is_near(core_ns(&hd, 511000, &parameters, CODEC_JPEG), 7));
}

/* Screenshots have few bytes. Those of 200 and 546 KB took 7.9 and 21 ms of this machine's 41 for a
 * photograph, with edges that stay, and the first is predicted with more; a blur of all of it leaves a
 * photograph. */
static void test_graphics(void **state) {
    (void)state;
    struct parameters parameters = blur();
    const struct peek screen = {.codec = CODEC_PNG, .width = 1920, .height = 1080, .channels = 3, .depth = 8};
    assert_true(is_near(core_ns(&screen, 546000, &parameters, CODEC_PNG), 16));
    assert_true(is_near(core_ns(&screen, 546000, &parameters, CODEC_JPEG), 13));
    int64_t photograph = core_ns(&screen, 2000000, &parameters, CODEC_PNG);
    assert_int_equal(region_parse(&parameters.input.region, "600,400,200,24", NULL), ST_OK);
    assert_true(core_ns(&screen, 200000, &parameters, CODEC_PNG) < 12000000);
    assert_true(is_near(core_ns(&screen, 546000, &parameters, CODEC_PNG), 21));
    assert_true(core_ns(&screen, 2000000, &parameters, CODEC_PNG) < photograph);
    parameters.output.effort = 0; /* no matches */
    assert_true(core_ns(&screen, 546000, &parameters, CODEC_PNG) < 18000000);
}

static void test_redaction_counts_regions(void **state) {
    (void)state;
    struct parameters parameters = blur();
    parameters.input.mode = MODE_REDACT;
    int64_t none = core_ns(&hd, 500000, &parameters, CODEC_JPEG);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(region_parse(&parameters.input.region, "10%,10%,50%,50%", NULL), ST_OK);
    }
    assert_true(core_ns(&hd, 500000, &parameters, CODEC_JPEG) > none + 10000000);
    struct peek column = {.codec = CODEC_PNG, .width = 1, .height = 32768, .channels = 1, .depth = 8};
    assert_true(core_ns(&column, 141, &parameters, CODEC_PNG) > 80000000); /* rows, however short */
}

static void test_not_recognised(void **state) {
    (void)state;
    struct parameters parameters = blur();
    struct cost small = predict(NULL, 1000, &parameters, CODEC_JPEG);
    struct cost large = predict(NULL, 10000000, &parameters, CODEC_JPEG);
    assert_true(small.ways[WAY_CPU].ns > 0 && large.ways[WAY_CPU].ns > 100 * small.ways[WAY_CPU].ns);
}

static void test_learning(void **state) {
    (void)state;
    static struct cost_model model;
    struct parameters parameters = blur();
    const struct intent request = intent_of(&hd, 500000, &parameters, CODEC_JPEG);
    struct cost cost = ask(&model, &request);
    int64_t table = cost.ways[WAY_CPU].table_ns;
    for (unsigned i = 0; i < 40; i++) {
        cost = ask(&model, &request);
        cost_learn(&model, &cost, WAY_CPU, 3 * table, 0);
    }
    cost = ask(&model, &request);
    assert_int_equal(cost.ways[WAY_CPU].table_ns, table);
    assert_true(cost.ways[WAY_CPU].ns > table * 29 / 10 && cost.ways[WAY_CPU].ns < table * 31 / 10);
    const struct intent other = intent_of(&hd, 500000, &parameters, CODEC_PNG);
    struct cost untouched = ask(&model, &other);
    assert_true(llabs(untouched.ways[WAY_CPU].ns - untouched.ways[WAY_CPU].table_ns) <= 1);
    cost_learn(&model, &cost, WAY_CPU, INT64_MAX, 0); /* one that hung */
    assert_true(ask(&model, &request).ways[WAY_CPU].ns < 10 * table);
}

/* Hundreds of icons, each of which takes 90 us, teach little about a picture of 20 megapixels of their kind;
 * and their own cost is predicted well. */
static void test_icons_do_not_decide(void **state) {
    (void)state;
    static struct cost_model model;
    struct parameters parameters = blur();
    const struct peek icon = {.codec = CODEC_PNG, .width = 16, .height = 16, .channels = 3, .depth = 8};
    struct peek large = icon;
    large.width = 5472;
    large.height = 3648;
    const struct intent tiny = intent_of(&icon, 77, &parameters, CODEC_PNG);
    const struct intent work = intent_of(&large, 20000000, &parameters, CODEC_PNG);
    int64_t before = ask(&model, &work).ways[WAY_CPU].ns;
    for (unsigned i = 0; i < 500; i++) {
        struct cost cost = ask(&model, &tiny);
        cost_learn(&model, &cost, WAY_CPU, 90000, 0);
    }
    assert_true(is_near(ask(&model, &tiny).ways[WAY_CPU].ns, 0.09));
    assert_int_equal(ask(&model, &tiny).ways[WAY_CPU].kind, ask(&model, &work).ways[WAY_CPU].kind);
    assert_true(ask(&model, &work).ways[WAY_CPU].ns < 2 * before);
    for (unsigned i = 0; i < 30; i++) { /* but large ones do, despite icons in between */
        struct cost cost = ask(&model, &work);
        cost_learn(&model, &cost, WAY_CPU, 3 * before, 0);
        for (unsigned n = 0; n < 20; n++) {
            cost = ask(&model, &tiny);
            cost_learn(&model, &cost, WAY_CPU, 90000, 0);
        }
    }
    int64_t after = ask(&model, &work).ways[WAY_CPU].ns;
    assert_true(after > before * 5 / 2 && after < before * 7 / 2);
}

/* WebP, AVIF and HEIC are each predicted to take longer than JPEG, and the more the higher the effort. */
static void test_newer_formats(void **state) {
    (void)state;
    struct parameters parameters = blur();
    int64_t jpeg = core_ns(&hd, 500000, &parameters, CODEC_JPEG);
    for (unsigned id = CODEC_WEBP; id <= CODEC_HEIC; id++) {
        struct peek header = {
            .codec = (enum codec_id)id, .width = 1920, .height = 1080, .channels = 3, .depth = 8};
        assert_true(!codec_decodes(header.codec) || core_ns(&header, 500000, &parameters, CODEC_JPEG) > jpeg);
        int64_t before = 0;
        for (int effort = 0; effort <= 9 && codec_encodes((enum codec_id)id); effort += 3) {
            parameters.output.effort = effort;
            struct cost cost = predict(&hd, 500000, &parameters, (enum codec_id)id);
            assert_true(cost.ways[WAY_CPU].kind < COST_KINDS && cost.ways[WAY_CPU].ns >= before &&
                        cost.ways[WAY_CPU].ns > jpeg);
            before = cost.ways[WAY_CPU].ns;
        }
        parameters = blur();
    }
}

static void test_every_kind_has_its_place(void **state) {
    (void)state;
    struct peek header = hd;
    for (unsigned i = 0; i < 32; i++) {
        struct parameters parameters;
        parameters_init(&parameters, i & 1 ? filter_get(FILTER_STATS) : NULL);
        header.codec = i & 2 ? CODEC_PNG : CODEC_JPEG;
        header.progressive = i & 4;
        parameters.output.effort = 9;
        parameters.input.mode = i & 8 ? MODE_REDACT : MODE_PLAIN;
        struct cost cost = predict(i & 16 ? NULL : &header, 1, &parameters, i & 2 ? CODEC_PNG : CODEC_JPEG);
        assert_true(cost.ways[WAY_CPU].kind < COST_KINDS && cost.ways[WAY_CPU].ns > 0 &&
                    cost.ways[WAY_CPU].table_ns > 0);
    }
}

static void set(struct parameters *parameters, const char *query) {
    struct error err = {0};
    if (parameters_parse(parameters, query, &err) != ST_OK) {
        fail_msg("%s: %s", query, err.text);
    }
}

/* --- a device's codecs ---------------------------------------------------------------------- */
static const struct peek photo = {.codec = CODEC_JPEG,
                                  .width = 1920,
                                  .height = 1080,
                                  .channels = 3,
                                  .depth = 8,
                                  .sampling = 0x22,
                                  .baseline = true};

static int64_t device_ns(const struct peek *header, const struct parameters *parameters) {
    return predict(header, 500000, parameters, CODEC_JPEG).ways[WAY_GPU_FILE].ns;
}

static bool suits(const struct peek *header, const struct parameters *parameters, enum codec_id output) {
    struct cost cost = predict(header, 500000, parameters, output);
    assert_int_equal(cost.ways[WAY_GPU_FILE].table_ns > 0, cost.ways[WAY_GPU_FILE].ns > 0);
    return cost.ways[WAY_GPU_FILE].table_ns > 0;
}

/* Colour at a quarter of the columns is halved twice. */
static void test_sampling_of_a_quarter(void **state) {
    (void)state;
    struct parameters parameters = blur();
    struct peek header = hd;
    header.sampling = 0x41;
    struct intent intent = intent_of(&header, 100000, &parameters, CODEC_JPEG);
    assert_int_equal(intent.plan.picture.native.chroma_shift_x, 2);
    assert_int_equal(intent.plan.picture.native.chroma_shift_y, 0);
}

static void test_pictures_for_a_device(void **state) {
    (void)state;
    struct parameters parameters = blur();
    struct peek header = photo;
    assert_true(suits(&header, &parameters, CODEC_JPEG));
    assert_false(suits(&header, &parameters, CODEC_PNG));
    assert_false(suits(NULL, &parameters, CODEC_JPEG));
    header.baseline = false;
    assert_false(suits(&header, &parameters, CODEC_JPEG));
    header = (struct peek){.codec = CODEC_PNG, .width = 64, .height = 64, .channels = 3, .depth = 8};
    assert_false(suits(&header, &parameters, CODEC_JPEG));
    int64_t large = device_ns(&photo, &parameters);
    header = photo;
    header.width = header.height = 16;
    int64_t small = device_ns(&header, &parameters);
    assert_true(small > 500000 && large > small + 250000);
}

static void test_parameters_for_a_device(void **state) {
    (void)state;
    static const char *const refused[] = {"backend=cpu", "progressive=true"};
    static const char *const converted[] = {"colorspace=rgb", "colorspace=linear",
                                            "subsampling=444"}; /* not with regions */
    static const char *const taken[] = {"",           "quality=1",       "metadata=keep", "autorotate=false",
                                        "sigma=40",   "subsampling=420", "backend=auto",  "effort=9",
                                        "mode=redact"};
    for (size_t i = 0; i < sizeof converted / sizeof *converted; i++) {
        struct parameters parameters = blur();
        set(&parameters, converted[i]);
        assert_true(suits(&photo, &parameters, CODEC_JPEG));
        set(&parameters, "region=1,2,3,4");
        assert_false(suits(&photo, &parameters, CODEC_JPEG));
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct parameters parameters = blur();
        set(&parameters, refused[i]);
        assert_false(suits(&photo, &parameters, CODEC_JPEG));
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct parameters parameters = blur();
        set(&parameters, taken[i]);
        assert_true(suits(&photo, &parameters, CODEC_JPEG));
        set(&parameters, "region=1,2,3,4"); /* without a quality the blocks outside are kept */
        assert_true(suits(&photo, &parameters, CODEC_JPEG));
    }
}

/* A search takes a device longer, but far less than the processor. */
static void test_faces_for_a_device(void **state) {
    (void)state;
    struct parameters parameters = blur();
    set(&parameters, "quality=80");
    int64_t plain = device_ns(&photo, &parameters);
    set(&parameters, "detect=faces");
    set(&parameters, "mode=redact");
    struct cost searched = predict(&photo, 500000, &parameters, CODEC_JPEG);
    int64_t ns = searched.ways[WAY_GPU_FILE].ns;
    assert_true(ns > plain && ns < 2 * plain);
    assert_true(searched.ways[WAY_CPU].ns > 10 * ns && searched.way == WAY_GPU_FILE);
}

/* A larger result takes a device longer than its source, a smaller one as long. */
static void test_sizes_for_a_device(void **state) {
    (void)state;
    static const char *const queries[] = {"width=192", "width=1920", "width=3840&enlarge=true"};
    int64_t ns[3];
    for (size_t i = 0; i < 3; i++) {
        struct parameters parameters;
        parameters_init(&parameters, filter_get(FILTER_RESIZE));
        set(&parameters, queries[i]);
        ns[i] = device_ns(&photo, &parameters);
    }
    assert_int_equal(ns[0], ns[1]);
    assert_true(ns[2] > ns[1] + 500000);
}

/* A median takes a device longer than a blur, and as long with every radius. */
static void test_medians_for_a_device(void **state) {
    (void)state;
    static const char *const queries[] = {"ops=blur", "ops=median:radius=2", "ops=median:radius=24"};
    int64_t ns[3];
    for (size_t i = 0; i < 3; i++) {
        struct parameters parameters;
        parameters_init(&parameters, NULL);
        set(&parameters, queries[i]);
        ns[i] = device_ns(&photo, &parameters);
    }
    assert_true(ns[1] > ns[0] + 100000);
    assert_int_equal(ns[1], ns[2]);
}

/* A device filters planes or makes RGB of them. Grey pictures have no colours to add. */
static void test_filters_for_a_device(void **state) {
    (void)state;
    static const struct {
        enum filter_id filter; /* FILTER_COUNT: a pipeline */
        const char *query;
        bool colours, gray;
    } cases[] = {{FILTER_ADJUST, "grayscale=true", true, true},
                 {FILTER_ADJUST, "sepia=1", true, false},
                 {FILTER_BLUR, "", true, true},
                 {FILTER_PIXELATE, "block=16", true, true},
                 {FILTER_PIXELATE, "block=5", true, true},
                 {FILTER_RESIZE, "width=400", true, true},
                 {FILTER_RESIZE, "width=2500&enlarge=true&kernel=area", true, true},
                 {FILTER_RESIZE, "width=400&height=401&fit=contain", true, true},
                 {FILTER_SHARPEN, "", true, true},
                 {FILTER_CONVOLVE, "preset=edge", true, true},
                 {FILTER_MEDIAN, "radius=2", true, true},
                 {FILTER_MEDIAN, "radius=3", true, true},
                 {FILTER_DILATE, "", true, true},
                 {FILTER_PLACEHOLDER, "", false, false},
                 {FILTER_STATS, "", false, false},
                 {FILTER_COUNT, "ops=blur|pixelate:block=8|blur", true, true},
                 {FILTER_COUNT, "ops=blur|sharpen", true, true}};
    struct peek gray = photo;
    gray.channels = 1;
    gray.sampling = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parameters parameters;
        bool pipeline = cases[i].filter == FILTER_COUNT;
        parameters_init(&parameters, pipeline ? NULL : filter_get(cases[i].filter));
        set(&parameters, cases[i].query);
        assert_int_equal(suits(&photo, &parameters, CODEC_JPEG), cases[i].colours);
        assert_int_equal(suits(&gray, &parameters, CODEC_JPEG), cases[i].gray);
    }
    struct peek foreign = photo; /* as of an RGB or CMYK file */
    foreign.sampling = 0;
    struct parameters parameters = blur();
    assert_false(suits(&foreign, &parameters, CODEC_JPEG));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_of_the_table),
        cmocka_unit_test(test_redaction_counts_regions),
        cmocka_unit_test(test_not_recognised),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_graphics),
        cmocka_unit_test(test_newer_formats),
        cmocka_unit_test(test_every_kind_has_its_place),
        cmocka_unit_test(test_sampling_of_a_quarter),
        cmocka_unit_test(test_pictures_for_a_device),
        cmocka_unit_test(test_parameters_for_a_device),
        cmocka_unit_test(test_faces_for_a_device),
        cmocka_unit_test(test_sizes_for_a_device),
        cmocka_unit_test(test_medians_for_a_device),
        cmocka_unit_test(test_filters_for_a_device),
        cmocka_unit_test(test_icons_do_not_decide),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
