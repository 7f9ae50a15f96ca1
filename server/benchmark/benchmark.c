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
#include "server/batch/job_command.h"
#include "server/benchmark/bench_daemon.h"
#include "server/benchmark/bench_load.h"
#include "server/benchmark/bench_memory.h"
#include "server/benchmark/bench_pictures.h"
#include "server/client/http/transfer.h"

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
    const char *job;  /* what is measured; NULL: the blur, with each sigma */
    unsigned columns; /* of the table */
    unsigned connections;
    char backend[BENCH_BACKEND_MAX];
    FILE *out;
};

struct cell {
    double rate, cpu_ms;
    bool nothing; /* the job has found no region */
};

static enum status check(const struct config *config, struct error *err) {
    if (config->tls_cert[0]) {
        return fail(err, ST_ARGUMENT, "--benchmark measures without TLS: leave tls_cert and tls_key out");
    }
    return config->token_file[0] ? fail(err, ST_ARGUMENT, "--benchmark sends no token: leave token_file out")
                                 : ST_OK;
}

/* The request that a column of the table measures. */
static void write_target(const struct benchmark *b, unsigned column, char target[BENCH_TARGET_MAX]) {
    if (b->job) {
        snprintf(target, BENCH_TARGET_MAX, "/%s", b->job);
    } else {
        snprintf(target, BENCH_TARGET_MAX, "/blur?sigma=%g", sigmas[column]);
    }
}

static enum status ask(const struct benchmark *b, const struct bench_picture *picture, const char *target,
                       unsigned connections, int64_t ms, struct bench_result *result, struct error *err) {
    const struct bench_load load = {b->daemon.port, target, buf_bytes(&picture->file), connections,
                                    ms * 1000000};
    enum status status = bench_load_run(&load, result, err);
    if (status != ST_OK) {
        struct error cause = *err;
        return fail(err, status, "%s: %.200s", picture->name, cause.text);
    }
    return ST_OK;
}

static enum status load(const struct benchmark *b, const struct bench_picture *picture, unsigned column,
                        unsigned connections, int64_t ms, struct bench_result *result, struct error *err) {
    char target[BENCH_TARGET_MAX];
    write_target(b, column, target);
    return ask(b, picture, target, connections, ms, result, err);
}

/* Sends the smallest work until the daemon answers, and until a GPU does if this machine may have one. Then
 * the job, which may be done elsewhere, says where. */
static enum status warm_up(struct benchmark *b, const struct config *config, struct error *err) {
    bool gpu =
        strcmp(config->gpus, "none") != 0 && (gpus_hint(config->gpus, "/dev") > 0 || gpu_driver_exists());
    int64_t end = clock_ns() + (int64_t)GPU_WAIT_MS * 1000000;
    const struct bench_picture *first = &b->pictures.picture[0];
    struct bench_result result;
    enum status status;
    do {
        status = ask(b, first, "/blur?sigma=1.5", 1, CELL_MS_MIN, &result, err);
    } while (status == ST_OK && gpu && strncmp(result.backend, "cpu", 3) == 0 && clock_ns() < end);
    if (status == ST_OK && b->job) {
        struct bench_result blur = result;
        status = load(b, first, 0, 1, CELL_MS_MIN, &result, err);
        result = result.backend[0] ? result : blur;
    }
    bool served = strncmp(result.backend, "cpu", 3) != 0;
    unsigned cores = cores_usable() * CORE_CONNECTIONS;
    b->connections = served                          ? TUNED_BENCHMARK_CONNECTIONS
                     : cores < BENCH_CONNECTIONS_MAX ? cores
                                                     : BENCH_CONNECTIONS_MAX;
    memcpy(b->backend, result.backend, sizeof b->backend);
    return status;
}

