/* SPDX-License-Identifier: MIT
 * The layers of the daemon's sandbox and of that of the codecs' processes, each with the other off; and what
 * `--sandbox on` says where the kernel lacks one. */
#include "codecs/process/codec_sandbox.h"
#include "core/log.h"
#include "server/process/sandbox.h"

#include "tests/unit/core/layers_fixture.h" /* cmocka.h, too: it has a macro called fail */

static struct config configure(int sandbox) {
    struct config config;
    config_default(&config);
    config.sandbox = sandbox;
    return config;
}

/* --- the daemon -------------------------------------------------------------------------------- */
static int daemon_without_calls(void) {
    const struct config config = configure(CHOICE_sandbox_on);
    struct sandbox sandbox = SANDBOX_NOTHING;
    struct error err = {0};
    if (landlock_version() == 0) {
        return CHILD_SKIPS;
    }
    return sandbox_files(&sandbox, &config, NULL, &err) == ST_OK && landlock_holds(true) ? 0 : 1;
}

static int daemon_without_landlock(void) {
    const struct config config = configure(CHOICE_sandbox_auto);
    struct sandbox sandbox = SANDBOX_NOTHING;
    struct error err = {0};
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    bool entered = sandbox_files(&sandbox, &config, NULL, &err) == ST_OK && sandbox.landlock == 0 &&
                   sandbox_calls(&sandbox, &config, &err) == ST_OK && sandbox.calls > 0;
    return entered && calls_hold(false) ? 0 : 1;
}

static int daemon_must_have_landlock(void) {
    const struct config config = configure(CHOICE_sandbox_on);
    struct sandbox sandbox = SANDBOX_NOTHING;
    struct error err = {0};
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    return sandbox_files(&sandbox, &config, NULL, &err) == ST_ARGUMENT &&
                   strstr(err.text, "--sandbox on: no Landlock")
               ? 0
               : 1;
}

static int daemon_must_have_calls(void) {
    const struct config config = configure(CHOICE_sandbox_on);
    struct sandbox sandbox = SANDBOX_NOTHING; /* with no list of calls in it */
    struct error err = {0};
    return sandbox_calls(&sandbox, &config, &err) == ST_ARGUMENT && sandbox.calls == 0 &&
                   strstr(err.text, "--sandbox on: no seccomp")
               ? 0
               : 1;
}

/* --- a process of the codecs --------------------------------------------------------------------- */
static int codec_without_calls(void) {
    static const struct codec_sandbox sandbox = {.wanted = true}; /* with no list of calls in it */
    struct error err = {0};
    if (landlock_version() == 0) {
        return CHILD_SKIPS;
    }
    return codec_sandbox_enter(&sandbox, &err) == ST_OK && landlock_holds(true) ? 0 : 1;
}

static int codec_without_landlock(void) {
    static struct codec_sandbox sandbox = {.wanted = true};
    struct error err = {0};
    codec_sandbox_prepare(&sandbox);
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    return codec_sandbox_enter(&sandbox, &err) == ST_OK && calls_hold(false) ? 0 : 1;
}

static int codec_must_have_landlock(void) {
    static struct codec_sandbox sandbox = {.wanted = true, .must = true};
    struct error err = {0};
    codec_sandbox_prepare(&sandbox);
    if (!layers_hide_landlock()) {
        return CHILD_SKIPS;
    }
    return codec_sandbox_enter(&sandbox, &err) == ST_INTERNAL && strstr(err.text, "--sandbox on: no Landlock")
               ? 0
               : 1;
}

/* --- tests --------------------------------------------------------------------------------------- */
static void test_child(void **state) {
    int (**child)(void) = *state;
    check_child(*child);
}

static int (*children[])(void) = {daemon_without_calls,    daemon_without_landlock, daemon_must_have_landlock,
                                  daemon_must_have_calls,  codec_without_calls,     codec_without_landlock,
                                  codec_must_have_landlock};
static const char *const names[] = {"test_landlock_of_the_daemon",    "test_calls_of_the_daemon",
                                    "test_the_daemon_needs_landlock", "test_the_daemon_needs_seccomp",
                                    "test_landlock_of_a_codec",       "test_calls_of_a_codec",
                                    "test_a_codec_needs_landlock"};
enum { CHILDREN = sizeof children / sizeof *children };

int main(void) {
    struct CMUnitTest tests[CHILDREN];
    log_init(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < CHILDREN; i++) {
        tests[i] = (struct CMUnitTest){names[i], test_child, NULL, NULL, &children[i]};
    }
    return layers_prepare() ? cmocka_run_group_tests(tests, NULL, layers_remove_file) : 1;
}
