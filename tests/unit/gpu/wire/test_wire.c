/* SPDX-License-Identifier: MIT
 * Wrong contents in messages of the right kind and size, from a misbehaving engine. */
#include "gpu/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const struct wire_run pixels; /* no room for a JPEG */
static const struct wire_run jpeg = {.jpeg = {.size = 500, .room = 1000}};

static struct wire_done good_done(void) {
    return (struct wire_done){.error.status = ST_OK, .timing = {1, 2, 3, 0}};
}

static void refused(struct wire_done *done, const struct wire_run *run) {
    struct error err = {0};
    assert_int_equal(wire_done_check(done, run, &err), ST_DEVICE);
    assert_string_equal(err.text, "invalid reply from the engine");
}

static void test_sizes(void **state) {
    (void)state;
    static const uint64_t fine[] = {0, 1, 500, 1000}, wrong[] = {1001, 1 << 20, 1ull << 63, UINT64_MAX};
    struct error err;
    struct wire_done done = good_done();
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        done.size = fine[i];
        assert_int_equal(wire_done_check(&done, &jpeg, &err), ST_OK);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        done.size = wrong[i];
        refused(&done, &jpeg);
    }
    done.size = 0;
    assert_int_equal(wire_done_check(&done, &pixels, &err), ST_OK);
    done.size = 1;
    refused(&done, &pixels);
}

static void test_times(void **state) {
    (void)state;
    static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct wire_done done = good_done();
        done.timing.upload_ns = wrong[i];
        refused(&done, &jpeg);
        done = good_done();
        done.timing.filter_ns = wrong[i];
        refused(&done, &jpeg);
        done = good_done();
        done.timing.download_ns = wrong[i];
        refused(&done, &jpeg);
    }
    struct wire_done done = good_done();
    done.timing.unit = -2;
    refused(&done, &jpeg);
}

static void test_errors(void **state) {
    (void)state;
    struct error err;
    struct wire_done done = good_done();
    done.error.status = ST_COUNT;
    refused(&done, &jpeg);
    done.error.status = (enum status) - 1;
    refused(&done, &jpeg);
    done.error.status = ST_UNSUPPORTED;
    memset(done.error.text, 'x', sizeof done.error.text);
    assert_int_equal(wire_done_check(&done, &jpeg, &err), ST_OK);
    assert_non_null(memchr(done.error.text, '\0', sizeof done.error.text));
}

/* How many JPEGs it takes at a time. */
static void test_pictures(void **state) {
    (void)state;
    static const uint32_t fine[] = {0, 1, WIRE_PICTURES_MAX}, wrong[] = {WIRE_PICTURES_MAX + 1, UINT32_MAX};
    struct wire_ready ready = {.error.status = ST_OK, .device_count = 1};
    struct error err = {0};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        ready.pictures = fine[i];
        assert_int_equal(wire_ready_check(&ready, &err), ST_OK);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ready.pictures = wrong[i];
        assert_int_equal(wire_ready_check(&ready, &err), ST_DEVICE);
        assert_string_equal(err.text, "invalid report from the engine");
    }
}

static void test_devices(void **state) {
    (void)state;
    static const uint32_t fine[] = {0, 1, WIRE_DEVICES_MAX}, wrong[] = {WIRE_DEVICES_MAX + 1, UINT32_MAX};
    struct wire_ready ready = {.error.status = ST_OK};
    struct error err = {0};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        ready.device_count = fine[i];
        assert_int_equal(wire_ready_check(&ready, &err), ST_OK);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ready.device_count = wrong[i];
        assert_int_equal(wire_ready_check(&ready, &err), ST_DEVICE);
    }
}

/* A day is taken, in each of the times. */
static void test_the_longest_times(void **state) {
    (void)state;
    const int64_t day = INT64_C(86400) * 1000000000;
    struct wire_ready ready = {.error.status = ST_OK, .driver_ns = day, .device_count = 1};
    struct wire_done done = good_done();
    struct error err = {0};
    ready.device[0] = (struct wire_device){.context_ns = day, .compile_ns = day, .load_ns = day};
    assert_int_equal(wire_ready_check(&ready, &err), ST_OK);
    int64_t *const of_ready[] = {&ready.driver_ns, &ready.device[0].context_ns, &ready.device[0].compile_ns,
                                 &ready.device[0].load_ns};
    for (size_t i = 0; i < sizeof of_ready / sizeof *of_ready; i++) {
        *of_ready[i] = day + 1;
        assert_int_equal(wire_ready_check(&ready, &err), ST_DEVICE);
        *of_ready[i] = day;
    }
    done.timing = (struct lane_timing){day, day, day, -1};
    assert_int_equal(wire_done_check(&done, &jpeg, &err), ST_OK);
    done.timing.download_ns = day + 1;
    refused(&done, &jpeg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_the_longest_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
