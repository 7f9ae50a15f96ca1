/* SPDX-License-Identifier: MIT
 * Any work on a picture on the CPU ends soon after the deadline. "Soon" does not depend on the machine: each
 * kind of work is first done as a whole, then with an eighth of that time, and may then take no more than
 * half of the processor's time. */
#include "core/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "cpu/bands.h"
#include "cpu/blend.h"
#include "cpu/cpu.h"
#include "cpu/linear.h"
#include "cpu/mask/mask.h"
#include "cpu/mask/redact.h"
#include "cpu/orient.h"
#include "filters/chain.h"
#include "tests/filters/filter_levels.h"
#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_time_left(void **state) {
    (void)state;
    struct error err = {0};
    assert_true(deadline_left(0) == INT64_MAX);
    assert_int_equal(deadline_check(0, &err), ST_OK);
    int64_t later = clock_ns() + INT64_C(1000000000) * 3600;
    assert_true(deadline_left(later) > 0 && deadline_left(later) <= INT64_C(1000000000) * 3600);
    assert_int_equal(deadline_check(later, &err), ST_OK);
    assert_true(deadline_left(1) == 0);
    assert_int_equal(deadline_check(1, &err), ST_LIMIT);
    assert_string_equal(err.text, "the picture takes longer than the time limit");
}

/* ---- bands ---- */

struct counter {
    int64_t deadline;
    unsigned slices;
    uint32_t rows;
    unsigned told;
};

/* The second one ends after the deadline. */
static void count_slice(const void *context, const struct band *band) {
    struct counter *counter = *(struct counter *const *)context;
    counter->rows += band->to - band->from;
    while (++counter->slices == 2 && clock_ns() < counter->deadline) {
        counter->slices--;
    }
}

static uint32_t all_rows(const void *context, unsigned plane, uint32_t to) {
    (void)context;
    (void)plane;
    return to;
}

static void tell(void *context, uint32_t rows) {
    (void)rows;
    ((struct counter *)context)->told++;
}

static void test_bands_end(void **state) {
    (void)state;
    for (unsigned follow = 0; follow < 2; follow++) {
        struct counter counter = {.deadline = clock_ns() + 3000000};
        struct counter *context = &counter;
        const struct progress progress = {tell, &counter};
        struct pass pass = {.rows = {64},
                            .cost = {1 << 20},
                            .band = count_slice,
                            .context = &context,
                            .least = 1,
                            .deadline_ns = counter.deadline,
                            .progress = &progress,
                            .makes = all_rows};
        struct error err = {0};
        enum status status =
            follow ? bands_follow(NULL, 1, &pass, all_rows, NULL, &err) : bands_run(NULL, 1, &pass, &err);
        assert_int_equal(status, ST_LIMIT);
        assert_string_equal(err.text, "the picture takes longer than the time limit");
        assert_int_equal(counter.slices, 2);
        assert_true(counter.rows < 20);
        assert_int_equal(counter.told, follow ? 2 : 0);
        pass.deadline_ns = 0;
        counter = (struct counter){.slices = 2};
        status =
            follow ? bands_follow(NULL, 1, &pass, all_rows, NULL, &err) : bands_run(NULL, 1, &pass, &err);
        assert_int_equal(status, ST_OK);
        assert_int_equal(counter.rows, 64);
    }
}

/* ---- kinds of work ---- */

enum { SIDE = 1600, FEATHER = 40 };

struct bench {
    struct backend *backend;
    struct lane *lane;
    struct test_image source, linear, target, mask, soft;
    struct region_set regions;
};

typedef enum status work(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err);

static enum status run_filter(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    struct image_shape shape = image_shape(&bench->source.image);
    struct chain chain = make_chain(text, &shape);
    struct image_shape shape_made = chain_result(&chain, &shape);
    struct image target = bench->target.image;
    image_layout(&target, &shape_made);
    image_place(&target, bench->target.image.plane[0].data);
    const struct chain_run run = {
        .chain = &chain, .source = &bench->source.image, .target = &target, .deadline_ns = deadline_ns};
    return lane_run(bench->lane, &run, NULL, err);
}

static enum status run_linear(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    (void)text;
    enum status status = linear_from(NULL, deadline_ns, &bench->source.image, &bench->linear.image, err);
    return status == ST_OK ? linear_to(NULL, deadline_ns, &bench->linear.image, &bench->target.image, err)
                           : status;
}

static enum status run_blend(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    (void)text;
    return blend(NULL, deadline_ns, &bench->source.image, &bench->target.image, &bench->soft.image, err);
}

