/* SPDX-License-Identifier: MIT
 * A daemon of this program that a benchmark starts, measures and ends. It takes the same options and listens
 * on a free port of 127.0.0.1, whatever address and port they name. */
#ifndef BLURD_SERVER_BENCHMARK_BENCH_DAEMON_H
#define BLURD_SERVER_BENCHMARK_BENCH_DAEMON_H

#include <stdint.h>
#include <sys/types.h>

#include "core/status.h"

struct bench_daemon {
    pid_t pid; /* of the daemon, and of its process group */
    uint16_t port;
};

/* Starts it with the options argv[1] to argv[count - 1]. It ends when this process does. Single-threaded
 * callers only. ST_BUSY: no process; ST_ARGUMENT: no socket. */
enum status bench_daemon_start(struct bench_daemon *daemon, int count, char *const *argv, struct error *err);

/* CPU time of the daemon and of the processes that it started, in seconds. */
double bench_daemon_cpu(const struct bench_daemon *daemon);

/* The most resident memory that the daemon has had, in bytes, without its other processes; 0: unknown. */
uint64_t bench_daemon_memory(const struct bench_daemon *daemon);

/* The resident memory of the daemon and of the processes that it started, in bytes, at this moment. Memory
 * that processes share counts once, as much as the one with the most has of it. */
uint64_t bench_daemon_memory_of_all(const struct bench_daemon *daemon);

/* Ends it and waits for its end. */
void bench_daemon_stop(struct bench_daemon *daemon);

#endif
