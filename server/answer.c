/* SPDX-License-Identifier: MIT */
#include "server/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/metadata/losses.h"
#include "core/clock.h"
#include "server/message/accept.h"
#include "server/message/etag.h"
#include "server/pages/document.h"
#include "server/request.h"
#include "server/route.h"
#include "server/settings.h"

enum { PAGE_MAX = 1 << 20 }; /* upper bound for the bytes of a page or problem */

void answer_header(struct request *request, const char *name, const char *format, ...) {
    struct answer *answer = &request->answer;
    if (answer->header_count == ANSWER_HEADERS_MAX) {
        return;
    }
    struct answer_header *header = &answer->header[answer->header_count++];
    header->name = name;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(header->value, sizeof header->value, format, arguments);
    va_end(arguments);
}

/* Lets pages of a listed origin read the answer. Vary tells caches. */
static void add_cors_headers(struct request *request) {
    const char *origins = request->settings->config.cors_origins;
    if (!origins[0]) {
        return;
    }
    answer_header(request, "Vary", "Origin");
    if (cors_is_listed(&request->cors, origins)) {
        answer_header(request, "Access-Control-Allow-Origin", "%s", request->cors.origin);
        answer_header(request, "Access-Control-Expose-Headers", "%s", cors_exposed_headers);
    }
}

static void complete(struct request *request, unsigned http_status, const char *type, const char *cache) {
    request->answer.http_status = http_status;
    request->answered = true;
    request->sent =
        strcmp(request->method, "HEAD") == 0 ? 0 : request->answer.body.size + request->answer.rest.size;
    if (type) {
        answer_header(request, "Content-Type", "%s", type);
    }
    answer_header(request, "Cache-Control", "%s", cache);
    answer_header(request, "X-Request-Id", "%s", request->id);
    answer_header(request, "X-Content-Type-Options", "nosniff");
    add_cors_headers(request);
}

void answer_done(struct request *request, unsigned http_status, const char *type) {
    complete(request, http_status, type, "no-store");
}

void answer_tagged(struct request *request, unsigned http_status, const char *type, const char *tag) {
    complete(request, http_status, type, "no-cache");
    answer_header(request, "ETag", "%s", tag);
}

void answer_preflight(struct request *request, const char *methods) {
    answer_done(request, 204, NULL);
    answer_header(request, "Access-Control-Allow-Methods", "%s", methods);
    answer_header(request, "Access-Control-Allow-Headers", CORS_ALLOWED_HEADERS);
    answer_header(request, "Access-Control-Max-Age", CORS_MAX_AGE_S);
}

/* Some load balancers consider a server broken that answers 503. While shutting down that is wanted. */
static unsigned as_configured(const struct request *request, unsigned problem) {
    bool other = request->settings->config.overload_status == CHOICE_overload_status_429;
    return problem == PROBLEM_BUSY && other && request->refusal != REFUSAL_DRAINING ? PROBLEM_THROTTLED
                                                                                    : problem;
}

void answer_problem(struct request *request, unsigned what) {
    unsigned problem = as_configured(request, what);
    buf_finish(&request->answer.body); /* drops an unfinished picture */
    buf_init(&request->answer.body, PAGE_MAX);
    request->outcome.problem = problem;
    /* Without memory the answer has no body, only its status. */
    if (problem_write(problem, &request->error, request->id, &request->answer.body) != ST_OK) {
        buf_finish(&request->answer.body);
    }
    answer_done(request, problem_kind(problem)->http_status, "application/problem+json");
    if (problem == PROBLEM_METHOD) {
        answer_header(request, "Allow", "%s", request->route->answer ? "GET, HEAD" : "POST");
    } else if (problem_is_overload(problem)) {
        answer_header(request, "Retry-After", "%u", request->retry_after_s);
    } else if (problem == PROBLEM_UNSUPPORTED && request->content_coding[0]) {
        answer_header(request, "Accept-Encoding", "identity");
    } else if (problem == PROBLEM_UNAUTHORIZED) {
        answer_header(request, "WWW-Authenticate", "Bearer");
    }
}