static enum status run_restore(struct bench *bench, const char *text, int64_t deadline_ns,
                               struct error *err) {
    (void)text;
    return mask_restore(NULL, deadline_ns, &bench->target.image, &bench->source.image, &bench->mask.image,
                        err);
}

static enum status run_feather(struct bench *bench, const char *text, int64_t deadline_ns,
                               struct error *err) {
    (void)text;
    struct mask_report report;
    const struct mask_feathering how = {.feather = FEATHER, .lane = bench->lane, .deadline_ns = deadline_ns};
    return mask_feather(&how, &bench->mask.image, &bench->soft.image, &report, err);
}

static enum status run_draw(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    (void)text;
    struct mask_report report;
    const struct mask_options options = {.outward = true, .deadline_ns = deadline_ns};
    return mask_draw(&bench->mask.image, &bench->regions, &options, &report, err);
}

static enum status run_redact(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    (void)text;
    const struct redact_options options = {.block = 8, .deadline_ns = deadline_ns};
    return redact_image(&bench->target.image, &bench->regions, &options, &bench->mask.image, err);
}

static enum status run_orient(struct bench *bench, const char *text, int64_t deadline_ns, struct error *err) {
    (void)text;
    return orient_image(&bench->source.image, 6, &bench->target.image, deadline_ns, err);
}

static const struct {
    work *work;
    const char *text;
} kinds[] = {
    {run_filter, "blur:sigma=2"},
    {run_filter, "blur:sigma=20 kernel_size=99 edge=wrap"},
    {run_filter, "blur:sigma=30"},
    {run_filter, "blur:sigma=500 edge=mirror"},
    {run_filter, "convolve:preset=box size=15"},
    {run_filter, "convolve:kernel=1,2,3;4,5,6;7,8,9;-1,0,1;2,2,2"},
    {run_filter, "sharpen:sigma=3 amount=1"},
    {run_filter, "adjust:saturation=2"},
    {run_filter, "pixelate:block=3"},
    {run_filter, "stats:"},
    {run_linear, "linear"},
    {run_blend, "blend"},
    {run_restore, "restore"},
    {run_feather, "feather"},
    {run_draw, "draw"},
    {run_redact, "redact"},
    {run_orient, "orient"},
};

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void bench_open(struct bench *bench) {
    struct error err = {0};
    uint64_t random = test_seed();
    const struct image_shape shape = {.model = PIXEL_RGBA, .depth = 16, .width = SIDE, .height = SIDE};
    memset(bench, 0, sizeof *bench);
    assert_int_equal(cpu_backend_open("auto", &bench->backend, &err), ST_OK);
    assert_int_equal(lane_create(bench->backend, &bench->lane, &err), ST_OK);
    bench->source = test_image_make(&shape);
    bench->linear = test_image_make(&shape);
    bench->target = test_image_make(&shape);
    bench->mask = gray_image(SIDE, SIDE);
    bench->soft = gray_image(SIDE, SIDE);
    test_image_fill(&bench->source, CONTENT_PHOTO, &random);
    for (unsigned i = 0; i < REGIONS_GIVEN_MAX; i++) {
        add_region(&bench->regions, "ellipse:%u,%u,90%%,90%%", i, 2 * i);
    }
    assert_int_equal(run_draw(bench, "", 0, &err), ST_OK);
}

static void bench_close(struct bench *bench) {
    test_image_free(&bench->source);
    test_image_free(&bench->linear);
    test_image_free(&bench->target);
    test_image_free(&bench->mask);
    test_image_free(&bench->soft);
    lane_destroy(bench->lane);
    backend_close(bench->backend);
}

static void test_kinds_of_work(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct error err = {0};
        int64_t start = cpu_ns();
        assert_int_equal(kinds[i].work(&bench, kinds[i].text, 0, &err), ST_OK);
        int64_t whole = cpu_ns() - start;
        start = cpu_ns();
        enum status status = kinds[i].work(&bench, kinds[i].text, clock_ns() + whole / 8, &err);
        int64_t part = cpu_ns() - start;
        print_message("%-50s %6.1f ms, with an eighth %5.1f ms\n", kinds[i].text, (double)whole / 1e6,
                      (double)part / 1e6);
        assert_int_equal(status, ST_LIMIT);
        assert_string_equal(err.text, "the picture takes longer than the time limit");
        assert_true(part < whole / 2 + 5000000); /* a slice, and a filter's work before the first */
    }
    bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_left),
        cmocka_unit_test(test_bands_end),
        cmocka_unit_test(test_kinds_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
