/* SPDX-License-Identifier: MIT */
#include "server/benchmark/bench_memory.h"

#include <string.h>
#include <time.h>

enum { INTERVAL_NS = 50000000 };

static void *watch(void *argument) {
    struct bench_memory *memory = argument;
    const struct timespec interval = {.tv_nsec = INTERVAL_NS};
    while (!atomic_load(&memory->ended)) {
        const uint64_t now = bench_daemon_memory_of_all(memory->daemon);
        memory->most = now > memory->most ? now : memory->most;
        nanosleep(&interval, NULL);
    }
    return NULL;
}

enum status bench_memory_start(struct bench_memory *memory, const struct bench_daemon *daemon,
                               struct error *err) {
    memory->daemon = daemon;
    memory->most = 0;
    atomic_init(&memory->ended, false);
    const int problem = pthread_create(&memory->thread, NULL, watch, memory);
    return problem ? fail(err, ST_BUSY, "no thread to watch memory: %s", strerror(problem)) : ST_OK;
}

uint64_t bench_memory_stop(struct bench_memory *memory) {
    atomic_store(&memory->ended, true);
    pthread_join(memory->thread, NULL);
    return memory->most;
}
