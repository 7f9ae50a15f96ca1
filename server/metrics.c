/* SPDX-License-Identifier: MIT */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Upper bounds in nanoseconds: 1-2.5-5 steps from 0.1 ms, where a small picture is
 * filtered, to 10 s, where the default work timeout ends everything. */
static const int64_t bounds[] = {100000,     250000,     500000,     1000000,    2500000,   5000000,
                                 10000000,   25000000,   50000000,   100000000,  250000000, 500000000,
                                 1000000000, 2500000000, 5000000000, 10000000000};
enum { BOUNDS = sizeof bounds / sizeof bounds[0] };

struct histogram {
    _Atomic uint64_t bucket[BOUNDS + 1]; /* not cumulative; the last is +Inf */
    _Atomic uint64_t sum_ns;
};

struct metrics {
    const char *const *operations;
    unsigned operation_count;
    char backend[METRIC_BACKENDS_MAX][24];
    double start; /* Unix time, seconds */
    _Atomic int64_t value[METRIC_COUNT];
    atomic_bool formats_out;
    _Atomic uint64_t requests[METRIC_OPERATIONS_MAX][METRIC_FORMAT_COUNT][PROBLEM_COUNT][METRIC_BACKENDS_MAX];
    _Atomic uint64_t way[WAY_COUNT];
    struct histogram stage[STAGE_COUNT];
};

enum kind { KIND_COUNTER, KIND_GAUGE };

static const struct {
    enum kind kind;
    const char *name;
    const char *help;
} table[METRIC_COUNT] = {
#define METRIC(kind, id, name, help) [METRIC_##id] = {KIND_##kind, name, help},
#include "server/metrics.def"
#undef METRIC
};

static const char *format_name(unsigned format) {
    return format == METRIC_FORMAT_NONE ? "none" : codec_get((enum codec_id)(format - 1))->name;
}

static const char *const stage_names[STAGE_COUNT] = {"queue",  "decode",   "detect", "upload",
                                                     "filter", "download", "encode", "total"};

const char *metrics_stage_name(enum stage stage) {
    return stage_names[stage];
}

const char *metrics_way_name(enum way way) {
    static const char *const names[] = {
#define WAY(id, queue, name, help) [WAY_##id] = name,
#include "server/ways.def"
#undef WAY
    };
    return names[way];
}

struct metrics *metrics_create(const char *const *operations, unsigned operation_count) {
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics || operation_count > METRIC_OPERATIONS_MAX) {
        free(metrics);
        return NULL;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    metrics->start = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    metrics->operations = operations;
    metrics->operation_count = operation_count;
    metrics_name_backend(metrics, 0, "none");
    return metrics;
}

void metrics_destroy(struct metrics *metrics) {
    free(metrics);
}

void metrics_name_backend(struct metrics *metrics, unsigned index, const char *name) {
    snprintf(metrics->backend[index], sizeof metrics->backend[index], "%s", name);
}

void metrics_add(struct metrics *metrics, enum metric metric, int64_t amount) {
    atomic_fetch_add_explicit(&metrics->value[metric], amount, memory_order_relaxed);
}

void metrics_set(struct metrics *metrics, enum metric metric, int64_t value) {
    atomic_store_explicit(&metrics->value[metric], value, memory_order_relaxed);
}

void metrics_formats_out(struct metrics *metrics, bool out) {
    atomic_store(&metrics->formats_out, out);
}

void metrics_request(struct metrics *metrics, unsigned operation, enum metric_format format,
                     enum problem problem, unsigned backend) {
    atomic_fetch_add_explicit(&metrics->requests[operation][format][problem][backend], 1,
                              memory_order_relaxed);
}

void metrics_way(struct metrics *metrics, enum way way) {
    atomic_fetch_add_explicit(&metrics->way[way], 1, memory_order_relaxed);
}

void metrics_stage(struct metrics *metrics, enum stage stage, int64_t ns) {
    struct histogram *histogram = &metrics->stage[stage];
    unsigned i = 0;
    while (i < BOUNDS && ns > bounds[i]) {
        i++;
    }
    atomic_fetch_add_explicit(&histogram->bucket[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum_ns, (uint64_t)ns, memory_order_relaxed);
}

static enum status write_head(struct buf *out, const char *name, const char *type, const char *help,
                              struct error *err) {
    int length = (int)strcspn(name, "{"); /* labels */
    return buf_printf(out, err, "# HELP %.*s %s\n# TYPE %.*s %s\n", length, name, help, length, name, type);
}

static enum status write_plain(struct metrics *metrics, struct buf *out, struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < METRIC_COUNT && status == ST_OK; i++) {
        const char *type = table[i].kind == KIND_COUNTER ? "counter" : "gauge";
        status = write_head(out, table[i].name, type, table[i].help, err);
        if (status == ST_OK) {
            status = buf_printf(out, err, "%s %" PRId64 "\n", table[i].name, atomic_load(&metrics->value[i]));
        }
    }
    return status;
}

static enum status write_formats(struct metrics *metrics, struct buf *out, struct error *err) {
    enum status status = write_head(out, "blurd_format_out", "gauge",
                                    "1: pictures of the format get 503; its helper process has died.", err);
    for (unsigned i = 0; i < CODEC_COUNT && status == ST_OK; i++) {
        if (codec_isolated((enum codec_id)i)) {
            status = buf_printf(out, err, "blurd_format_out{format=\"%s\"} %d\n",
                                codec_get((enum codec_id)i)->name, atomic_load(&metrics->formats_out));
        }
    }
    return status;
}

