/* SPDX-License-Identifier: MIT
 * Faults of an isolated codec end only its process, and the next picture gets another one. */
#include "tests/unit/codec_link_fixture.h"

#include <signal.h>

#include "core/clock.h"
#include "core/sanitizers.h"

static void test_death(void **state) {
    static const enum fake_order deaths[] = {FAKE_CRASHES, FAKE_ABORTS, FAKE_ENDS};
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    unsigned descriptors = count_descriptors();
    for (unsigned i = 0; i < 3; i++) {
        load(&lab, deaths[i], 0);
        assert_int_equal(decode(&lab), ST_CORRUPT);
        assert_string_equal(lab.err.text, "the library that reads Fake failed on this picture");
        assert_int_equal(count_processes(), 0);
        assert_works(&lab);
        assert_int_equal(encode(&lab, deaths[i], OUTPUT_MAX, &output), ST_INTERNAL);
        assert_string_equal(lab.err.text, "the library that writes Fake failed on this picture");
        buf_finish(&output);
        load(&lab, FAKE_CRASHES_IN_PROBE, 0);
        assert_int_equal(probe(&lab), ST_CORRUPT);
        assert_works(&lab);
    }
    assert_int_equal(count_descriptors(), descriptors);
    close_lab(&lab);
}

static void test_death_between_calls(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < 20; i++) {
        assert_works(&lab);
        kill((pid_t)lab.picture.metadata.losses, SIGKILL);
        if (i % 2) {
            sleep_ms(3);
        }
        while (i % 2 == 0 && count_processes() > 0) {
        }
        assert_works(&lab);
    }
    close_lab(&lab);
}

static void test_deadline(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    for (unsigned i = 0; i < 3; i++) {
        int64_t begin = clock_ns();
        load(&lab, FAKE_LOOPS, 0);
        assert_int_equal(decode_until(&lab, begin + 50 * MS), ST_LIMIT);
        assert_string_equal(lab.err.text, "the picture takes longer than the time limit");
        assert_true(clock_ns() - begin >= 50 * MS);
        assert_true(clock_ns() - begin < 2000 * MS);
        assert_int_equal(count_processes(), 0);
    }
    assert_works(&lab);
    sleep_ms(50); /* no timer of an earlier call is left */
    assert_int_equal(decode_until(&lab, clock_ns() + 30 * MS), ST_OK);
    sleep_ms(80);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

static void test_memory(void **state) {
    struct lab lab;
    struct buf output;
    (void)state;
    if (SANITIZED) {
        skip();
    }
    open_lab(&lab);
    load(&lab, FAKE_HOARDS, 0);
    assert_int_equal(decode(&lab), ST_LIMIT);
    assert_string_equal(lab.err.text, "the picture needs more memory than the 20 MiB that it may take");
    assert_works(&lab);
    assert_int_equal(encode(&lab, FAKE_HOARDS, OUTPUT_MAX, &output), ST_LIMIT);
    buf_finish(&output);
    load(&lab, FAKE_GROWS, 100 * MIB); /* writes to what malloc did not give */
    assert_int_equal(decode(&lab), ST_CORRUPT);
    assert_works(&lab);
    close_lab(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_death_between_calls),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
