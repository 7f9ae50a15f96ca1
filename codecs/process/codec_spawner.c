/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codecs/frame.h"
#include "codecs/process/codec_wire.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/process/fork_server.h"
#include "core/sanitizers.h"

enum {
    SOCKET_FD = 3, /* of each child */
    JOIN_MS = 1000,
    END_MS = 2000,    /* limit for a spawner that ends a child, which takes a millisecond */
    FIRST = 2,        /* index of the first child's lifeline in `poll` */
    CHILD_LIKED = 500 /* the kernel's score for ending it without memory, before the daemon */
};

struct codec_spawner {
    struct fork_server server;
    struct codec_process_options options;
};

/* Processes, and what the spawner polls: its socket, signals, then the lifeline of each. */
struct children {
    const struct codec_process_options *options;
    bool prepared;      /* the sandbox is */
    unsigned attempted; /* bits of codecs whose libraries were opened */
    unsigned count;
    pid_t pid[CODEC_PROCESSES_MAX];
    struct pollfd poll[FIRST + CODEC_PROCESSES_MAX];
};

/* Opens libraries once for all further processes. A codec without its library reports that itself. */
static void prepare(struct children *children, unsigned codecs, struct codec_sandbox *sandbox) {
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        struct error err = {0};
        const struct codec *codec = children->options->codec((enum codec_id)i);
        bool wanted = (codecs & ~children->attempted) >> i & 1;
        if (wanted && codec->open && codec->open(&err) != ST_OK) {
            log_message(LOG_WARNING, "codec", "%s", err.text);
        }
    }
    const struct codec_reader *reader = children->options->reader;
    struct error err = {0};
    if (reader && (codecs & ~children->attempted) >> CODEC_READER & 1 &&
        reader->open(reader->path, &err) != ST_OK) {
        log_message(LOG_WARNING, "codec", "%s", err.text);
    }
    children->attempted |= codecs;
    if (!children->prepared) {
        codec_sandbox_prepare(sandbox);
    }
    children->prepared = true;
}

/* The kernel ends a codec's process before the daemon and the spawner when memory is short. */
static void offer_first(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "500", 3);
        close(fd);
    }
}

