/* SPDX-License-Identifier: MIT */
#include "server/tracing/otlp.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "core/json/json.h"
#include "core/version.h"

enum {
    KIND_INTERNAL = 1,
    KIND_SERVER = 2,
    STATUS_ERROR = 2,
    SERVER_ERRORS = 500,               /* HTTP statuses that are errors of a server's span */
    QUOTED_MAX = SPAN_PATH_MAX * 6 + 3 /* each byte may become \u and four digits */
};

struct otlp_span {
    const char *trace_id, *parent_id, *name;
    char id[TRACE_PARENT_SIZE + 1];
    int kind;
    int64_t begin_ns, end_ns;
};

/* After a failure nothing more is written. */
struct writer {
    struct buf *out;
    struct error *err;
    enum status status;
    bool first; /* attribute of its span */
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...) {
    if (w->status == ST_OK) {
        va_list arguments;
        va_start(arguments, format);
        w->status = buf_vprintf(w->out, w->err, format, arguments);
        va_end(arguments);
    }
}

/* Writes so many random hexadecimal digits, not all of them zero, and a zero byte. */
static void make_id(char *id, size_t digits) {
    uint8_t bytes[TRACE_ID_SIZE / 2] = {0};
    if (getrandom(bytes, digits / 2, 0) < 0 || bytes[0] == 0) {
        bytes[0] = 1;
    }
    for (size_t i = 0; i < digits / 2; i++) {
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    }
}

static void put_text(struct writer *w, const char *key, const char *value) {
    if (value[0]) {
        char quoted[QUOTED_MAX];
        json_string(quoted, sizeof quoted, value);
        put(w, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":%s}}", w->first ? "" : ",", key, quoted);
        w->first = false;
    }
}

/* Numbers of 64 bits are strings in the JSON form of protocol buffers. */
static void put_number(struct writer *w, const char *key, uint64_t value) {
    put(w, "%s{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu64 "\"}}", w->first ? "" : ",", key, value);
    w->first = false;
}

/* Begins a span, up to its own attributes. */
static void put_span(struct writer *w, const struct otlp_span *span) {
    char quoted[QUOTED_MAX];
    json_string(quoted, sizeof quoted, span->name);
    put(w, "{\"traceId\":\"%s\",\"spanId\":\"%s\",\"parentSpanId\":\"%s\",", span->trace_id, span->id,
        span->parent_id);
    put(w, "\"name\":%s,\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64 "\",", quoted, span->kind,
        span->begin_ns);
    put(w, "\"endTimeUnixNano\":\"%" PRId64 "\",\"attributes\":[", span->end_ns);
    w->first = true;
}

static void put_request(struct writer *w, const struct span_record *record, const struct otlp_span *span) {
    put_span(w, span);
    put_text(w, "http.request.method", record->method);
    put_text(w, "url.path", record->path);
    put_text(w, "http.route", record->route);
    put_text(w, "client.address", record->client);
    put_number(w, "http.response.status_code", record->http_status);
    put_number(w, "http.request.body.size", record->received);
    put_number(w, "http.response.body.size", record->sent);
    put_text(w, "error.type", record->problem);
    put_text(w, "blurd.request_id", record->request_id);
    put_text(w, "blurd.backend", record->backend);
    if (record->width) {
        put_number(w, "blurd.width", record->width);
        put_number(w, "blurd.height", record->height);
    }
    put(w, "],\"status\":{");
    if (record->http_status >= SERVER_ERRORS) {
        put(w, "\"code\":%d", STATUS_ERROR);
    }
    put(w, "}}");
}

static void put_stages(struct writer *w, const struct span_record *record, const struct otlp_span *parent) {
    struct otlp_span span = {.trace_id = parent->trace_id,
                             .parent_id = parent->id,
                             .kind = KIND_INTERNAL,
                             .begin_ns = record->queued_ns};
    for (unsigned i = 0; record->stages && i < OTLP_STAGES; i++) {
        if (record->stage_ns[i] > 0) {
            span.name = metrics_stage_name(i);
            span.end_ns = span.begin_ns + record->stage_ns[i];
            make_id(span.id, TRACE_PARENT_SIZE);
            put(w, ",");
            put_span(w, &span);
            put(w, "]}");
            span.begin_ns = span.end_ns;
        }
    }
}

static void put_record(struct writer *w, const struct span_record *record) {
    char trace_id[TRACE_ID_SIZE + 1], name[SPAN_TEXT_MAX * 2];
    make_id(trace_id, TRACE_ID_SIZE);
    snprintf(name, sizeof name, "%s%s%s", record->method, record->route[0] ? " " : "", record->route);
    struct otlp_span span = {.trace_id = record->trace_id[0] ? record->trace_id : trace_id,
                             .parent_id = record->parent_id,
                             .name = name,
                             .kind = KIND_SERVER,
                             .begin_ns = record->begin_ns,
                             .end_ns = record->end_ns};
    make_id(span.id, TRACE_PARENT_SIZE);
    put_request(w, record, &span);
    put_stages(w, record, &span);
}

enum status otlp_write(struct buf *out, const struct span_record *records, size_t count, struct error *err) {
    struct writer writer = {.out = out, .err = err, .first = true};
    struct writer *w = &writer;
    put(w, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    put_text(w, "service.name", "blurd");
    put_text(w, "service.version", BLURD_VERSION);
    put(w, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"blurd\",\"version\":\"%s\"},\"spans\":[",
        BLURD_VERSION);
    for (size_t i = 0; i < count; i++) {
        put(w, "%s", i ? "," : "");
        put_record(w, &records[i]);
    }
    put(w, "]}]}]}");
    return w->status;
}
