/* SPDX-License-Identifier: MIT */
#include "server/benchmark/benchmark.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/cores.h"
#include "config/gpus.h"
#include "core/clock.h"
#include "core/tuned.h"
#include "core/version.h"
#include "gpu/gpu.h"
#include "server/benchmark/bench_daemon.h"
#include "server/benchmark/bench_load.h"
#include "server/benchmark/bench_pictures.h"

enum {
    CORE_CONNECTIONS = 2, /* for each core */
    TABLE_MS = 24000,     /* for all cells of the table */
    CELL_MS_MIN = 300,    /* a cell has some answers */
    ALONE_MS = 3000,      /* for requests one at a time */
    GPU_WAIT_MS = 30000,  /* loading kernels and the self-test take seconds */
    PLANNED_PERCENT = 70, /* of the most: beyond it waiting times grow fast */
    MEMORY_FACTOR = 2,    /* of the most memory that was seen: other pictures take more */
};

static const double sigmas[] = {1.5, 5, 20};
enum { SIGMAS = sizeof sigmas / sizeof *sigmas };

struct benchmark {
    struct bench_daemon daemon;
    struct bench_pictures pictures;
    unsigned connections;
    char backend[BENCH_BACKEND_MAX];
    FILE *out;
};

struct cell {
    double rate, cpu_ms;
};

static enum status check(const struct config *config, struct error *err) {
    if (config->tls_cert[0]) {
        return fail(err, ST_ARGUMENT, "--benchmark measures without TLS: leave tls_cert and tls_key out");
    }
    return config->token_file[0] ? fail(err, ST_ARGUMENT, "--benchmark sends no token: leave token_file out")
                                 : ST_OK;
}

static enum status load(const struct benchmark *b, const struct bench_picture *picture, double sigma,
                        unsigned connections, int64_t ms, struct bench_result *result, struct error *err) {
    char target[64];
    snprintf(target, sizeof target, "/blur?sigma=%g", sigma);
    const struct bench_load load = {b->daemon.port, target, buf_bytes(&picture->file), connections,
                                    ms * 1000000};
    enum status status = bench_load_run(&load, result, err);
    if (status != ST_OK) {
        struct error cause = *err;
        return fail(err, status, "%s: %.200s", picture->name, cause.text);
    }
    return ST_OK;
}

/* Sends the smallest work until the daemon answers, and until a GPU does if this machine may have one. */
static enum status warm_up(struct benchmark *b, const struct config *config, struct error *err) {
    bool gpu =
        strcmp(config->gpus, "none") != 0 && (gpus_hint(config->gpus, "/dev") > 0 || gpu_driver_exists());
    int64_t end = clock_ns() + (int64_t)GPU_WAIT_MS * 1000000;
    struct bench_result result;
    enum status status;
    do {
        status = load(b, &b->pictures.picture[0], sigmas[0], 1, CELL_MS_MIN, &result, err);
    } while (status == ST_OK && gpu && strncmp(result.backend, "cpu", 3) == 0 && clock_ns() < end);
    bool served = strncmp(result.backend, "cpu", 3) != 0;
    unsigned cores = cores_usable() * CORE_CONNECTIONS;
    b->connections = served                          ? TUNED_BENCHMARK_CONNECTIONS
                     : cores < BENCH_CONNECTIONS_MAX ? cores
                                                     : BENCH_CONNECTIONS_MAX;
    memcpy(b->backend, result.backend, sizeof b->backend);
    return status;
}

static enum status measure(const struct benchmark *b, const struct bench_picture *picture, double sigma,
                           struct cell *cell, struct error *err) {
    struct bench_result result;
    int64_t ms = TABLE_MS / ((int64_t)b->pictures.count * SIGMAS);
    double before = bench_daemon_cpu(&b->daemon);
    enum status status =
        load(b, picture, sigma, b->connections, ms > CELL_MS_MIN ? ms : CELL_MS_MIN, &result, err);
    if (status == ST_OK && result.answers > 0) {
        cell->rate = (double)result.answers / result.seconds;
        cell->cpu_ms = (bench_daemon_cpu(&b->daemon) - before) * 1e3 / (double)result.answers;
    }
    return status;
}

