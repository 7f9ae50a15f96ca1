/* SPDX-License-Identifier: MIT */
#include "gpu/front/spawner.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"
#include "core/process/channel.h"
#include "core/process/fork_server.h"
#include "gpu/wire/wire.h"

enum { ARGUMENTS_MAX = 256 };

struct gpu_spawner {
    struct fork_server server;
    char *const *arguments;
    bool may_open;
};

/* Starts this program as an engine, with its own arguments behind the one for that. */
static enum status spawn(char *const *own_arguments, bool open, int control, pid_t *pid, struct error *err) {
    char closed_engine[] = GPU_ENGINE_ARGUMENT, open_engine[] = GPU_OPEN_ENGINE_ARGUMENT;
    char *arguments[ARGUMENTS_MAX + 2] = {own_arguments[0], open ? open_engine : closed_engine};
    for (unsigned i = 1; own_arguments[i] && i < ARGUMENTS_MAX; i++) {
        arguments[i + 1] = own_arguments[i];
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, control, WIRE_CONTROL_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int error = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? ST_OK : fail(err, ST_DEVICE, "cannot start the engine process: %s", strerror(error));
}

/* Spawns an engine on the control socket received over the lifeline. */
static enum status start(char *const *arguments, bool open, int lifeline, pid_t *pid, struct error *err) {
    int control;
    struct wire_session message;
    enum status status = channel_receive(lifeline, &message, sizeof message, WIRE_CONTROL, &control, -1, err);
    if (status == ST_OK) {
        status = spawn(arguments, open, control, pid, err);
        close(control);
    }
    return status;
}

/* Runs an engine until it ends. The end of the lifeline, or any message but PROVEN, kills it. Returns whether
 * it has served in its sandbox. */
static bool run_engine(char *const *arguments, bool open, int lifeline) {
    struct error err = {0};
    struct wire_proven message;
    pid_t pid = 0;
    bool proven = false;
    if (start(arguments, open, lifeline, &pid, &err) == ST_OK) {
        while (channel_receive(lifeline, &message, sizeof message, WIRE_PROVEN, NULL, -1, &err) == ST_OK) {
            proven = !open;
        }
    } else {
        log_message(LOG_WARNING, "gpu", "%s", err.text);
    }
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(lifeline);
    return proven;
}

static void spawner_main(void *context) {
    const struct gpu_spawner *spawner = context;
    struct wire_start message;
    struct error err;
    int lifeline;
    bool may_open = spawner->may_open;
    while (channel_receive(FORK_SERVER_FD, &message, sizeof message, WIRE_START, &lifeline, -1, &err) ==
           ST_OK) {
        bool open = may_open && message.open;
        may_open = !run_engine(spawner->arguments, open, lifeline) && may_open;
    }
}

enum status gpu_spawner_fork(struct gpu_spawner **spawner, char *const *arguments, bool open,
                             struct error *err) {
    struct gpu_spawner *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->arguments = arguments;
    made->may_open = open;
    enum status status = fork_server_start(&made->server, "blurd-spawner", spawner_main, made, err);
    if (status != ST_OK) {
        free(made);
        return status;
    }
    *spawner = made;
    return ST_OK;
}

void gpu_spawner_end(struct gpu_spawner *spawner) {
    if (spawner) {
        fork_server_end(&spawner->server);
        free(spawner);
    }
}

enum status spawner_start(struct gpu_spawner *spawner, bool open, int lifeline[2], int control[2],
                          struct error *err) {
    struct wire_start message = {.open = open};
    struct wire_session given;
    enum status status =
        channel_send(spawner->server.socket, &message, sizeof message, WIRE_START, lifeline[1], err);
    if (status == ST_OK) {
        status = channel_send(lifeline[0], &given, sizeof given, WIRE_CONTROL, control[1], err);
    }
    close(lifeline[1]);
    close(control[1]);
    return status;
}

void spawner_proven(int lifeline) {
    struct wire_proven message;
    struct error ignored;
    (void)channel_send(lifeline, &message, sizeof message, WIRE_PROVEN, -1, &ignored);
}

void spawner_kill(int lifeline) {
    shutdown(lifeline, SHUT_WR);
}

void spawner_reap(int lifeline) {
    char ignored;
    ssize_t got;
    do {
        got = recv(lifeline, &ignored, sizeof ignored, 0);
    } while (got > 0 || (got < 0 && errno == EINTR));
}