static enum status measure(const struct benchmark *b, const struct bench_picture *picture, unsigned column,
                           struct cell *cell, struct error *err) {
    struct bench_result result;
    int64_t ms = TABLE_MS / ((int64_t)b->pictures.count * b->columns);
    double before = bench_daemon_cpu(&b->daemon);
    enum status status =
        load(b, picture, column, b->connections, ms > CELL_MS_MIN ? ms : CELL_MS_MIN, &result, err);
    if (status == ST_OK && result.answers > 0) {
        cell->nothing = result.nothing;
        cell->rate = (double)result.answers / result.seconds;
        cell->cpu_ms = (bench_daemon_cpu(&b->daemon) - before) * 1e3 / (double)result.answers;
    }
    return status;
}

static void print_head(const struct benchmark *b) {
    if (b->job) {
        fprintf(b->out, "%s\n\n%-20s %9s %18s %8s", b->job, "picture", "kB", "pictures a second", "CPU ms");
        return;
    }
    fprintf(b->out, "pictures blurred in a second (CPU milliseconds of each)\n\n%-20s %9s", "picture", "kB");
    for (unsigned s = 0; s < SIGMAS; s++) {
        fprintf(b->out, "        sigma %3g", sigmas[s]);
    }
}

static enum status print_table(const struct benchmark *b, struct cell cells[][SIGMAS], struct error *err) {
    enum status status = ST_OK;
    print_head(b);
    for (unsigned i = 0; i < b->pictures.count && status == ST_OK; i++) {
        const struct bench_picture *picture = &b->pictures.picture[i];
        fprintf(b->out, "\n%-20s %9.1f", picture->name, (double)picture->file.size / 1e3);
        for (unsigned c = 0; c < b->columns && status == ST_OK; c++) {
            status = measure(b, picture, c, &cells[i][c], err);
            if (status == ST_OK) {
                fprintf(b->out, b->job ? " %18.1f %8.2f" : " %8.0f (%6.2f)", cells[i][c].rate,
                        cells[i][c].cpu_ms);
                fputs(cells[i][c].nothing ? "  nothing found: no answer is encoded" : "", b->out);
            }
            fflush(b->out);
        }
    }
    fprintf(b->out, "\n\n");
    return status;
}

static void print_latency(const struct benchmark *b, const char *what, const struct bench_result *alone) {
    fprintf(b->out, "%s, one request at a time: %.2f ms (median), %.2f ms (99 of 100 are faster).\n", what,
            alone->p50_ms, alone->p99_ms);
}

/* What the figures of the middle picture at the middle sigma mean for a service. */
static enum status advise(const struct benchmark *b, struct cell cells[][SIGMAS], struct error *err) {
    unsigned middle = b->pictures.count / 2;
    const struct bench_picture *picture = &b->pictures.picture[middle];
    double mib = (double)bench_daemon_memory(&b->daemon) / (1 << 20);
    char what[BENCH_NAME_MAX + 32];
    struct bench_result alone;
    enum status status = load(b, picture, SIGMAS / 2, 1, ALONE_MS, &alone, err);
    if (status != ST_OK) {
        return status;
    }
    snprintf(what, sizeof what, "%s at sigma %g", picture->name, sigmas[SIGMAS / 2]);
    print_latency(b, what, &alone);
    fprintf(
        b->out,
        "Plan for %.0f such pictures a second on this machine: %d %% of the most, so that peaks do not wait "
        "long.\n",
        cells[middle][SIGMAS / 2].rate * PLANNED_PERCENT / 100, PLANNED_PERCENT);
    fprintf(
        b->out,
        "The daemon had %.0f MiB at most, with %u requests in progress: set --memory, or the limit of its "
        "container, to %.0f MiB or more.\n",
        mib, b->connections, mib * MEMORY_FACTOR);
    return ST_OK;
}

static void print_hours(const struct benchmark *b, struct cell cells[][SIGMAS]) {
    static const struct {
        double count;
        const char *text;
    } batches[] = {{1e3, "1,000"}, {1e5, "100,000"}, {1e6, "1,000,000"}};
    double seconds = 0; /* for each file once */
    for (unsigned i = 0; i < b->pictures.count; i++) {
        seconds += 1 / cells[i][0].rate;
    }
    fprintf(b->out, "Hours for pictures like these:");
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const double hours = batches[i].count * seconds / b->pictures.count / 3600;
        const bool least = hours < 0.01;
        fprintf(b->out, "%s %s%.*f for %s", i ? "," : "", least ? "less than " : "", hours < 10 ? 2 : 0,
                least ? 0.01 : hours, batches[i].text);
    }
    fprintf(
        b->out,
        ".\nThis assumes that each of the files stands for as many pictures, that %u are in progress at a "
        "time, and that this machine has nothing else to do and reads and writes files as fast.\n",
        b->connections);
}

