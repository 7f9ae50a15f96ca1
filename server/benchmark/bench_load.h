/* SPDX-License-Identifier: MIT
 * Loads a daemon on this machine: connections that send a picture, wait for the answer and send it again. */
#ifndef BLURD_SERVER_BENCHMARK_BENCH_LOAD_H
#define BLURD_SERVER_BENCHMARK_BENCH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/status.h"

enum { BENCH_CONNECTIONS_MAX = 512, BENCH_BACKEND_MAX = 48, BENCH_TARGET_MAX = 4096 };

struct bench_load {
    uint16_t port;      /* on 127.0.0.1 */
    const char *target; /* of POST, such as /blur?sigma=5; less than BENCH_TARGET_MAX bytes */
    struct bytes body;
    unsigned connections; /* 1 to BENCH_CONNECTIONS_MAX, each on a thread of its own */
    int64_t duration_ns;
};

struct bench_result {
    uint64_t answers;
    double seconds;                  /* from the first request to the last answer */
    double p50_ms, p99_ms;           /* from a request's first byte to the last one of its answer */
    char backend[BENCH_BACKEND_MAX]; /* X-Backend of the last answer; "": it has none */
    bool nothing;                    /* the answers refuse: no region was found, and none was encoded */
};

/* Blocks for the duration, and until the requests in progress are answered. ST_INTERNAL when an answer is no
 * 200 and no refusal for lack of a region, with its status and its first words; ST_BUSY: no thread or no
 * memory. */
enum status bench_load_run(const struct bench_load *load, struct bench_result *result, struct error *err);

#endif
