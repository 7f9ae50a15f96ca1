/* SPDX-License-Identifier: MIT
 * Once an engine has served in its sandbox, the spawner starts no engine without one, whatever the daemon
 * asks for. This program plays the engine, too. */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/process/channel.h"
#include "gpu/front/spawner.h"
#include "gpu/wire/wire.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */
#include "tests/unit/core/no_memory_fixture.h"

enum { WAIT_MS = 20000 };

/* Whether the engine that starts has no sandbox. It ends before this returns. */
static bool runs_open(struct gpu_spawner *spawner, bool asked, bool proven) {
    int lifeline[2], control[2];
    struct error err = {0};
    assert_int_equal(channel_pair(lifeline, &err), ST_OK);
    assert_int_equal(channel_pair(control, &err), ST_OK);
    assert_int_equal(spawner_start(spawner, asked, lifeline, control, &err), ST_OK);
    struct pollfd answer = {.fd = control[0], .events = POLLIN};
    char open = '?';
    assert_int_equal(poll(&answer, 1, WAIT_MS), 1);
    assert_int_equal(recv(control[0], &open, 1, 0), 1);
    if (proven) {
        spawner_proven(lifeline[0]);
    }
    spawner_kill(lifeline[0]);
    spawner_reap(lifeline[0]);
    close(lifeline[0]);
    close(control[0]);
    return open == 'y';
}

static struct gpu_spawner *spawner(bool may_open) {
    static char name[] = "test_spawner", *arguments[] = {name, NULL};
    struct gpu_spawner *made;
    struct error err = {0};
    assert_int_equal(gpu_spawner_fork(&made, arguments, may_open, &err), ST_OK);
    return made;
}

static void test_none_is_open_where_a_sandbox_is_a_must(void **state) {
    (void)state;
    struct gpu_spawner *own = spawner(false);
    assert_false(runs_open(own, true, false));
    assert_false(runs_open(own, true, false));
    gpu_spawner_end(own);
}

static void test_none_is_open_once_one_has_served_in_its_sandbox(void **state) {
    (void)state;
    struct gpu_spawner *own = spawner(true);
    assert_false(runs_open(own, false, false));
    assert_true(runs_open(own, true, false));
    assert_true(runs_open(own, true, true)); /* proves nothing: it had no sandbox */
    assert_true(runs_open(own, true, false));
    assert_false(runs_open(own, false, true));
    assert_false(runs_open(own, true, false));
    assert_false(runs_open(own, true, false)); /* that the one before proved nothing changes nothing */
    gpu_spawner_end(own);
}

static int fork_without_memory(void) {
    static char *arguments[] = {NULL};
    struct gpu_spawner *made = NULL;
    static struct error err;
    if (!take_all_memory()) {
        return CHILD_SKIPS;
    }
    return gpu_spawner_fork(&made, arguments, false, &err) == ST_BUSY && !made ? 0 : 1;
}

static void test_without_memory(void **state) {
    (void)state;
    check_child(fork_without_memory);
}

/* What the engine does: tells whether it was started without a sandbox, and waits to be killed. */
static int engine(char **arguments) {
    bool open = strcmp(arguments[1], GPU_OPEN_ENGINE_ARGUMENT) == 0;
    send(WIRE_CONTROL_FD, open ? "y" : "n", 1, MSG_NOSIGNAL);
    pause();
    return 1;
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_open_where_a_sandbox_is_a_must),
        cmocka_unit_test(test_none_is_open_once_one_has_served_in_its_sandbox),
        cmocka_unit_test(test_without_memory),
    };
    return count > 1 ? engine(arguments) : cmocka_run_group_tests(tests, NULL, NULL);
}
