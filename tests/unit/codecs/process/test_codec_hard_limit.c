/* SPDX-License-Identifier: MIT
 * A hard limit of data, as an operator sets it for all processes: calls that may take more take what is left
 * below it. */
#include "tests/unit/codecs/process/codec_link_fixture.h"

#include <sys/resource.h>

#include "core/sanitizers.h"

enum { ROOM = 64, TAKEN = 40, ALLOWED = 100 }; /* MiB: below the limit, by a call, by its own limit */

static void test_a_call_below_the_hard_limit(void **state) {
    (void)state;
    if (SANITIZED) {
        skip();
    }
    const struct codec_limits limits = fixture_limits();
    struct lab lab;
    open_lab(&lab);
    assert_works(&lab); /* within its own limit, which is lower */
    load(&lab, FAKE_GROWS, TAKEN * MIB);
    enum status status =
        codec_link_decode(lab.link, &lab.picture, lab.file, &limits, ALLOWED * MIB, &lab.image, &lab.err);
    assert_int_equal(status, ST_OK);
    assert_int_equal(codec_link_faults(lab.link), 0); /* at the first attempt */
    assert_works(&lab);
    close_lab(&lab);
}

static int start_below_a_limit(void **state) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages), 1);
    fclose(file);
    rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM * MIB;
    assert_true(SANITIZED || setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}) == 0);
    return start(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_call_below_the_hard_limit)};
    return cmocka_run_group_tests(tests, start_below_a_limit, stop);
}
