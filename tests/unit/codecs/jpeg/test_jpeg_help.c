/* SPDX-License-Identifier: MIT
 * Idle threads help the own JPEG decoders: samples, judgement of damaged files and reported rows are those of
 * one thread, also when the helpers are late. */
#include "codecs/jpeg/jpeg_planes.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "codecs/jpeg/sequential/jpeg_dec_ring.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "core/sanitizers.h"
#include "tests/filters/helpers.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/codecs/jpeg/jpeg_random.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* many pictures */

static const struct jpeg_recipe recipes[] = {
    {.name = "4:4:4"},
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:2:2", .luma = {2, 1}},
    {.name = "4:4:0", .luma = {1, 2}},
    {.name = "4:1:1", .luma = {4, 1}},
    {.name = "4:1:0", .luma = {4, 2}},
    {.name = "2x4", .luma = {2, 4}},
    {.name = "4x2, 2x1", .luma = {2, 2}, .chroma = {2, 1}},
    {.name = "grey", .space = JCS_GRAYSCALE},
    {.name = "grey 4x1, restarts", .space = JCS_GRAYSCALE, .luma = {4, 1}, .restart = 7},
    {.name = "restart 1", .luma = {2, 2}, .restart = 1},
    {.name = "restart 3", .luma = {2, 1}, .restart = 3},
    {.name = "restart 1000", .restart = 1000},
    {.name = "separate, 4:2:0", .luma = {2, 2}, .separate = true},
    {.name = "separate, 4:1:1, restarts", .luma = {4, 1}, .separate = true, .restart = 5},
    {.name = "odd tables", .luma = {2, 2}, .odd_tables = true},
    {.name = "progressive 4:4:4", .progressive = true},
    {.name = "progressive 4:2:0", .luma = {2, 2}, .progressive = true},
    {.name = "progressive grey 2x2", .space = JCS_GRAYSCALE, .luma = {2, 2}, .progressive = true},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

/* What a decoding gave. Rows that have been reported are copied, as a reader could. */
struct result {
    enum status status;
    bool declined;
    uint32_t rows_reported;
    struct image image, seen;
    pthread_t thread;
};

static void see_rows(void *context, uint32_t rows) {
    struct result *result = context;
    assert_true(pthread_equal(pthread_self(), result->thread));
    assert_true(rows > result->rows_reported && rows <= result->image.height);
    result->rows_reported = rows;
    for (unsigned p = 0; p < result->image.plane_count; p++) {
        const struct plane *from = &result->image.plane[p], *to = &result->seen.plane[p];
        for (uint32_t y = 0; y << from->shift_y < rows && y < from->height; y++) {
            memcpy(plane_row(to, y), plane_row(from, y), from->width);
        }
    }
}

static struct result decode_by(const struct jpeg_dec_level *level, struct bytes input,
                               const struct picture *picture, struct crew *crew) {
    struct result result = {.image = fixture_image(picture->native), .seen = fixture_image(picture->native)};
    struct codec_limits limits = fixture_limits();
    struct progress progress = {see_rows, &result};
    struct error err = {0};
    uint32_t rows_reported;
    result.thread = pthread_self();
    limits.crew = crew;
    limits.progress = &progress;
    result.status =
        jpeg_planes_decode_at(level, input, &limits, &result.image, &result.declined, &rows_reported, &err);
    assert_int_equal(rows_reported, result.rows_reported);
    assert_true(same_rows(&result.image, &result.seen, rows_reported)); /* they were final */
    return result;
}

static void free_result(struct result *result) {
    fixture_image_free(&result->image);
    fixture_image_free(&result->seen);
}

static void compare(struct helpers *helpers, struct bytes input, const char *name, bool taken) {
    struct picture picture = fixture_probe(input);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        struct result alone = decode_by(levels[i], input, &picture, NULL);
        helpers_await(helpers);
        struct result helped = decode_by(levels[i], input, &picture, helpers_crew(helpers));
        if (helped.status != alone.status || helped.declined != alone.declined ||
            (taken && helped.declined) ||
            !same_rows(&helped.image, &alone.image,
                       helped.declined ? helped.rows_reported : alone.image.height)) {
            fail_msg("%s, %ux%u, at %s: other samples", name, alone.image.width, alone.image.height,
                     levels[i]->name);
        }
        assert_true(helped.declined ? helped.rows_reported <= alone.rows_reported
                                    : helped.rows_reported == alone.rows_reported);
        free_result(&alone);
        free_result(&helped);
    }
    codec_picture_finish(&picture);
}

