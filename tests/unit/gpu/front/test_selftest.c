/* SPDX-License-Identifier: MIT
 * The self-test of engines: where it cannot begin, and JPEGs on the fake driver. */
#include "gpu/front/selftest.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "cpu/cpu.h"
#include "gpu/front/selftest_jpeg.h"
#include "server/process/transcode_sample.h"

#include "tests/unit/core/slot_fixture.h"

enum { PICTURES = 2 };

/* The engine is refused, which leaves the work to the CPU. */
static void test_a_slot_without_room(void **state) {
    (void)state;
    struct engine_link link = LINK_NONE;
    struct backend *reference = NULL;
    struct error err = {0};
    struct slot_pool *pool = make_pool(MIB);
    struct slot *other = acquire(pool), *slot = acquire_kind(pool, SLOT_LENT_WORK);
    reserve(other, slot_pool_budget(pool));
    assert_int_equal(cpu_backend_open("auto", &reference, &err), ST_OK);
    _Atomic uint32_t refused = 0;
    assert_int_equal(selftest_run(&link, slot, reference, &refused, &err), ST_BUSY);
    assert_int_equal(refused, 0);
    backend_close(reference);
    slot_give_back(slot);
    slot_give_back(other);
    slot_pool_destroy(pool);
}

static void test_what_is_refused(void **state) {
    (void)state;
    const struct chain chain = {2, {{.filter = FILTER_CROP}, {.filter = FILTER_MEDIAN}}};
    assert_true(selftest_allows(0, &chain));
    assert_true(selftest_allows(1u << FILTER_BLUR | 1u << FILTER_STATS, &chain));
    assert_false(selftest_allows(1u << FILTER_MEDIAN, &chain));
    assert_false(selftest_allows(1u << FILTER_CROP, &chain));
}

/* --- JPEGs ---------------------------------------------------------------------------------- */
static struct engine *engine;
static struct backend *cpu;
static struct slot_pool *slots;
static unsigned asked; /* samples */
static unsigned turned, feathered, redacted, restarted, patched, handed, converted, halves[2];

static int open_engine(void **state) {
    (void)state;
    char program[PATH_MAX] = "", driver[PATH_MAX + 40];
    struct wire_ready ready;
    struct error err = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    snprintf(driver, sizeof driver, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    const struct engine_options options = {
        .gpus = "all", .library = driver, .jpeg = true, .pictures = PICTURES, .program.cache_folder = ""};
    slots = make_pool(16 * MIB);
    bool open = engine_open(&engine, &options, &ready, &err) == ST_OK &&
                cpu_backend_open("auto", &cpu, &err) == ST_OK;
    return open && ready.pictures == PICTURES ? 0 : -1;
}

static int close_engine(void **state) {
    (void)state;
    backend_close(cpu);
    engine_close(engine);
    slot_pool_destroy(slots);
    return 0;
}

struct outcome {
    enum status status;
    uint32_t pictures, refused;
    char text[ERROR_TEXT_MAX];
};

/* Tests the engine, or what is at the other end of `socket`. */
static struct outcome outcome_of(gpu_sample_maker *sample, uint32_t pictures, uint32_t refused, int socket) {
    const struct gpu_options options = {.reference = cpu, .sample = sample};
    struct engine_link link = LINK_NONE;
    struct slot *slot = acquire_kind(slots, SLOT_LENT_WORK);
    struct error err = {0};
    struct outcome outcome = {.pictures = pictures};
    _Atomic uint32_t bits = refused;
    link.socket = socket;
    if (socket < 0) {
        assert_int_equal(engine_session_create(&link.session, engine, &err), ST_OK);
    }
    asked = 0;
    outcome.status = selftest_jpeg_run(&link, slot, &options, &outcome.pictures, &bits, &err);
    outcome.refused = bits;
    memcpy(outcome.text, err.text, sizeof outcome.text);
    link_close(&link);
    slot_give_back(slot);
    return outcome;
}

static void assert_jpegs_refused(const struct outcome *outcome, enum status status) {
    assert_int_equal(outcome->status, status);
    assert_int_equal(outcome->pictures, 0);
    assert_int_equal(outcome->refused, SELFTEST_JPEGS);
}

static enum status counted(unsigned number, struct lane *reference, struct slot *slot,
                           struct gpu_sample *sample, struct error *err) {
    asked++;
    return transcode_sample(number, reference, slot, sample, err);
}

static void test_right_jpegs(void **state) {
    (void)state;
    struct outcome outcome = outcome_of(counted, PICTURES, 1, -1);
    assert_int_equal(outcome.status, ST_OK);
    assert_int_equal(outcome.pictures, PICTURES);
    assert_int_equal(outcome.refused, 1);
    assert_true(asked > 2);
}

/* Each kernel without which some JPEG is wrong. The last samples go from file to file: what they leave in the
 * device's memory keeps an encoder without one of its kernels within its bounds, which pixels would not. */
static void test_wrong_jpegs(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "huffman_sync",   "decode_values", "decode_planes",   "encode_transform", "encode_symbols",
        "encode_measure", "encode_write",  "encode_stuff",    "encode_patch",     "mask_draw",
        "redact_fill",    "orient_mirror", "orient_transpose"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        setenv("FAKE_CUDA_IDLE", kernels[i], 1);
        struct outcome outcome = outcome_of(counted, PICTURES, 0, -1);
        unsetenv("FAKE_CUDA_IDLE");
        assert_jpegs_refused(&outcome, outcome.status == ST_OK ? ST_OK : ST_DEVICE);
        assert_true(outcome.text[0]);
        /* The first one clears counts of symbols that a kernel left behind; the second one is right. */
        (void)outcome_of(counted, PICTURES, 0, -1);
        assert_int_equal(outcome_of(counted, PICTURES, 0, -1).refused, 0);
    }
}

