/* SPDX-License-Identifier: MIT */
#include "config/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "config/cgroup.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MIB ((uint64_t)1 << 20)

static void test_what_is_wanted_is_taken(void **state) {
    (void)state;
    assert_int_equal(memory_budget(64 * MIB), 64 * MIB);
    assert_int_equal(memory_budget(5000 * MIB), 5000 * MIB);
}

static void test_shares(void **state) {
    (void)state;
    static const struct {
        uint64_t group, ram, budget; /* MiB */
    } cases[] = {
        {0, 131072, 32768},                   /* no limit: a quarter of the machine */
        {0, 1024, 256},          {0, 16, 64}, /* the least */
        {1000, 131072, 600},                  /* a limit: 60 % of it */
        {512, 131072, 307},                   /* whole MiB */
        {100, 131072, 64},                    /* the least */
        {131071, 131072, 78642},              /* a limit just below the machine's memory */
        {131072, 131072, 32768},              /* a limit of all memory is no limit */
        {1 << 30, 8192, 2048},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t group = cases[i].group ? cases[i].group * MIB : UINT64_MAX;
        assert_int_equal(memory_share(group, cases[i].ram * MIB), cases[i].budget * MIB);
    }
    assert_int_equal(memory_share(UINT64_MAX, 0), MEMORY_MIN_MIB * MIB);
    assert_int_equal(memory_share(0, 8192 * MIB), MEMORY_MIN_MIB * MIB);
    assert_int_equal(memory_share(UINT64_MAX - 1, UINT64_MAX), (UINT64_MAX >> 20) * 60 / 100 << 20);
}

/* All slots that there can be together have no more addresses than they may, unless each has the least. */
static void test_what_a_request_may_take(void **state) {
    (void)state;
    static const struct {
        uint64_t budget, most; /* MiB */
        unsigned connections, workers;
    } cases[] = {
        {307, 307, 1024, 2},        {32768, 32768, 1024, 64},    {65536, 63550, 1024, 32},
        {262144, 63550, 1024, 32},  {262144, 32768, 1024, 5000}, {262144, 16131, 4096, 64},
        {4096, 1024, 65536, 128},   {1048576, 1024, 65536, 128}, {307, 307, 65536, 2},
        {1048576, 524288, 64, 200}, {1048576, 1048576, 1, 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned connections = cases[i].connections, workers = cases[i].workers;
        uint64_t most = memory_request_max(cases[i].budget * MIB, connections, workers);
        uint64_t slots = (uint64_t)connections + (workers < connections ? workers : connections);
        assert_int_equal(most / MIB, cases[i].most);
        assert_true(slots * most <= MEMORY_ADDRESSES || most <= 1024 * MIB);
    }
}

/* Reads the limits of this machine's groups. tests/load/memory.py makes one with a limit. */
static void test_automatic(void **state) {
    (void)state;
    uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t budget = memory_budget(0);
    assert_true(budget >= MEMORY_MIN_MIB * MIB && (budget < ram || budget == MEMORY_MIN_MIB * MIB));
    assert_int_equal(budget % MIB, 0);
}

struct seen {
    unsigned count;
    bool root;
};

static void visit(const char *folder, void *context) {
    struct seen *seen = context;
    seen->count++;
    seen->root |= strcmp(folder, "/sys/fs/cgroup") == 0;
    assert_int_equal(strncmp(folder, "/sys/fs/cgroup", 14), 0);
    assert_null(strstr(folder, "/.."));
}

static void test_groups(void **state) {
    (void)state;
    struct seen seen = {0};
    cgroup_each("memory", visit, &seen);
    assert_true(seen.root && seen.count >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_wanted_is_taken),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_what_a_request_may_take),
        cmocka_unit_test(test_automatic),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
