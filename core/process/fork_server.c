/* SPDX-License-Identifier: MIT */
#include "core/process/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/process/channel.h"

enum {
    RUNNING_FD = 4,   /* the keeper's end of `running` */
    PAUSE_MS = 1000,  /* before a process that has just begun and ended is started again */
    TIMEOUT_MS = 4000 /* with a process at the end; that of spans takes 3 s (server/tracing/collector.h) */
};

/* What the keeper knows. */
struct keeper {
    const char *name;
    void (*run)(void *context);
    void *context;
    sigset_t mask; /* of the daemon, for the process */
    int ended;     /* signalfd: readable when the process has ended */
};

static _Noreturn void process_main(const struct keeper *keeper) {
    prctl(PR_SET_NAME, keeper->name);
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* a stopped process would not notice the end of the daemon */
    sigprocmask(SIG_SETMASK, &keeper->mask, NULL);
    closefrom(FORK_SERVER_FD + 1);
    keeper->run(keeper->context);
    _exit(0);
}

/* Waits at most `ms` (-1: for ever) until the daemon's end is closed, or `other` is readable (-1: nothing).
 * Returns whether the daemon's end is closed. */
static bool daemon_ends(int other, int ms) {
    struct pollfd fds[2] = {{.fd = FORK_SERVER_FD, .events = POLLRDHUP}, {.fd = other, .events = POLLIN}};
    while (poll(fds, 2, ms) < 0 && errno == EINTR) {
    }
    return fds[0].revents != 0;
}

/* Whether the process has ended, with its wait status. */
static bool has_ended(const struct keeper *keeper, pid_t pid, int *state) {
    struct signalfd_siginfo ignored;
    while (read(keeper->ended, &ignored, sizeof ignored) > 0) {
    }
    return waitpid(pid, state, WNOHANG) == pid;
}

/* Lets the process finish for a while, since the daemon has ended. */
static _Noreturn void finish(const struct keeper *keeper, pid_t pid) {
    struct pollfd ended = {.fd = keeper->ended, .events = POLLIN};
    int state;
    kill(pid, SIGCONT);
    if (!has_ended(keeper, pid, &state)) {
        while (poll(&ended, 1, TIMEOUT_MS) < 0 && errno == EINTR) {
        }
    }
    if (!has_ended(keeper, pid, &state)) {
        kill(pid, SIGKILL);
        waitpid(pid, &state, 0);
    }
    _exit(0);
}

static void set_running(bool runs) {
    eventfd_t ignored;
    eventfd_read(RUNNING_FD, &ignored);
    if (runs) {
        eventfd_write(RUNNING_FD, 1);
    }
}

/* Runs the process once, until it ends. The keeper ends with the daemon. */
static void keep(const struct keeper *keeper) {
    int state = 0;
    pid_t pid = fork();
    if (pid == 0) {
        process_main(keeper);
    }
    if (pid < 0) {
        log_message(LOG_WARNING, "helper", "%s cannot be started: %s", keeper->name, strerror(errno));
        return;
    }
    set_running(true);
    while (!has_ended(keeper, pid, &state)) {
        if (daemon_ends(keeper->ended, -1)) {
            finish(keeper, pid);
        }
    }
    set_running(false);
    if (!daemon_ends(-1, 0)) {
        log_message(LOG_WARNING, "helper", "%s has ended (%s %d) and is started again", keeper->name,
                    WIFSIGNALED(state) ? "signal" : "status",
                    WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state));
    }
}

/* The kernel wakes a stopped keeper up when the daemon's end is closed. It would also do so when its parent
 * dies (PR_SET_PDEATHSIG), but not for a daemon whom Landlock lets send no signal. */
static void wake_by_channel(void) {
    fcntl(FORK_SERVER_FD, F_SETSIG, SIGCONT);
    fcntl(FORK_SERVER_FD, F_SETOWN, getpid());
    fcntl(FORK_SERVER_FD, F_SETFL, fcntl(FORK_SERVER_FD, F_GETFL) | O_ASYNC);
}

static _Noreturn void keeper_main(struct keeper *keeper, int socket, int running) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    prctl(PR_SET_NAME, "blurd-keeper");
    dup2(socket, FORK_SERVER_FD);
    dup2(running, RUNNING_FD);
    closefrom(RUNNING_FD + 1); /* the sockets handed to this program, and more */
    wake_by_channel();
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}, NULL);
    sigprocmask(SIG_BLOCK, &child, &keeper->mask);
    keeper->ended = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    for (int pause_ms = 0; !daemon_ends(-1, pause_ms);) {
        int64_t begin = clock_ns();
        keep(keeper);
        pause_ms = clock_ns() - begin < PAUSE_MS * INT64_C(1000000) ? PAUSE_MS : 0;
    }
    _exit(0);
}

enum status fork_server_start(struct fork_server *server, const char *name, void (*run)(void *context),
                              void *context, struct error *err) {
    int pair[2];
    struct keeper keeper = {.name = name, .run = run, .context = context};
    enum status status = channel_pair(pair, err);
    if (status != ST_OK) {
        return status;
    }
    int running = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    *server = (struct fork_server){.socket = pair[0], .running = running, .pid = running < 0 ? -1 : fork()};
    if (server->pid == 0) {
        keeper_main(&keeper, pair[1], running);
    }
    int error = errno;
    close(pair[1]);
    if (server->pid < 0) {
        close(pair[0]);
        close(running);
        return fail(err, ST_BUSY, "cannot fork: %s", strerror(error));
    }
    return ST_OK;
}

bool fork_server_runs(const struct fork_server *server) {
    struct pollfd fds[2] = {{.fd = server->running, .events = POLLIN}, {.fd = server->socket}};
    return poll(fds, 2, 0) > 0 && fds[0].revents && !fds[1].revents;
}

void fork_server_end(struct fork_server *server) {
    struct pollfd gone = {.fd = server->socket};
    shutdown(server->socket, SHUT_WR);
    while (poll(&gone, 1, TIMEOUT_MS + 1000) < 0 && errno == EINTR) {
    }
    if (gone.revents & POLLHUP) {
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    } else {
        log_message(LOG_WARNING, "helper", "process %d does not end and is left behind", server->pid);
    }
    close(server->socket);
    close(server->running);
}
