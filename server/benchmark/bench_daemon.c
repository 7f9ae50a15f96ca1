/* SPDX-License-Identifier: MIT */
#include "server/benchmark/bench_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/client/own_daemon.h"
#include "server/http/listen.h"

enum { LINE_MAX_BYTES = 1024, PROCFS_PATH = 64 };

enum status bench_daemon_start(struct bench_daemon *daemon, int count, char *const *argv, struct error *err) {
    int fd;
    daemon->port = 0;
    enum status status = listen_bind("127.0.0.1", &daemon->port, &fd, err);
    status = status == ST_OK ? listen_start(fd, err) : status;
    if (status == ST_OK) {
        status = own_daemon_spawn(fd, count, argv, &daemon->pid, err);
        close(fd);
    }
    return status;
}

static bool read_line(const char *path, char line[LINE_MAX_BYTES]) {
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, LINE_MAX_BYTES, file);
    if (file) {
        fclose(file);
    }
    return read;
}

/* Of all processes of a group. */
struct usage {
    unsigned long long ticks;           /* CPU time, that of children that ended included */
    unsigned long long own, shared_max; /* resident pages */
};

/* Adds what a process uses if it is of the group (proc(5)). */
static void add(const char *process, pid_t group, struct usage *sum) {
    char path[PROCFS_PATH], line[LINE_MAX_BYTES];
    unsigned long long ticks[4], resident, shared;
    int of;
    snprintf(path, sizeof path, "/proc/%.16s/stat", process);
    const char *rest = read_line(path, line) ? strrchr(line, ')') : NULL;
    if (!rest ||
        sscanf(rest, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &of, &ticks[0],
               &ticks[1], &ticks[2], &ticks[3]) != 5 ||
        of != group) {
        return;
    }
    sum->ticks += ticks[0] + ticks[1] + ticks[2] + ticks[3];
    snprintf(path, sizeof path, "/proc/%.16s/statm", process);
    if (read_line(path, line) && sscanf(line, "%*u %llu %llu", &resident, &shared) == 2) {
        sum->own += resident - shared;
        sum->shared_max = shared > sum->shared_max ? shared : sum->shared_max;
    }
}

static struct usage use(const struct bench_daemon *daemon) {
    struct usage sum = {0};
    DIR *processes = opendir("/proc");
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            add(entry->d_name, daemon->pid, &sum);
        }
    }
    if (processes) {
        closedir(processes);
    }
    return sum;
}

double bench_daemon_cpu(const struct bench_daemon *daemon) {
    return (double)use(daemon).ticks / (double)sysconf(_SC_CLK_TCK);
}

uint64_t bench_daemon_memory_of_all(const struct bench_daemon *daemon) {
    const struct usage usage = use(daemon);
    return (usage.own + usage.shared_max) * (uint64_t)sysconf(_SC_PAGESIZE);
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
