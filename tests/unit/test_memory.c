/* SPDX-License-Identifier: MIT */
#include "config/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "config/cgroup.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MIB ((uint64_t)1 << 20)

static void test_what_is_wanted_is_taken(void **state) {
    (void)state;
    assert_int_equal(memory_budget(64 * MIB), 64 * MIB);
    assert_int_equal(memory_budget(5000 * MIB), 5000 * MIB);
}

/* Whatever the groups of this machine allow. tests/load/memory.py makes one with a limit. */
static void test_automatic(void **state) {
    (void)state;
    uint64_t budget = memory_budget(0);
    assert_true(budget >= MEMORY_MIN_MIB * MIB && budget <= MEMORY_AUTO_MIB * MIB);
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
        cmocka_unit_test(test_automatic),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