static enum status noted(unsigned number, struct lane *reference, struct slot *slot,
                         struct gpu_sample *sample, struct error *err) {
    static const uint8_t interval[] = {0xff, 0xdd, 0, 4, 0, 13}, last[] = {0xff, 0xd5};
    enum status status = transcode_sample(number, reference, slot, sample, err);
    if (status == ST_OK) {
        const struct bytes *input = &sample->job.input;
        turned += sample->job.orientation > 1;
        feathered += sample->job.mask && sample->mask.plan.feather > 0;
        redacted += sample->job.mask && sample->mask.plan.redaction == MASK_PLAN_REGIONS;
        patched += sample->job.patch;
        handed += sample->job.form == TRANSCODE_COEFFICIENTS;
        converted += sample->job.colours != TRANSCODE_PLANES;
        halves[0] += sample->job.pixels;
        halves[1] += sample->job.form == TRANSCODE_PIXELS;
        restarted += memmem(input->data, input->size, interval, sizeof interval) &&
                     memmem(input->data, input->size, last, sizeof last);
    }
    return status;
}

static void test_kinds_of_samples(void **state) {
    (void)state;
    turned = feathered = redacted = restarted = patched = handed = converted = halves[0] = halves[1] = 0;
    struct outcome outcome = outcome_of(noted, PICTURES, 0, -1);
    assert_int_equal(outcome.pictures, PICTURES);
    assert_int_equal(turned, 4);
    assert_int_equal(feathered, 1);
    assert_int_equal(redacted, 3);
    assert_int_equal(restarted, 2);
    assert_int_equal(patched, 2);
    assert_int_equal(handed, 1);
    assert_int_equal(converted, 4);
    assert_int_equal(halves[0], 1);
    assert_int_equal(halves[1], 1);
}

static void test_nothing_to_try(void **state) {
    (void)state;
    struct outcome outcome = outcome_of(counted, PICTURES, SELFTEST_JPEGS, -1);
    assert_jpegs_refused(&outcome, ST_OK);
    outcome = outcome_of(counted, 0, 0, -1);
    assert_int_equal(outcome.status, ST_OK);
    assert_int_equal(outcome.refused, 0);
    outcome = outcome_of(NULL, PICTURES, 0, -1);
    assert_int_equal(outcome.pictures, PICTURES);
    assert_int_equal(asked, 0);
}

static enum status not_made(unsigned number, struct lane *reference, struct slot *slot,
                            struct gpu_sample *sample, struct error *err) {
    enum status status = transcode_sample(number, reference, slot, sample, err);
    return number == 0 ? status : (fail)(err, ST_LIMIT, "no sample for a test");
}

static enum status damaged(unsigned number, struct lane *reference, struct slot *slot,
                           struct gpu_sample *sample, struct error *err) {
    enum status status = transcode_sample(number, reference, slot, sample, err);
    sample->job.input.size = status == ST_OK ? 100 : 0;
    return status;
}

/* The engine has not failed, and goes on with filters. */
static void test_samples_that_are_not_done(void **state) {
    (void)state;
    struct outcome outcome = outcome_of(not_made, PICTURES, 0, -1);
    assert_jpegs_refused(&outcome, ST_OK);
    assert_string_equal(outcome.text, "no sample for a test");
    outcome = outcome_of(damaged, PICTURES, 0, -1);
    assert_jpegs_refused(&outcome, ST_OK);
}

static void test_an_engine_that_ends(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(channel_pair(pair, NULL), ST_OK);
    close(pair[1]);
    struct outcome outcome = outcome_of(counted, PICTURES, 0, pair[0]);
    assert_jpegs_refused(&outcome, ST_DEVICE);
    assert_int_equal(asked, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slot_without_room),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_right_jpegs),
        cmocka_unit_test(test_wrong_jpegs),
        cmocka_unit_test(test_kinds_of_samples),
        cmocka_unit_test(test_nothing_to_try),
        cmocka_unit_test(test_samples_that_are_not_done),
        cmocka_unit_test(test_an_engine_that_ends),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
