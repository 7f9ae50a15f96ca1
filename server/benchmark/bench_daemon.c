/* SPDX-License-Identifier: MIT
 * The socket is handed over as a service manager does it (server/process/activation.h). */
#include "server/benchmark/bench_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "server/http/listen.h"

enum { ACTIVATION_FD = 3, ARGUMENTS_MAX = 256, LINE_MAX_BYTES = 1024, PROCFS_PATH = 64 };

/* In the new process. */
static void become(int fd, int count, char *const *argv) {
    char *arguments[ARGUMENTS_MAX + 1];
    char pid[16];
    for (int i = 0; i < count; i++) {
        arguments[i] = argv[i];
    }
    arguments[count] = NULL;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    bool moved = fd == ACTIVATION_FD ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, ACTIVATION_FD) == ACTIVATION_FD;
    if (moved && setenv("LISTEN_FDS", "1", 1) == 0 && setenv("LISTEN_PID", pid, 1) == 0 &&
        unsetenv("LISTEN_FDNAMES") == 0 && setenv("BLURD_LOG_LEVEL", "warning", 1) == 0) {
        execv("/proc/self/exe", arguments);
    }
    _exit(EX_OSERR);
}

enum status bench_daemon_start(struct bench_daemon *daemon, int count, char *const *argv, struct error *err) {
    int fd;
    daemon->port = 0;
    if (count > ARGUMENTS_MAX) {
        return fail(err, ST_ARGUMENT, "%d options are more than the %d that --benchmark takes", count - 1,
                    ARGUMENTS_MAX - 1);
    }
    enum status status = listen_bind("127.0.0.1", &daemon->port, &fd, err);
    status = status == ST_OK ? listen_start(fd, err) : status;
    if (status != ST_OK) {
        return status;
    }
    daemon->pid = fork();
    if (daemon->pid == 0) {
        become(fd, count, argv);
    }
    close(fd);
    return daemon->pid > 0 ? ST_OK : fail(err, ST_BUSY, "cannot start a process: %s", strerror(errno));
}

static bool read_line(const char *path, char line[LINE_MAX_BYTES]) {
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, LINE_MAX_BYTES, file);
    if (file) {
        fclose(file);
    }
    return read;
}

/* The CPU time of a process and of its children that ended, in ticks, if it is of the group (proc(5)). */
static unsigned long long ticks_of(const char *process, pid_t group) {
    char path[PROCFS_PATH], line[LINE_MAX_BYTES];
    unsigned long long ticks[4];
    int of;
    snprintf(path, sizeof path, "/proc/%.16s/stat", process);
    const char *rest = read_line(path, line) ? strrchr(line, ')') : NULL;
    if (!rest || sscanf(rest, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &of,
                        &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5) {
        return 0;
    }
    return of == group ? ticks[0] + ticks[1] + ticks[2] + ticks[3] : 0;
}

double bench_daemon_cpu(const struct bench_daemon *daemon) {
    unsigned long long ticks = 0;
    DIR *processes = opendir("/proc");
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            ticks += ticks_of(entry->d_name, daemon->pid);
        }
    }
    if (processes) {
        closedir(processes);
    }
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

uint64_t bench_daemon_memory(const struct bench_daemon *daemon) {
    char path[PROCFS_PATH], line[LINE_MAX_BYTES];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)daemon->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %llu", &kib) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return kib << 10;
}

void bench_daemon_stop(struct bench_daemon *daemon) {
    int how;
    kill(daemon->pid, SIGTERM);
    while (waitpid(daemon->pid, &how, 0) < 0 && errno == EINTR) {
    }
}
