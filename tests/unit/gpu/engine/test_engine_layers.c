/* SPDX-License-Identifier: MIT
 * The layers of the sandbox of the GPU's process, each with the other off; and what `--sandbox on` says where
 * the kernel lacks one. */
#include "core/log.h"
#include "gpu/engine/engine_sandbox.h"

#include "tests/unit/core/layers_fixture.h" /* cmocka.h, too: it has a macro called fail */

static struct engine_sandbox sandbox;

static enum status enter(bool must, bool *entered, struct error *err) {
    *entered = false;
    return engine_sandbox_enter(&sandbox, must, entered, err);
}

static int without_calls(void) { /* it has no list of them */
    bool entered;
    struct error err = {0};
    if (landlock_version() == 0) {
        return CHILD_SKIPS;
    }
    return enter(false, &entered, &err) == ST_OK && !entered && landlock_holds(false) ? 0 : 1;
}

/* The list leaves it files to read and write, as the driver's devices are; Landlock chooses them. */
static int without_landlock(void) {
    bool entered;
    struct error err = {0};
    engine_sandbox_prepare(&sandbox);
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    return enter(false, &entered, &err) == ST_OK && entered && calls_hold(true) ? 0 : 1;
}

static int must_have_landlock(void) {
    bool entered;
    struct error err = {0};
    engine_sandbox_prepare(&sandbox);
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    bool refused = enter(true, &entered, &err) == ST_DEVICE && !entered;
    return refused && strstr(err.text, "--sandbox on: no Landlock") ? 0 : 1;
}

static int must_have_calls(void) {
    bool entered;
    struct error err = {0};
    if (landlock_version() == 0) {
        return CHILD_SKIPS;
    }
    bool refused = enter(true, &entered, &err) == ST_DEVICE && !entered;
    return refused && strstr(err.text, "--sandbox on: no seccomp") ? 0 : 1;
}

static void test_landlock(void **state) {
    (void)state;
    check_child(without_calls);
}

static void test_calls(void **state) {
    (void)state;
    check_child(without_landlock);
}

static void test_both_are_needed(void **state) {
    (void)state;
    check_child(must_have_landlock);
    check_child(must_have_calls);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_landlock), cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_both_are_needed)};
    log_init(LOG_ERROR, LOG_TEXT);
    return layers_prepare() ? cmocka_run_group_tests(tests, NULL, layers_remove_file) : 1;
}
