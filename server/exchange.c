/* SPDX-License-Identifier: MIT */
#include "server/exchange.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/log.h"
#include "filters/argument/value.h"
#include "server/access_log.h"
#include "server/answer.h"
#include "server/body.h"
#include "server/evidence/report_keys.h"
#include "server/message/multipart.h"
#include "server/overload.h"
#include "server/request.h"
#include "server/routes.h"
#include "server/series/frame.h"
#include "server/service.h"

static void make_id(struct request *request) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
        random =
            (uint64_t)clock_ns() * UINT64_C(0x9E3779B97F4A7C15); /* early in boot: unique enough for a log */
    }
    snprintf(request->id, sizeof request->id, "%016" PRIx64, random);
}

static void judge_target(struct request *request, const char *target, size_t size) {
    struct framing *framing = &request->framing;
    if (size > REQUEST_TARGET_MAX) {
        framing->verdict = PROBLEM_TARGET;
        framing->reason = "the request target is longer than 8 KiB";
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)target[i];
        if (c <= ' ' || c >= 0x7F) {
            framing->verdict = PROBLEM_REQUEST;
            framing->reason = "the request target contains a blank, a control or a non-ASCII character";
        }
    }
}

/* For idle_exit, which requests to the second listener do not delay. */
static void note_time(struct service *service, bool admin) {
    if (!admin) {
        atomic_store(&service->asked_ns, clock_ns());
    }
}

/* The path and query of a target, which may be a whole URI (RFC 9112 3.2.2): its scheme and authority are
 * left out, as Host is not used either. Without a host, or with user names in it, a URI stays as it is, and
 * leads nowhere. *root: the path is empty, which means "/". */
static const char *origin_form(const char *target, bool *root) {
    size_t scheme = strncasecmp(target, "http://", 7) == 0    ? 7
                    : strncasecmp(target, "https://", 8) == 0 ? 8
                                                              : 0;
    size_t host = strcspn(target + scheme, "/?@#");
    char after = target[scheme + host];
    *root = false;
    if (scheme == 0 || host == 0 || target[scheme] == ':' || after == '@' || after == '#') {
        return target;
    }
    *root = after != '/';
    return target + scheme + host;
}

struct request *exchange_create(struct service *service, const char *whole_target, bool admin) {
    bool root;
    const char *target = origin_form(whole_target, &root);
    size_t size = strlen(target);
    size_t kept = (size < REQUEST_TARGET_MAX ? size : REQUEST_TARGET_MAX) + root;
    struct request *request = malloc(sizeof *request + kept + 1);
    if (!request) {
        return NULL;
    }
    /* All but `parameters`, which are three quarters of it: parameters_init sets what it needs of them. */
    const size_t head = offsetof(struct request, parameters), rest = head + sizeof request->parameters;
    memset(request, 0, head);
    memset((char *)request + rest, 0, sizeof *request + kept + 1 - rest);
    request->service = service;
    request->settings = settings_take(&service->settings);
    request->admin = admin;
    request->created_ns = clock_ns();
    request->refusal = REFUSAL_MEMORY; /* the default */
    request->retry_after_s = 1;
    memcpy(request->outcome.backend_name, "none", sizeof "none");
    make_id(request);
    memcpy(request->target, "/", root);
    memcpy(request->target + root, target, kept - root);
    request->query = strchr(request->target, '?');
    if (request->query) {
        *request->query++ = '\0';
    }
    judge_target(request, target, size);
    atomic_fetch_add(&service->active, 1);
    note_time(service, admin);
    metrics_add(service->metrics, METRIC_IN_FLIGHT, 1);
    return request;
}

/* Takes the client's id if it can appear in a header and in the log unchanged. */
static void take_id(struct request *request, const char *value, size_t size) {
    if (size == 0 || size > REQUEST_ID_MAX) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        char c = value[i];
        bool fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    strchr("-_.:/+=@", c);
        if (!fine || c == '\0') {
            return;
        }
    }
    memcpy(request->id, value, size);
    request->id[size] = '\0';
}

/* Joins repeated fields with a comma, as RFC 9110 5.3 allows for lists; cut when too long. */
static void append_value(char *out, size_t capacity, const char *value, size_t size) {
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%.*s", used ? "," : "", (int)size, value);
}

static bool named(const char *name, size_t size, const char *wanted) {
    return size == strlen(wanted) && strncasecmp(name, wanted, size) == 0;
}