/* What the figures mean for many files. `most`: bytes of all processes. */
static enum status foretell(const struct benchmark *b, struct cell cells[][SIGMAS], uint64_t most,
                            struct error *err) {
    const struct bench_picture *picture = &b->pictures.picture[b->pictures.count / 2];
    const uint64_t daemon = bench_daemon_memory(&b->daemon);
    struct bench_result alone;
    enum status status = load(b, picture, 0, 1, ALONE_MS, &alone, err);
    if (status != ST_OK) {
        return status;
    }
    print_latency(b, picture->name, &alone);
    fprintf(
        b->out,
        "The daemon had %.0f MiB at most, and all of its processes together %.0f MiB, with %u requests in "
        "progress.\n",
        (double)daemon / (1 << 20), (double)(most > daemon ? most : daemon) / (1 << 20), b->connections);
    print_hours(b, cells);
    return ST_OK;
}

/* The daemon's sentence if it does not take the job. */
static enum status check_job(const struct benchmark *b, struct error *err) {
    struct daemon_address address = {.host = "127.0.0.1"};
    char target[BENCH_TARGET_MAX];
    uint8_t *buffer = malloc(CLIENT_SOCKET_BUFFER);
    write_target(b, 0, target);
    snprintf(address.port, sizeof address.port, "%u", b->daemon.port);
    const struct transfer_job job = {.target = target, .token = ""};
    enum status status =
        buffer ? transfer_check(&job, &address, buffer, err) : fail(err, ST_BUSY, "out of memory");
    free(buffer);
    return status;
}

static enum status report(struct benchmark *b, const struct config *config, struct error *err) {
    struct cell cells[BENCH_PICTURES_MAX][SIGMAS] = {{{0, 0, false}}};
    struct bench_memory memory;
    enum status status = b->job ? check_job(b, err) : ST_OK;
    status = status == ST_OK ? warm_up(b, config, err) : status;
    status = status == ST_OK ? bench_memory_start(&memory, &b->daemon, err) : status;
    if (status != ST_OK) {
        return status;
    }
    fprintf(b->out, "blurd %s, %s, %u cores; %u connections, whose client runs on the same cores%s\n\n",
            BLURD_VERSION, b->backend, cores_usable(), b->connections,
            b->job ? "" : "; JPEG answers for JPEGs");
    status = print_table(b, cells, err);
    const uint64_t most = bench_memory_stop(&memory);
    if (status == ST_OK) {
        status = b->job ? foretell(b, cells, most, err) : advise(b, cells, err);
    }
    return status;
}

/* Takes the job, if the word is one. */
static enum status take_job(struct benchmark *b, const char *word, struct error *err) {
    b->columns = SIGMAS;
    if (!word || !job_command_is_job(word, strcspn(word, "?"))) {
        return ST_OK;
    }
    b->job = word;
    b->columns = 1;
    if (strlen(word) + 1 >= BENCH_TARGET_MAX) {
        return fail(err, ST_ARGUMENT, "the job is longer than %d bytes", BENCH_TARGET_MAX - 2);
    }
    return job_command_check(word, err);
}

enum status benchmark_run(const struct config *config, int argc, char *const *argv, int first, FILE *out,
                          struct error *err) {
    struct benchmark b = {.out = out};
    enum status status = check(config, err);
    status = status == ST_OK ? take_job(&b, argv[first], err) : status;
    const int files = first + (b.job != NULL);
    if (status == ST_OK) {
        status = bench_pictures_init(&b.pictures, argc - files, argv + files, config->max_body, err);
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