static void test_samples(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{700, 500}, {401, 997}, {65, 6001}, {6001, 65}, {1033, 611}};
    for (unsigned count = SANITIZED ? 2 : 1; count <= (SANITIZED ? 2 : 3); count++) {
        struct helpers *helpers = helpers_start(count, 1, false);
        for (size_t i = 0; i < RECIPES; i++) {
            for (size_t s = i % 2; s < sizeof sizes / sizeof *sizes; s += 2) {
                struct jpeg_recipe recipe = recipes[i];
                recipe.width = sizes[s][0];
                recipe.height = sizes[s][1];
                struct buf file = recipe_file(&recipe);
                compare(helpers, buf_bytes(&file), recipe.name, true);
                buf_finish(&file);
            }
        }
        assert_true(helpers_stop(helpers) > 0);
    }
}

/* The same outcome as by one thread: either of jpeg_decode, which hands over to libjpeg-turbo. */
static void compare_whole(struct helpers *helpers, struct bytes input) {
    struct image image[2];
    struct error err[2] = {{0}, {0}};
    enum status status[2];
    struct picture picture;
    struct codec_limits limits = fixture_limits();
    if (codec_probe(input, &limits, &picture, &err[0]) != ST_OK) {
        codec_picture_finish(&picture);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        image[i] = fixture_image(picture.native);
        limits.crew = i ? helpers_crew(helpers) : NULL;
        helpers_await(helpers);
        status[i] = codec_decode(input, &picture, &limits, &image[i], &err[i]);
    }
    assert_int_equal(status[0], status[1]);
    assert_string_equal(err[0].text, err[1].text);
    assert_true(status[0] != ST_OK || same_samples(&image[0], &image[1]));
    fixture_image_free(&image[0]);
    fixture_image_free(&image[1]);
    codec_picture_finish(&picture);
}

static void test_damage(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(2, 1, false);
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = 601;
        recipe.height = 480;
        struct buf file = recipe_file(&recipe);
        for (unsigned round = 0; round < (SANITIZED ? 4 : 12); round++) {
            struct buf damaged;
            buf_init(&damaged, 1 << 24);
            assert_int_equal(buf_append(&damaged, file.data, file.size, NULL), ST_OK);
            for (unsigned n = 0; n <= round % 3; n++) {
                damaged.data[600 + random_below((uint32_t)file.size - 600)] = (uint8_t)random_below(256);
            }
            compare_whole(helpers, buf_bytes(&damaged));
            compare_whole(helpers, (struct bytes){file.data, 600 + random_below((uint32_t)file.size - 600)});
            buf_finish(&damaged);
        }
        buf_finish(&file);
    }
    assert_true(helpers_stop(helpers) > 0);
}

/* A member that is idle, but takes no part before it is told to. */
struct lazy {
    struct crew *crew;
    bool works, leaves; /* under the crew's lock */
};

static void *be_lazy(void *context) {
    struct lazy *lazy = context;
    crew_lock(lazy->crew);
    while (!lazy->leaves) {
        if (!lazy->works || !crew_help(lazy->crew)) {
            crew_wait(lazy->crew, INT64_MAX);
        }
        lazy->works = false;
    }
    crew_unlock(lazy->crew);
    return NULL;
}

struct wake {
    struct lazy *lazy;
    unsigned calls;
};

/* Lets the member take one part now and then. */
static void wake_sometimes(void *context, uint32_t rows) {
    struct wake *wake = context;
    (void)rows;
    if (wake->calls++ % 3 == 0) {
        crew_lock(wake->lazy->crew);
        wake->lazy->works = true;
        crew_unlock(wake->lazy->crew);
        crew_wake(wake->lazy->crew);
    }
}

