/* SPDX-License-Identifier: MIT
 * An engine that is given a face model, on the fake driver: the self-test compares its search with the CPU's.
 */
#include "cpu/cpu.h"
#include "detect/faces/faces.h"
#include "gpu/front/selftest.h"
#include "tests/filters/network_fixture.h"
#include "tests/unit/core/slot_fixture.h"
#include "tests/unit/time_limit.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"

unsigned time_limit_seconds = 300; /* kernels on the host, fiber by fiber */

static char library[PATH_MAX + 40], model_path[] = "/tmp/blurd-test-faces-XXXXXX";

static struct network_fixture fixture;

static int make_model(void **state) {
    (void)state;
    char program[PATH_MAX] = "";
    log_init(LOG_ERROR, LOG_TEXT);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    snprintf(library, sizeof library, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    network_fixture_make(&fixture, &detector_faces);
    int fd = mkstemp(model_path);
    bool written = fd >= 0 && write(fd, fixture.file, model_size(detector_faces.network)) ==
                                  (ssize_t)model_size(detector_faces.network);
    return written && close(fd) == 0 ? 0 : -1;
}

static int remove_model(void **state) {
    (void)state;
    unlink(model_path);
    network_fixture_free(&fixture);
    return 0;
}

/* Runs the self-test of an engine with that model. Returns the filters that are refused. */
static uint32_t test_engine(const char *path) {
    struct engine_options options = {.gpus = "all", .library = library, .program.cache_folder = ""};
    struct wire_ready ready;
    struct error err = {0};
    struct engine *engine;
    struct engine_link link = LINK_NONE;
    struct backend *reference = NULL;
    struct model model;
    struct slot_pool *pool = make_pool(64 * MIB);
    struct slot *slot = acquire_kind(pool, SLOT_LENT_WORK);
    _Atomic uint32_t refused = 0;
    snprintf(options.models.of[DETECTOR_FACES], MODEL_PATH_MAX, "%s", path);
    assert_int_equal(model_open(&model, &detector_faces, model_path, &err), ST_OK);
    assert_int_equal(cpu_backend_open("auto", &reference, &err), ST_OK);
    cpu_backend_use_model(reference, DETECTOR_FACES, &model);
    assert_int_equal(engine_open(&engine, &options, &ready, &err), ST_OK);
    assert_int_equal(engine_session_create(&link.session, engine, &err), ST_OK);
    assert_int_equal(selftest_run(&link, slot, reference, &refused, &err), ST_OK);
    link_close(&link);
    engine_close(engine);
    backend_close(reference);
    model_close(&model);
    slot_give_back(slot);
    slot_pool_destroy(pool);
    return refused;
}

static void test_same_faces(void **state) {
    (void)state;
    assert_int_equal(test_engine(model_path), 0);
}

/* Such an engine serves all other filters. */
static void test_no_model(void **state) {
    (void)state;
    assert_int_equal(test_engine("/nowhere"), 0);
    assert_int_equal(test_engine(""), 0);
}

/* Runs it with a copy of the model in which one number is another. */
static uint32_t test_changed(size_t offset, int32_t value) {
    char path[] = "/tmp/blurd-test-faces-XXXXXX";
    int fd = mkstemp(path);
    int32_t before;
    memcpy(&before, fixture.file + offset, sizeof before);
    memcpy(fixture.file + offset, &value, sizeof value);
    network_fixture_seal(&fixture);
    assert_int_equal(write(fd, fixture.file, model_size(detector_faces.network)),
                     model_size(detector_faces.network));
    close(fd);
    memcpy(fixture.file + offset, &before, sizeof before);
    network_fixture_seal(&fixture);
    uint32_t refused = test_engine(path);
    unlink(path);
    return refused;
}

/* Another model than the CPU's gives other faces. */
static void test_another_model(void **state) {
    (void)state;
    assert_int_equal(test_changed(network_fixture_offset(&fixture, FACE_heads, MODEL_BIASES), 4711),
                     1u << FILTER_DETECT);
}

/* The GPU does not take a model with sums that its kernels would round wrongly. */
static void test_large_sums(void **state) {
    (void)state;
    assert_int_equal(test_changed(network_fixture_offset(&fixture, FACE_stem, MODEL_BIASES), 1 << 23), 0);
    assert_int_equal(test_changed(network_fixture_offset(&fixture, FACE_block3_depth, MODEL_BIASES), 1 << 23),
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_faces), cmocka_unit_test(test_no_model),
                                       cmocka_unit_test(test_another_model),
                                       cmocka_unit_test(test_large_sums)};
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
