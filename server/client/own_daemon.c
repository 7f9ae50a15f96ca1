/* SPDX-License-Identifier: MIT
 * The socket is handed over as a service manager does it (server/process/activation.h). Its file is removed
 * at once; a descriptor keeps what it named, so that nothing is left behind by a command that is killed. */
#include "server/client/own_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "server/http/listen.h"

enum {
    FOLDER_MAX = OPTION_LOCAL_PATH_MAX - 2,
    ACTIVATION_FD = 3,
    WORDS_MAX = 256,
    OPTIONS_MAX = 96,
    OPTION_SIZE = OPTION_VALUE_MAX + 64
};

/* In the new process. */
static void become(pid_t parent, int fd, int count, char *const *words) {
    char *arguments[WORDS_MAX + 1];
    char pid[16];
    for (int i = 0; i < count; i++) {
        arguments[i] = words[i];
    }
    arguments[count] = NULL;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* what the command blocks */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) { /* it has ended already */
        _exit(EX_OSERR);
    }
    bool moved = fd == ACTIVATION_FD ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, ACTIVATION_FD) == ACTIVATION_FD;
    if (moved && setenv("LISTEN_FDS", "1", 1) == 0 && setenv("LISTEN_PID", pid, 1) == 0 &&
        unsetenv("LISTEN_FDNAMES") == 0 && setenv("BLURD_LOG_LEVEL", "warning", 1) == 0) {
        execv("/proc/self/exe", arguments);
    }
    _exit(EX_OSERR);
}

enum status own_daemon_spawn(int listening, int count, char *const *words, pid_t *pid, struct error *err) {
    if (count > WORDS_MAX) {
        return fail(err, ST_ARGUMENT, "%d options are more than the %d that a daemon takes", count - 1,
                    WORDS_MAX - 1);
    }
    const pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) {
        become(parent, listening, count, words);
    }
    return *pid > 0 ? ST_OK : fail(err, ST_BUSY, "cannot start a process: %s", strerror(errno));
}

/* What each daemon of a command has. */
static const struct own_daemon_option common[] = {
    {"admin_listen", ""},     {"drain_delay", "0"},  {"idle_exit", "0"},
    {"log_level", "warning"}, {"otlp_endpoint", ""}, {"playground", "off"},
    {"tls_cert", ""},         {"tls_key", ""},       {"token_file", ""},
};

static const char *find(const struct own_daemon_option *options, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return options[i].value;
        }
    }
    return NULL;
}

/* Writes `--name=value`. Every option is on the command line, so that environment and files change none. */
static void write_option(const struct option *row, const char *value, char text[OPTION_SIZE]) {
    snprintf(text, OPTION_SIZE, "--%s=%s", row->name, value);
    for (char *at = text + 2; *at != '='; at++) {
        *at = *at == '_' ? '-' : *at;
    }
}

static enum status spawn(int listening, const struct config *config, const struct own_daemon_option *options,
                         unsigned given, pid_t *pid, struct error *err) {
    size_t count;
    const struct option *rows = config_options(&count);
    char(*text)[OPTION_SIZE] = calloc(OPTIONS_MAX, sizeof *text);
    char *words[1 + OPTIONS_MAX] = {(char[]){"blurd"}};
    if (!text || count > OPTIONS_MAX) {
        free(text);
        return fail(err, ST_BUSY, "there is no memory for all options");
    }
    for (size_t i = 0; i < count; i++) {
        char own[OPTION_VALUE_MAX];
        const char *value = find(options, given, rows[i].name);
        value = value ? value : find(common, sizeof common / sizeof *common, rows[i].name);
        option_format(&rows[i], config, own);
        write_option(&rows[i], value ? value : own, text[i]);
        words[1 + i] = text[i];
    }
    enum status status = own_daemon_spawn(listening, (int)count + 1, words, pid, err);
    free(text);
    return status;
}

/* Makes a folder that only this user may enter. In a container /tmp may be read-only. */
static bool make_folder(char folder[FOLDER_MAX]) {
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] && snprintf(folder, FOLDER_MAX, "%s/blurd-XXXXXX", places[i]) < FOLDER_MAX &&
            mkdtemp(folder)) {
            return true;
        }
    }
    return false;
}

/* Makes a socket in a folder of its own, and removes the names of both. */
static enum status make_socket(struct own_daemon *daemon, int *listening, struct error *err) {
    char folder[FOLDER_MAX], address[OPTION_ADDRESS_MAX + 1];
    uint16_t port = 0;
    if (!make_folder(folder)) {
        return fail(err, ST_BUSY, "cannot make a folder in /tmp: %s; TMPDIR names another one",
                    strerror(errno));
    }
    snprintf(address, sizeof address, OPTION_LOCAL_PREFIX "%s/s", folder);
    const char *path = address + sizeof OPTION_LOCAL_PREFIX - 1;
    enum status status = listen_bind(address, &port, listening, err);
    if (status == ST_OK) {
        daemon->socket = open(path, O_PATH | O_CLOEXEC);
        snprintf(daemon->path, sizeof daemon->path, "/proc/self/fd/%d", daemon->socket);
        status = daemon->socket >= 0 ? ST_OK : fail(err, ST_BUSY, "no descriptor: %s", strerror(errno));
        unlink(path);
    }
    rmdir(folder);
    return status;
}

enum status own_daemon_start(struct own_daemon *daemon, const struct config *config,
                             const struct own_daemon_option *options, unsigned count, struct error *err) {
    int listening = -1;
    *daemon = (struct own_daemon){.socket = -1};
    enum status status = make_socket(daemon, &listening, err);
    status = status == ST_OK ? spawn(listening, config, options, count, &daemon->pid, err) : status;
    if (listening >= 0) {
        close(listening);
    }
    if (status != ST_OK) {
        own_daemon_stop(daemon);
    }
    return status;
}

bool own_daemon_ended(struct own_daemon *daemon, unsigned wait_ms) {
    int how;
    struct pollfd end = {.fd = -1, .events = POLLIN};
    if (daemon->pid > 0 && wait_ms > 0) {
        end.fd = (int)syscall(SYS_pidfd_open, daemon->pid, 0);
    }
    if (end.fd >= 0) { /* kernels before 5.3 have none: then it is not waited for */
        poll(&end, 1, (int)wait_ms);
        close(end.fd);
    }
    if (daemon->pid > 0 && waitpid(daemon->pid, &how, WNOHANG) == daemon->pid) {
        daemon->pid = 0;
    }
    return daemon->pid <= 0;
}

void own_daemon_stop(struct own_daemon *daemon) {
    int how;
    if (daemon->pid > 0) {
        kill(daemon->pid, SIGTERM);
        while (waitpid(daemon->pid, &how, 0) < 0 && errno == EINTR) {
        }
    }
    if (daemon->socket >= 0) {
        close(daemon->socket);
    }
    *daemon = (struct own_daemon){.socket = -1};
}

enum status own_daemon_connect(const struct own_daemon *daemon, int *fd, struct error *err) {
    char address[OPTION_ADDRESS_MAX + 1];
    snprintf(address, sizeof address, OPTION_LOCAL_PREFIX "%s", daemon->path);
    return listen_reach(address, 0, fd, err) == ST_OK ? ST_OK
                                                      : fail(err, ST_BUSY, "its daemon did not start");
}
