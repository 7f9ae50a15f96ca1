/* SPDX-License-Identifier: MIT
 * Metrics in the Prometheus text format. Updates are atomic and take no lock; label
 * sets are fixed, so the number of series is bounded whatever clients send. */
#ifndef BLURD_SERVER_METRICS_H
#define BLURD_SERVER_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/codec.h"
#include "core/bytes.h"
#include "server/problem.h"

enum metric {
#define METRIC(kind, id, name, help) METRIC_##id,
#include "server/metrics.def"
#undef METRIC
    METRIC_COUNT
};

/* Where a request spends its time; the names of Server-Timing. */
enum stage {
    STAGE_QUEUE,
    STAGE_DECODE,
    STAGE_DETECT, /* only of requests that search */
    STAGE_UPLOAD,
    STAGE_FILTER,
    STAGE_DOWNLOAD,
    STAGE_ENCODE,
    STAGE_TOTAL,
    STAGE_COUNT
};

/* What a GPU did of a picture. */
enum way {
#define WAY(id, queue, name, help) WAY_##id,
#include "server/ways.def"
#undef WAY
    WAY_COUNT
};

/* Output format of an answered request, for its label: none, or a codec's number plus one. */
enum metric_format {
    METRIC_FORMAT_NONE,
#define FORMAT(id, ...) METRIC_FORMAT_##id,
#include "codecs/formats.def"
    METRIC_FORMAT_COUNT
};

enum {
    METRIC_OPERATIONS_MAX = 32,
    METRIC_BACKENDS_MAX = 4,
    METRICS_PAGE_MAX = 6 << 20, /* bytes that metrics_write may append */
};

struct metrics;

/* `operations` are the label values of routes by number, and must outlive the metrics. NULL without
 * memory. */
struct metrics *metrics_create(const char *const *operations, unsigned operation_count);
void metrics_destroy(struct metrics *metrics);

/* Names backend `index` (0 is "none", for requests that no backend ran). */
void metrics_name_backend(struct metrics *metrics, unsigned index, const char *name);

void metrics_add(struct metrics *metrics, enum metric metric, int64_t amount);
void metrics_set(struct metrics *metrics, enum metric metric, int64_t value);

/* Whether the formats of isolated codecs are out. */
void metrics_formats_out(struct metrics *metrics, bool out);

/* Counts one finished request. */
void metrics_request(struct metrics *metrics, unsigned operation, enum metric_format format,
                     enum problem problem, unsigned backend);

/* Counts a picture that was processed that way. */
void metrics_way(struct metrics *metrics, enum way way);

/* Adds one duration to the stage's histogram. */
void metrics_stage(struct metrics *metrics, enum stage stage, int64_t ns);

const char *metrics_stage_name(enum stage stage);
const char *metrics_way_name(enum way way);

/* Appends the page for GET /metrics. `build` is the value of the version label. */
enum status metrics_write(struct metrics *metrics, const char *build, struct buf *out, struct error *err);

#endif