/* All packs of the ring are in use: the caller transforms the rest. */
static void test_late_helpers(void **state) {
    (void)state;
    struct lazy lazy = {.crew = crew_create(1, false)};
    pthread_t member;
    assert_int_equal(pthread_create(&member, NULL, be_lazy, &lazy), 0);
    for (size_t i = 0; i < 2 * RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i / 2];
        recipe.width = 1401;
        recipe.height = 1100;
        struct buf file = recipe_file(&recipe);
        struct picture picture = fixture_probe(buf_bytes(&file));
        struct image image = fixture_image(picture.native), expected = fixture_image(picture.native);
        struct codec_limits limits = fixture_limits();
        struct wake wake = {.lazy = &lazy};
        const struct progress progress = {wake_sometimes, &wake};
        assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &expected, NULL), ST_OK);
        limits.crew = lazy.crew;
        limits.progress = i % 2 ? &progress : NULL;
        while (crew_idle(lazy.crew) == 0) {
            sched_yield();
        }
        assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, NULL), ST_OK);
        assert_true(same_samples(&image, &expected));
        fixture_image_free(&image);
        fixture_image_free(&expected);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
    crew_lock(lazy.crew);
    lazy.leaves = true;
    crew_wake_all(lazy.crew);
    crew_unlock(lazy.crew);
    pthread_join(member, NULL);
    crew_destroy(lazy.crew);
}

/* Changes the deadline while a sequential file is decoded, when only the caller looks at it. */
static void pass_deadline(void *context, uint32_t rows) {
    struct codec_limits *limits = context;
    limits->deadline_ns = rows > 300 ? 1 : 0;
}

static void test_deadline(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(2, 1, false);
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = recipe.height = 1400;
        struct buf file = recipe_file(&recipe);
        struct picture picture = fixture_probe(buf_bytes(&file));
        struct image image = fixture_image(picture.native);
        struct codec_limits limits = fixture_limits();
        const struct progress progress = {pass_deadline, &limits};
        struct error err = {0};
        limits.crew = helpers_crew(helpers);
        limits.progress = recipe.progressive ? NULL : &progress;
        helpers_await(helpers);
        enum status status = codec_decode(buf_bytes(&file), &picture, &limits, &image, &err);
        assert_true(status == ST_LIMIT ||
                    (status == ST_OK && (limits.deadline_ns == 1 || recipe.progressive)));
        limits.deadline_ns = 1;
        helpers_await(helpers);
        assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, &err), ST_LIMIT);
        fixture_image_free(&image);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
    helpers_stop(helpers);
}

/* Decodes with that much memory, and returns how many parts others have run. */
static uint64_t parts_with(size_t memory, struct bytes file, const struct picture *picture) {
    struct helpers *helpers = helpers_start(2, 1, false);
    struct image image = fixture_image(picture->native);
    struct codec_limits limits = fixture_limits();
    limits.max_memory = memory;
    limits.crew = helpers_crew(helpers);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    bool declined;
    uint32_t rows_reported;
    sequential_levels(levels);
    assert_int_equal(jpeg_planes_decode_at(levels[0], file, &limits, &image, &declined, &rows_reported, NULL),
                     ST_OK);
    assert_false(declined);
    fixture_image_free(&image);
    return helpers_stop(helpers);
}

/* Help takes no more than is predicted, and there is none without the memory for it. */
static void test_memory(void **state) {
    (void)state;
    struct jpeg_recipe recipe = {.luma = {2, 2}, .width = 1400, .height = 1000};
    struct buf file = recipe_file(&recipe);
    struct picture picture = fixture_probe(buf_bytes(&file));
    size_t help = sequential_help_bytes(&picture.native), all = sequential_bytes() + help;
    assert_in_range(help, sizeof(struct jpeg_dec_ring), 1 << 20);
    assert_in_range(all, 1, codec_decode_bytes(&picture, file.size));
    uint64_t parts = 0; /* until another thread gets a core while the picture is decoded */
    for (int tries = 0; tries < 100 && parts == 0; tries++) {
        parts = parts_with(all, buf_bytes(&file), &picture);
    }
    assert_true(parts > 0);
    assert_int_equal(parts_with(all - 1, buf_bytes(&file), &picture), 0);
    codec_picture_finish(&picture);
    buf_finish(&file);
    struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, JPEG_DEC_RING_LEAST, 1);
    assert_int_equal(sequential_help_bytes(&shape), help);
    shape.width--;
    assert_int_equal(sequential_help_bytes(&shape), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),  cmocka_unit_test(test_damage), cmocka_unit_test(test_late_helpers),
        cmocka_unit_test(test_deadline), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