static void add_timing(struct request *request) {
    char text[sizeof request->answer.header[0].value];
    size_t used = 0;
    for (unsigned i = 0; i < STAGE_COUNT && used < sizeof text; i++) {
        if (i == STAGE_DETECT && !request->outcome.searched) {
            continue;
        }
        int64_t us = clock_ns_to_us(request->outcome.stage_ns[i]); /* digits of a double take longer */
        int length = snprintf(text + used, sizeof text - used, "%s%s;dur=%" PRId64 ".%03" PRId64,
                              i ? ", " : "", metrics_stage_name(i), us / 1000, us % 1000);
        used += length > 0 ? (size_t)length : 0;
    }
    answer_header(request, "Server-Timing", "%s, way;desc=\"%s\"", text,
                  metrics_way_name(request->outcome.way));
}

static void add_report(struct answer *answer, unsigned detector, const char *boxes) {
    static const char *const names[DETECTORS] = {
#define DETECTOR(ID, name, thing, Title) [DETECTOR_##ID] = "X-" #Title,
#include "detect/detectors.def"
#undef DETECTOR
    };
    if (boxes[0] && answer->header_count < ANSWER_HEADERS_MAX) {
        answer->header[answer->header_count++] =
            (struct answer_header){.name = names[detector], .longer = boxes};
    }
}

void answer_picture(struct request *request) {
    const struct outcome *outcome = &request->outcome;
    bool picture = outcome->format != METRIC_FORMAT_NONE;
    const char *type = picture ? codec_get((enum codec_id)(outcome->format - 1))->mime : "application/json";
    char parts[sizeof outcome->boundary + 32];
    snprintf(parts, sizeof parts, "multipart/mixed; boundary=%s", outcome->boundary);
    answer_done(request, 200, outcome->boundary[0] ? parts : outcome->in_json ? "application/json" : type);
    answer_header(request, "X-Backend", "%s", outcome->backend_name);
    add_timing(request);
    if (outcome->counted) {
        answer_header(request, "X-Regions", "%u", outcome->regions);
    }
    for (unsigned i = 0; i < DETECTORS && outcome->report; i++) {
        add_report(&request->answer, i, outcome->report[i]);
    }
    if (outcome->notice[0]) {
        answer_header(request, "X-Blurd-Notice", "%s", outcome->notice);
    }
    if (picture) {
        static const char *const names[] = {
            [HDR_NONE] = "none", [HDR_DROPPED] = "dropped", [HDR_KEPT] = "kept"};
        answer_header(request, "X-HDR", "%s", names[outcome->hdr]);
    }
    if (outcome->losses) {
        char names[LOSSES_TEXT_MAX];
        losses_name(outcome->losses, names);
        answer_header(request, "X-Metadata-Dropped", "%s", names);
    }
    if (picture && request->parameters.output.format == FORMAT_AUTO) {
        answer_header(request, "Vary", "Accept");
    }
}

void answer_page(struct request *request, unsigned http_status, const char *type, const char *format, ...) {
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        fail(&request->error, ST_BUSY, "out of memory for the answer");
        answer_problem(request, PROBLEM_BUSY);
        return;
    }
    buf_init(&request->answer.body, PAGE_MAX);
    /* vasprintf's memory becomes the buffer's: both are from malloc. */
    request->answer.body.data = (uint8_t *)text;
    request->answer.body.size = request->answer.body.capacity = (size_t)length;
    answer_done(request, http_status, type);
}

void answer_document(struct request *request, const struct document *document) {
    bool packed = accept_quality(request->accept_encoding, "gzip") > 0;
    char tag[ETAG_MAX + 8];
    snprintf(tag, sizeof tag, "%.*s%s\"", (int)strlen(document->tag) - 1, document->tag,
             packed ? "-gzip" : "");
    bool known = etag_matches(request->if_none_match, tag);
    struct bytes form = buf_bytes(packed ? &document->packed : &document->plain);
    buf_init(&request->answer.body, form.size);
    enum status status =
        known ? ST_OK : buf_append(&request->answer.body, form.data, form.size, &request->error);
    if (status != ST_OK) {
        answer_problem(request, problem_of(status));
        return;
    }
    answer_tagged(request, known ? 304 : 200, known ? NULL : request->route->media, tag);
    answer_header(request, "Vary", "Accept-Encoding");
    if (packed && !known) {
        answer_header(request, "Content-Encoding", "gzip");
    }
}
