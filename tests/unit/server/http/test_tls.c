/* SPDX-License-Identifier: MIT
 * A certificate that is loaded without memory. */
#include "server/http/tls.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */
#include "tests/unit/core/no_memory_fixture.h"

static int without_memory(void) {
    struct tls_identity *identity = NULL;
    static struct error err;
    if (!take_all_memory()) {
        return CHILD_SKIPS;
    }
    return tls_load(&identity, "/dev/null", "/dev/null", &err) == ST_BUSY && !identity ? 0 : 1;
}

static void test_without_memory(void **state) {
    (void)state;
    check_child(without_memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