/* Parses a value of Content-Encoding: codings between commas. */
static void take_codings(struct request *request, const char *value, size_t size) {
    for (const char *end = value + size; value < end && !request->content_coding[0];) {
        size_t length = (size_t)(end - value);
        const char *comma = memchr(value, ',', length);
        const char *next = comma ? comma + 1 : end;
        length = comma ? (size_t)(comma - value) : length;
        while (length > 0 && (*value == ' ' || *value == '\t')) {
            value++, length--;
        }
        while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t')) {
            length--;
        }
        if (length > 0 && !named(value, length, "identity")) {
            snprintf(request->content_coding, sizeof request->content_coding, "%.*s", (int)length, value);
        }
        value = next;
    }
}

void exchange_header(struct request *request, const char *name, size_t name_size, const char *value,
                     size_t value_size) {
    framing_header(&request->framing, name, name_size, value, value_size);
    const struct tokens *tokens = request->settings->tokens;
    if (named(name, name_size, "X-Request-Id")) {
        take_id(request, value, value_size);
    } else if (named(name, name_size, "Accept")) {
        append_value(request->accept, sizeof request->accept, value, value_size);
    } else if (named(name, name_size, "Accept-Encoding")) {
        append_value(request->accept_encoding, sizeof request->accept_encoding, value, value_size);
    } else if (named(name, name_size, "If-None-Match")) {
        append_value(request->if_none_match, sizeof request->if_none_match, value, value_size);
    } else if (named(name, name_size, "traceparent")) {
        trace_header(&request->trace, value, value_size);
    } else if (named(name, name_size, "Content-Type")) {
        append_value(request->content_type, sizeof request->content_type, value, value_size);
    } else if (named(name, name_size, "Origin")) {
        cors_origin(&request->cors, value, value_size);
    } else if (named(name, name_size, "Access-Control-Request-Method")) {
        request->cors.preflight = true;
    } else if (named(name, name_size, "Content-Encoding")) {
        take_codings(request, value, value_size);
    } else if (tokens && named(name, name_size, "Authorization")) {
        request->authorizations++;
        request->authorized = request->authorizations == 1 && tokens_allow(tokens, value);
    }
}

/* Finds the route and checks method and token; returns the problem, if any. */
static enum problem find_route(struct request *request) {
    struct error *err = &request->error;
    request->route = routes_find(request->target, request->admin, request->service->admin);
    if (!request->route) {
        const char *meant = routes_meant(request->target, request->admin, request->service->admin);
        fail(err, ST_ARGUMENT, "there is nothing at this path%s%s%s see GET /",
             meant ? ", did you mean " : "", meant ? meant : "", meant ? "?" : ";");
        return PROBLEM_NOT_FOUND;
    }
    if (cors_is_preflight(&request->cors, request->method, request->settings->config.cors_origins)) {
        answer_preflight(request, request->route->answer ? "GET, HEAD" : "POST");
        return PROBLEM_NONE;
    }
    bool get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    bool post = strcmp(request->method, "POST") == 0;
    if (request->route->answer ? !get : !post) {
        fail(err, ST_ARGUMENT, "%s takes %s", request->route->path, request->route->answer ? "GET" : "POST");
        return PROBLEM_METHOD;
    }
    if (!request->route->answer && request->settings->tokens && !request->authorized) {
        fail(err, ST_ARGUMENT, "a valid bearer token is needed");
        return PROBLEM_UNAUTHORIZED;
    }
    return PROBLEM_NONE;
}

/* The report has the parameters. */
static enum problem check_verification(struct request *request) {
    parameters_init(&request->parameters, filter_find(request->route->filter));
    if (request->query && request->query[0]) {
        fail_argument(&request->error, "query",
                      "%s takes no parameters: the report has those of the redaction", request->route->name);
        return PROBLEM_ARGUMENT;
    }
    if (!multipart_is(request->content_type)) {
        fail_argument(&request->error, "report", "report is missing: %s takes a form with report and answer",
                      request->route->name);
        return PROBLEM_ARGUMENT;
    }
    return problem_of(overload_gate(request));
}

static enum problem check_head(struct request *request) {
    enum problem problem = find_route(request);
    if (problem != PROBLEM_NONE || request->answered || request->route->answer) {
        return problem;
    }
    if (!request->framing.content_lengths && !request->framing.transfer_encodings) {
        /* Old versions of the library also lose a folded length, and would parse the body as the next
         * request. */
        request->close = true;
        fail(&request->error, ST_CORRUPT,
             "the request has no body: neither Content-Length nor Transfer-Encoding");
        return PROBLEM_CORRUPT;
    }
    if (request->content_coding[0]) {
        char quoted[VALUE_QUOTE_MAX];
        fail(&request->error, ST_UNSUPPORTED,
             "Content-Encoding %s is not supported; send the picture without it",
             value_quote(request->content_coding, quoted));
        return PROBLEM_UNSUPPORTED;
    }
    if (!request->route->series && overload_check_size(request, request->framing.content_length) != ST_OK) {
        return PROBLEM_TOO_LARGE;
    }
    if (request->route->verifies) {
        return check_verification(request);
    }
    struct parameters *parameters = &request->parameters;
    parameters_init(parameters, routes_filter(request->route, request->target));
    parameters->ops.most = request->settings->config.max_steps;
    parameters->detect.possible = request->service->detectors;
    parameters->evidence.possible = report_keys_signer(request->settings->report_keys) != NULL;
    enum status status = parameters_parse(parameters, request->query, &request->error);
    if (status == ST_OK && request->route->series) {
        status = frame_check_series(request);
    }
    if (status == ST_OK && !multipart_is(request->content_type)) { /* a form has more of them in its body */
        status = parameters_check(parameters, &request->error);
    }
    if (status == ST_OK) {
        status = overload_gate(request);
    }
    return problem_of(status);
}

