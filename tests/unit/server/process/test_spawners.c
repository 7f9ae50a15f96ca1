/* SPDX-License-Identifier: MIT
 * The log says which processes cannot be forked at the start. */
#include "server/process/spawners.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "config/config.h"
#include "core/log.h"
#include "server/service.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */

/* Without descriptors: all but the standard ones are taken. */
static int without_descriptors(void) {
    static struct config config = {.sandbox = CHOICE_sandbox_off};
    static struct service service = {.config = &config, .gpu = true, .cores = 2};
    static char name[] = "test_spawners", *arguments[] = {name, NULL};
    char text[4096] = "";
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], STDERR_FILENO) < 0) {
        return CHILD_SKIPS;
    }
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){1, 1}); /* the log polls one */
    spawners_fork(&service, arguments);
    ssize_t size = read(ends[0], text, sizeof text - 1);
    bool both = size > 0 && strstr(text, "warning gpu ") && strstr(text, "warning codec ");
    dprintf(STDOUT_FILENO, "%s", both ? "" : text);
    return both && !service.spawner && !service.codecs ? 0 : 1;
}

static void test_without_descriptors(void **state) {
    (void)state;
    check_child(without_descriptors);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_descriptors)};
    log_init(LOG_WARNING, LOG_TEXT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