static enum status print_table(const struct benchmark *b, struct cell cells[][SIGMAS], struct error *err) {
    enum status status = ST_OK;
    fprintf(b->out, "pictures blurred in a second (CPU milliseconds of each)\n\n%-20s %9s", "picture", "kB");
    for (unsigned s = 0; s < SIGMAS; s++) {
        fprintf(b->out, "        sigma %3g", sigmas[s]);
    }
    for (unsigned i = 0; i < b->pictures.count && status == ST_OK; i++) {
        const struct bench_picture *picture = &b->pictures.picture[i];
        fprintf(b->out, "\n%-20s %9.1f", picture->name, (double)picture->file.size / 1e3);
        for (unsigned s = 0; s < SIGMAS && status == ST_OK; s++) {
            status = measure(b, picture, sigmas[s], &cells[i][s], err);
            if (status == ST_OK) {
                fprintf(b->out, " %8.0f (%6.2f)", cells[i][s].rate, cells[i][s].cpu_ms);
            }
            fflush(b->out);
        }
    }
    fprintf(b->out, "\n\n");
    return status;
}

/* What the figures of the middle picture at the middle sigma mean for a service. */
static enum status advise(const struct benchmark *b, struct cell cells[][SIGMAS], struct error *err) {
    unsigned middle = b->pictures.count / 2;
    const struct bench_picture *picture = &b->pictures.picture[middle];
    const struct cell *cell = &cells[middle][SIGMAS / 2];
    double mib = (double)bench_daemon_memory(&b->daemon) / (1 << 20);
    struct bench_result alone;
    enum status status = load(b, picture, sigmas[SIGMAS / 2], 1, ALONE_MS, &alone, err);
    if (status != ST_OK) {
        return status;
    }
    fprintf(b->out,
            "%s at sigma %g, one request at a time: %.2f ms (median), %.2f ms (99 of 100 are faster).\n",
            picture->name, sigmas[SIGMAS / 2], alone.p50_ms, alone.p99_ms);
    fprintf(
        b->out,
        "Plan for %.0f such pictures a second on this machine: %d %% of the most, so that peaks do not wait "
        "long.\n",
        cell->rate * PLANNED_PERCENT / 100, PLANNED_PERCENT);
    fprintf(
        b->out,
        "The daemon had %.0f MiB at most, with %u requests in progress: set --memory, or the limit of its "
        "container, to %.0f MiB or more.\n",
        mib, b->connections, mib * MEMORY_FACTOR);
    return ST_OK;
}

static enum status report(struct benchmark *b, const struct config *config, struct error *err) {
    struct cell cells[BENCH_PICTURES_MAX][SIGMAS] = {{{0, 0}}};
    enum status status = warm_up(b, config, err);
    if (status != ST_OK) {
        return status;
    }
    fprintf(b->out,
            "blurd %s, %s, %u cores; %u connections, whose client runs on the same cores; JPEG answers for "
            "JPEGs\n\n",
            BLURD_VERSION, b->backend, cores_usable(), b->connections);
    status = print_table(b, cells, err);
    return status == ST_OK ? advise(b, cells, err) : status;
}

enum status benchmark_run(const struct config *config, int argc, char *const *argv, int first, FILE *out,
                          struct error *err) {
    struct benchmark b = {.out = out};
    enum status status = check(config, err);
    if (status == ST_OK) {
        status = bench_pictures_init(&b.pictures, argc - first, argv + first, config->max_body, err);
    }
    if (status == ST_OK) {
        status = bench_daemon_start(&b.daemon, first - 1, argv, err);
    }
    if (status == ST_OK) {
        status = report(&b, config, err);
        bench_daemon_stop(&b.daemon);
    }
    bench_pictures_finish(&b.pictures);
    return status;
}