static enum status write_ways(struct metrics *metrics, struct buf *out, struct error *err) {
    enum status status = write_head(out, "blurd_pictures_total", "counter",
                                    "Pictures processed, by what a GPU did of them.", err);
    for (enum way way = 0; way < WAY_COUNT && status == ST_OK; way++) {
        status = buf_printf(out, err, "blurd_pictures_total{way=\"%s\"} %" PRIu64 "\n", metrics_way_name(way),
                            atomic_load(&metrics->way[way]));
    }
    return status;
}

/* One line per label set that occurred. */
static enum status write_requests(struct metrics *metrics, struct buf *out, struct error *err) {
    enum { SETS = METRIC_FORMAT_COUNT * PROBLEM_COUNT * METRIC_BACKENDS_MAX };
    enum status status = write_head(out, "blurd_requests_total", "counter", "Requests finished.", err);
    for (unsigned i = 0; i < metrics->operation_count * SETS && status == ST_OK; i++) {
        unsigned operation = i / SETS;
        unsigned format = i / (PROBLEM_COUNT * METRIC_BACKENDS_MAX) % METRIC_FORMAT_COUNT;
        unsigned problem = i / METRIC_BACKENDS_MAX % PROBLEM_COUNT;
        unsigned backend = i % METRIC_BACKENDS_MAX;
        uint64_t count = atomic_load(&metrics->requests[operation][format][problem][backend]);
        if (count > 0) {
            status = buf_printf(
                out, err,
                "blurd_requests_total{operation=\"%s\",format=\"%s\",status=\"%u\",reason=\"%s\","
                "backend=\"%s\"} %" PRIu64 "\n",
                metrics->operations[operation], format_name(format), problem_kind(problem)->http_status,
                problem_kind(problem)->slug, metrics->backend[backend], count);
        }
    }
    return status;
}

/* Refusals by reason. Every reason is present from the start, so that rates can be computed. */
static enum status write_rejections(struct metrics *metrics, struct buf *out, struct error *err) {
    enum status status = write_head(out, "blurd_rejections_total", "counter",
                                    "Requests not served, by reason; overloaded: add capacity.", err);
    for (unsigned problem = 1; problem < PROBLEM_COUNT && status == ST_OK; problem++) {
        uint64_t count = 0;
        for (unsigned i = 0; i < metrics->operation_count; i++) {
            for (unsigned j = 0; j < METRIC_FORMAT_COUNT * METRIC_BACKENDS_MAX; j++) {
                count += atomic_load(
                    &metrics->requests[i][j / METRIC_BACKENDS_MAX][problem][j % METRIC_BACKENDS_MAX]);
            }
        }
        status = buf_printf(out, err, "blurd_rejections_total{reason=\"%s\"} %" PRIu64 "\n",
                            problem_kind(problem)->slug, count);
    }
    return status;
}

static enum status write_histogram(const struct histogram *histogram, const char *stage, struct buf *out,
                                   struct error *err) {
    uint64_t count = 0;
    enum status status = ST_OK;
    for (unsigned i = 0; i < BOUNDS && status == ST_OK; i++) {
        count += atomic_load(&histogram->bucket[i]);
        status = buf_printf(out, err, "blurd_stage_seconds_bucket{stage=\"%s\",le=\"%g\"} %" PRIu64 "\n",
                            stage, (double)bounds[i] / 1e9, count);
    }
    count += atomic_load(&histogram->bucket[BOUNDS]);
    if (status != ST_OK) {
        return status;
    }
    return buf_printf(out, err,
                      "blurd_stage_seconds_bucket{stage=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
                      "blurd_stage_seconds_sum{stage=\"%s\"} %.9f\n"
                      "blurd_stage_seconds_count{stage=\"%s\"} %" PRIu64 "\n",
                      stage, count, stage, (double)atomic_load(&histogram->sum_ns) / 1e9, stage, count);
}

enum status metrics_write(struct metrics *metrics, const char *build, struct buf *out, struct error *err) {
    enum status status = write_plain(metrics, out, err);
    if (status == ST_OK) {
        status = write_formats(metrics, out, err);
    }
    if (status == ST_OK) {
        status = write_ways(metrics, out, err);
    }
    if (status == ST_OK) {
        status = write_requests(metrics, out, err);
    }
    if (status == ST_OK) {
        status = write_rejections(metrics, out, err);
    }
    if (status == ST_OK) {
        status = write_head(out, "blurd_stage_seconds", "histogram", "Time of image requests by stage.", err);
    }
    for (unsigned i = 0; i < STAGE_COUNT && status == ST_OK; i++) {
        status = write_histogram(&metrics->stage[i], stage_names[i], out, err);
    }
    if (status != ST_OK) {
        return status;
    }
    return buf_printf(
        out, err,
        "# HELP blurd_build_info Version of this daemon; always 1.\n# TYPE blurd_build_info gauge\n"
        "blurd_build_info{version=\"%s\"} 1\n"
        "# HELP process_start_time_seconds Start of the process, Unix time.\n"
        "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.3f\n",
        build, metrics->start);
}
