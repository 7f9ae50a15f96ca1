/* SPDX-License-Identifier: MIT
 * Watches how much memory all processes of a daemon have while it is measured. */
#ifndef BLURD_SERVER_BENCHMARK_BENCH_MEMORY_H
#define BLURD_SERVER_BENCHMARK_BENCH_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "server/benchmark/bench_daemon.h"

struct bench_memory {
    const struct bench_daemon *daemon;
    atomic_bool ended;
    uint64_t most; /* of the thread, until it has ended */
    pthread_t thread;
};

/* Looks 20 times a second, in a thread of its own, until bench_memory_stop. ST_BUSY: no thread. */
enum status bench_memory_start(struct bench_memory *memory, const struct bench_daemon *daemon,
                               struct error *err);

/* Ends the thread. Returns the most that it has seen, in bytes. */
uint64_t bench_memory_stop(struct bench_memory *memory);

#endif