static _Noreturn void child_main(int socket, pid_t parent, int nice,
                                 const struct codec_process_options *options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    prctl(PR_SET_NAME, "blurd-codec");
    offer_first();
    if (nice > 0) {
        setpriority(PRIO_PROCESS, 0, nice);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* no picture and nothing that is read in one */
    dup2(socket, SOCKET_FD);
    closefrom(SOCKET_FD + 1);
    if (!SANITIZED) { /* some libraries write messages of their own */
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
    codec_process(SOCKET_FD, options);
}

/* Receives the two ends of a new process. False when the process is not wanted any more. */
static bool receive_start(int spawner, struct codec_start *start, int *lifeline, int *link) {
    struct codec_join join;
    struct error err;
    if (channel_receive(spawner, start, sizeof *start, CODEC_START, lifeline, -1, &err) != ST_OK) {
        _exit(0); /* the daemon has ended */
    }
    if (channel_receive(*lifeline, &join, sizeof join, CODEC_JOIN, link, JOIN_MS, &err) != ST_OK) {
        close(*lifeline);
        return false;
    }
    return true;
}

static void start_child(struct children *children, struct codec_process_options *options) {
    struct codec_start start;
    int lifeline, link;
    if (!receive_start(children->poll[0].fd, &start, &lifeline, &link)) {
        return;
    }
    prepare(children, start.codecs, &options->sandbox);
    pid_t parent = getpid(), pid = children->count < CODEC_PROCESSES_MAX ? fork() : -1;
    if (pid == 0) {
        child_main(link, parent, start.nice, options);
    }
    int reason = errno;
    close(link);
    if (pid < 0) {
        log_message(LOG_WARNING, "codec", "cannot start a process beside %u: %s", children->count,
                    strerror(reason));
        close(lifeline);
        return;
    }
    children->pid[children->count] = pid;
    children->poll[FIRST + children->count++] = (struct pollfd){.fd = lifeline, .events = POLLRDHUP};
}

/* Tells the daemon that the process ended of its own doing, where it was not killed. */
static void report(int lifeline, int state) {
    bool killed = WIFSIGNALED(state) && (WTERMSIG(state) == SIGKILL || WTERMSIG(state) == SIGTERM);
    if (!killed) {
        (void)!send(lifeline, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

static void reap(struct children *children) {
    int state;
    for (pid_t pid; (pid = waitpid(-1, &state, WNOHANG)) > 0;) {
        unsigned i = 0;
        while (i < children->count && children->pid[i] != pid) {
            i++;
        }
        if (i == children->count) { /* the one that made the list of calls */
            continue;
        }
        if (WIFSIGNALED(state) && WTERMSIG(state) != SIGKILL) {
            log_message(LOG_DEBUG, "codec", "process %d ended by signal %d", pid, WTERMSIG(state));
        }
        int fd = children->poll[FIRST + i].fd;
        fd = fd < 0 ? ~fd : fd;
        report(fd, state);
        close(fd);
        children->count--;
        children->pid[i] = children->pid[children->count];
        children->poll[FIRST + i] = children->poll[FIRST + children->count];
    }
}

/* The lifeline of a killed child is not polled again: poll ignores a negative number. */
static void kill_abandoned(struct children *children) {
    for (unsigned i = 0; i < children->count; i++) {
        struct pollfd *end = &children->poll[FIRST + i];
        if (end->revents & (POLLRDHUP | POLLHUP | POLLERR)) {
            kill(children->pid[i], SIGKILL);
            end->fd = ~end->fd;
        }
    }
}

/* Does not return: the process ends when the daemon does (receive_start). */
static void spawner_main(void *context) {
    static struct children children;
    struct codec_process_options *options = context;
    struct signalfd_siginfo ignored;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    children.options = options;
    children.poll[0] = (struct pollfd){.fd = FORK_SERVER_FD, .events = POLLIN};
    children.poll[1] =
        (struct pollfd){.fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN};
    for (;;) {
        if (poll(children.poll, FIRST + children.count, -1) < 0) {
            continue;
        }
        kill_abandoned(&children);
        if (children.poll[0].revents) {
            start_child(&children, options);
        }
        if (children.poll[1].revents) {
            while (read(children.poll[1].fd, &ignored, sizeof ignored) > 0) {
            }
        }
        reap(&children);
    }
}

static bool is_needed(const struct codec_process_options *options) {
    bool needed = options->reader != NULL;
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        const struct codec *codec = options->codec((enum codec_id)i);
        needed = needed || (codec->isolated && codec->probe);
    }
    return needed;
}

enum status codec_spawner_fork(struct codec_spawner **spawner, const struct codec_process_options *options,
                               struct error *err) {
    *spawner = NULL;
    if (!is_needed(options)) {
        return ST_OK;
    }
    struct codec_spawner *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->options = *options;
    enum status status = fork_server_start(&made->server, "blurd-codecs", spawner_main, &made->options, err);
    if (status != ST_OK) {
        free(made);
        return status;
    }
    *spawner = made;
    return ST_OK;
}

void codec_spawner_end(struct codec_spawner *spawner) {
    if (spawner) {
        fork_server_end(&spawner->server);
        free(spawner);
    }
}

bool codec_spawner_serves(const struct codec_spawner *spawner) {
    return !spawner || fork_server_runs(&spawner->server);
}

static enum status send_start(struct codec_spawner *spawner, unsigned codecs, int lifeline[2], int link[2],
                              struct error *err) {
    struct codec_start start = {.nice = getpriority(PRIO_PROCESS, 0), .codecs = codecs};
    struct codec_join join;
    enum status status =
        channel_send(spawner->server.socket, &start, sizeof start, CODEC_START, lifeline[1], err);
    return status == ST_OK ? channel_send(lifeline[0], &join, sizeof join, CODEC_JOIN, link[1], err) : status;
}

enum status codec_spawner_start(struct codec_spawner *spawner, unsigned codecs, struct codec_child *child,
                                struct error *err) {
    int link[2] = {-1, -1}, lifeline[2];
    enum status status = channel_pair(lifeline, err);
    if (status != ST_OK) {
        return status;
    }
    status = channel_pair(link, err);
    if (status == ST_OK && send_start(spawner, codecs, lifeline, link, err) != ST_OK) {
        status = fail(err, ST_BUSY, "no process can be started for the codec");
    }
    close(lifeline[1]);
    close(link[1]);
    *child = (struct codec_child){link[0], lifeline[0]};
    if (status != ST_OK) {
        close(link[0]);
        close(lifeline[0]);
        *child = CODEC_CHILD_NONE;
    }
    return status;
}

static void wait_for_end(const struct codec_child *child) {
    struct pollfd gone = {.fd = child->lifeline, .events = POLLIN};
    while (poll(&gone, 1, END_MS) < 0 && errno == EINTR) {
    }
}

bool codec_spawner_was_killed(const struct codec_child *child) {
    struct pollfd process = {.fd = child->socket};
    char own;
    if (poll(&process, 1, 0) <= 0 || !(process.revents & POLLHUP)) {
        return false;
    }
    wait_for_end(child);
    return recv(child->lifeline, &own, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

void codec_spawner_stop(struct codec_child *child) {
    if (child->lifeline >= 0) {
        shutdown(child->lifeline, SHUT_WR);
        wait_for_end(child);
        close(child->lifeline);
        close(child->socket);
    }
    *child = CODEC_CHILD_NONE;
}

unsigned codec_spawner_between_frames(const struct codec_spawner *spawner) {
    unsigned bits = spawner->options.reader ? 1u << CODEC_READER : 0;
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        const struct codec *codec = spawner->options.codec((enum codec_id)i);
        const bool writes = codec->frames && (codec->frames->add || codec->frames->writer);
        bits |= codec->isolated && codec->encode && writes ? 1u << i : 0;
    }
    return bits;
}

const char *codec_spawner_title(const struct codec_spawner *spawner, enum codec_id id) {
    return (unsigned)id == CODEC_READER ? spawner->options.reader->title : spawner->options.codec(id)->title;
}