static bool is_series(const struct request *request) {
    return request->route && request->route->series;
}

void exchange_begin(struct request *request, const char *method, const char *version) {
    snprintf(request->method, sizeof request->method, "%s", method);
    enum problem problem = framing_judge(&request->framing, version);
    if (problem != PROBLEM_NONE) {
        fail(&request->error, ST_ARGUMENT, "%s", request->framing.reason);
        request->close = true; /* the start of the next request is unknown */
    } else {
        problem = check_head(request);
    }
    if (problem == PROBLEM_NONE && is_series(request) && strcmp(version, "HTTP/1.0") == 0) {
        fail(&request->error, ST_ARGUMENT,
             "a series needs HTTP/1.1, which tells whether its answer is whole");
        problem = PROBLEM_REQUEST;
    }
    if (problem != PROBLEM_NONE) {
        request->close |= is_series(request); /* its body may have no end */
        answer_problem(request, problem);
    }
}

/* How much of an unwanted body is read before the connection is closed. Answering and closing while the
 * client still sends would reset the connection and lose the answer. */
static uint64_t drain_cap(const struct request *request) {
    return 2 * request->settings->config.max_body;
}

bool exchange_must_answer_early(const struct request *request) {
    return request->answered && (request->close || request->framing.expects_continue ||
                                 request->framing.content_length > drain_cap(request));
}

bool exchange_body(struct request *request, const void *data, size_t size) {
    request->received += size;
    metrics_add(request->service->metrics, METRIC_RECEIVED_BYTES, (int64_t)size);
    if (!data) {
        metrics_add(request->service->metrics, METRIC_DIRECT_RECEIVED_BYTES, (int64_t)size);
    }
    if (!request->answered && !request->route->answer) {
        enum status status = body_keep(request, data, size);
        if (status != ST_OK) {
            answer_problem(request, problem_of(status));
            request_give_slot_back(request);
        }
    }
    return request->received <= drain_cap(request);
}

size_t exchange_room(struct request *request, uint8_t **to) {
    bool kept = !request->answered && request->slot && request->framing.content_lengths > 0;
    return kept ? body_room(request, to) : 0;
}

bool exchange_end(struct request *request) {
    if (!request->answered && request->route->answer) {
        request->route->answer(request);
    } else if (!request->answered && request->body_size == 0) {
        char list[CODEC_TITLES_MAX];
        fail(&request->error, ST_CORRUPT, "the body is empty; send the bytes of a %s",
             codec_titles(codec_decodes, "or", list));
        answer_problem(request, PROBLEM_CORRUPT);
    }
    return request->answered;
}

enum status exchange_submit(struct request *request) {
    request->queued_ns = clock_ns();
    request->slot->used = request->body_size;
    enum status status = overload_submit(request);
    if (status != ST_OK) {
        request_give_slot_back(request);
        answer_problem(request, problem_of(status));
    }
    return status;
}

void exchange_destroy(struct request *request, bool sent, bool timeout) {
    if (!request) {
        return;
    }
    struct service *service = request->service;
    if (!sent) {
        request->outcome.problem = timeout ? PROBLEM_TIMEOUT : PROBLEM_CANCELLED;
        if (!request->answered) {
            fail(&request->error, ST_CANCELLED, "the request did not arrive completely");
        }
        request->sent = 0;
    }
    access_log_write(request);
    request_give_slot_back(request);
    slot_pool_count(service->slots, -(int64_t)request->answer_bytes);
    buf_finish(&request->answer.body);
    slot_give_back(request->answer.slot);
    free(request->outcome.report);
    free(request->finds);
    settings_drop(request->settings);
    note_time(service, request->admin); /* before `active` is decremented, which idle.c relies on */
    free(request);
    metrics_add(service->metrics, METRIC_IN_FLIGHT, -1);
    atomic_fetch_sub(&service->active, 1);
}
