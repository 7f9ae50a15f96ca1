/* SPDX-License-Identifier: MIT */
#include "server/routes.h"

#include <stdio.h>
#include <string.h>

#include "codecs/process/codec_spawner.h"
#include "codecs/versions.h"
#include "core/json/json.h"
#include "core/log.h"
#include "core/version.h"
#include "filters/filter.h"
#include "gpu/front/versions.h"
#include "server/answer.h"
#include "server/message/suggest.h"
#include "server/overload.h"
#include "server/pages/document.h"
#include "server/pages/formats.h"
#include "server/pages/playground.h"
#include "server/request.h"
#include "server/service.h"
#include "server/tracing/exporter.h"

enum { FILTERS_TEXT_MAX = 4096 };

/* A line for each filter. */
static void list_filters(char text[static FILTERS_TEXT_MAX]) {
    size_t used = 0;
    for (unsigned i = 0; i < FILTER_COUNT && used < FILTERS_TEXT_MAX; i++) {
        const struct filter *filter = filter_get((enum filter_id)i);
        char target[64];
        snprintf(target, sizeof target, "%s%s%s", filter->name, filter->example ? "?" : "",
                 filter->example ? filter->example : "");
        used +=
            (size_t)snprintf(text + used, FILTERS_TEXT_MAX - used, "POST /%-39s %s\n", target, filter->help);
    }
}

static void answer_index(struct request *request) {
    if (playground_wanted(request)) {
        playground_answer(request);
        return;
    }
    char formats[FORMATS_TEXT_MAX], filters[FILTERS_TEXT_MAX], port[8] = "",
                                                               socket[LISTEN_NAME_MAX + 32] = "";
    const struct service *service = request->service;
    if (service->port) {
        snprintf(port, sizeof port, ":%u", service->port);
    } else {
        snprintf(socket, sizeof socket, "--unix-socket %s ", service->name + strlen(OPTION_LOCAL_PREFIX));
    }
    formats_text(formats);
    list_filters(filters);
    answer_page(request, 200, request->route->media,
                "blurd %s: filters pictures; %s.\n\n"
                "  curl -f --data-binary @photo.jpg %s'http://localhost%s/blur?sigma=8' -o blurred.jpg\n\n"
                "%s"
                "POST /pipeline?ops=blur:sigma=2|sharpen       up to 8 of them\n\n"
                "region=x,y,w,h acts on a part of the picture; with mode=redact /blur and /pixelate hide it "
                "for good.\n\n"
                "GET  /readyz /livez /version /metrics /openapi.json\n",
                BLURD_VERSION, formats, socket, port, filters);
    answer_header(request, "Vary", "Accept");
}

/* The process is alive when an event thread runs; nothing else is checked. */
static void answer_livez(struct request *request) {
    answer_page(request, 200, request->route->media, "{\"status\":\"alive\"}\n");
}

/* Appends the state of one backend. Returns whether it serves. */
static bool write_backend(struct buf *body, struct backend *backend) {
    static const char *const names[] = {"starting", "serving", "down"};
    char reason[BACKEND_REASON_MAX];
    char quoted[2 * BACKEND_REASON_MAX];
    enum backend_state state = backend_state(backend, reason);
    json_string(quoted, sizeof quoted, reason);
    /* Without memory a backend is missing here; the status is still right. */
    (void)buf_printf(body, NULL, "%s{\"name\":\"%s\",\"state\":\"%s\",\"reason\":%s}", body->size ? "," : "",
                     backend->name, names[state], quoted);
    return state == BACKEND_SERVING;
}

/* The formats that are out while the process that starts their codecs' is gone. */
static void write_formats_out(const struct service *service, char text[static FORMATS_NAMES_MAX]) {
    if (codec_spawner_serves(service->codecs)) {
        snprintf(text, FORMATS_NAMES_MAX, "[]");
    } else {
        formats_names(codec_isolated, text);
    }
}

static void answer_readyz(struct request *request) {
    const struct service *service = request->service;
    struct buf backends;
    char out[FORMATS_NAMES_MAX];
    bool draining = atomic_load(&service->draining);
    bool preferred = false;
    buf_init(&backends, 1 << 16);
    for (unsigned i = 0; i < service->backend_count; i++) {
        bool serves = write_backend(&backends, service->backend[i]);
        preferred |= serves && service->backend[i] != service->cpu;
    }
    bool ready = !draining && (preferred || !service->config->require_gpu);
    write_formats_out(service, out);
    answer_page(request, ready ? 200 : 503, request->route->media,
                "{\"status\":\"%s\",\"backends\":[%.*s],\"formats_out\":%s}\n",
                draining ? "draining"
                : ready  ? "ready"
                         : "waiting for a GPU",
                (int)backends.size, backends.size ? (const char *)backends.data : "", out);
    buf_finish(&backends);
    if (!ready && request->outcome.problem == PROBLEM_NONE) {
        answer_header(request, "Retry-After", "1");
        request->outcome.problem = PROBLEM_BUSY;
    }
}

static void answer_version(struct request *request) {
    const struct service *service = request->service;
    char formats[FORMATS_JSON_MAX], detectors[FORMATS_DETECTORS_MAX];
    formats_json(formats);
    formats_detectors(service->detectors, detectors);
    answer_page(request, 200, request->route->media,
                "{\"name\":\"blurd\",\"version\":\"%s\",\"http\":\"%s\",\"codecs\":\"%s\",\"formats\":%s,"
                "%s,\"gpu\":\"%s\",\"in_flight\":%u}\n",
                BLURD_VERSION, service->http_library, versions_of_codecs(), formats, detectors,
                gpu_versions_text(), overload_in_flight(service));
}

static void answer_openapi(struct request *request) {
    const struct service *service = request->service;
    struct openapi_view view = {.config = &request->settings->config,
                                .tokens = request->settings->tokens != NULL,
                                .detectors = service->detectors,
                                .two = service->admin};
    view.routes = routes_table(&view.route_count);
    struct document *document = &request->settings->document;
    enum status status = document_make(document, &view, &request->error);
    if (status != ST_OK) {
        answer_problem(request, problem_of(status));
        return;
    }
    answer_document(request, document);
}

static void answer_metrics(struct request *request) {
    struct service *service = request->service;
    buf_init(&request->answer.body, METRICS_PAGE_MAX);
    metrics_set(service->metrics, METRIC_SLOT_BYTES, (int64_t)slot_pool_bytes(service->slots));
    bool gpu = service->backend_count > 1;
    metrics_set(service->metrics, METRIC_GPU_STATE, gpu ? backend_state(service->backend[0], NULL) : 3);
    metrics_set(service->metrics, METRIC_GPU_CONCURRENCY, backend_transcodes(service->backend[0]));
    int64_t exported, dropped;
    exporter_counts(service->exporter, &exported, &dropped);
    metrics_set(service->metrics, METRIC_TRACES_EXPORTED, exported);
    metrics_set(service->metrics, METRIC_TRACES_DROPPED, dropped);
    metrics_set(service->metrics, METRIC_LOG_DROPPED, log_dropped());
    metrics_formats_out(service->metrics, !codec_spawner_serves(service->codecs));
    enum status status =
        metrics_write(service->metrics, BLURD_VERSION, &request->answer.body, &request->error);
    if (status != ST_OK) {
        answer_problem(request, problem_of(status));
        return;
    }
    answer_done(request, 200, request->route->media);
}

/* Alphabetical. A new endpoint is one row here and its function. */
static const struct route routes[] = {
    {.path = "/",
     .name = "index",
     .answer = answer_index,
     .help = "A page for trying the filters in browsers; a page of help for other clients.",
     .media = "text/plain; charset=utf-8"},
#define FILTER(ID, name_, type) {.path = "/" #name_, .name = #name_, .filter = #name_},
#include "filters/filters.def"
#undef FILTER
    {.path = "/livez",
     .name = "livez",
     .answer = answer_livez,
     .listener = ROUTE_BOTH,
     .help = "200 as long as the process answers. Checks nothing else.",
     .media = "application/json",
     .schema = "Liveness"},
    {.path = "/metrics",
     .name = "metrics",
     .answer = answer_metrics,
     .listener = ROUTE_SECOND,
     .help = "Counters, gauges and histograms in the text format of Prometheus.",
     .media = "text/plain; version=0.0.4; charset=utf-8"},
    {.path = "/openapi.json",
     .name = "openapi",
     .answer = answer_openapi,
     .help = "This interface as an OpenAPI 3.1 document, with the limits of this daemon.",
     .media = "application/json",
     .schema = "Description",
     .tagged = true},
    {.path = "/pipeline",
     .name = "pipeline",
     .help = "Up to 8 filters in sequence, with a single decoding and encoding."},
    {.path = "/readyz",
     .name = "readyz",
     .answer = answer_readyz,
     .listener = ROUTE_BOTH,
     .help = "200 and the state of each backend, with the reason if it is down, and formats that are out. "
             "503 while "
             "draining, and with `--require-gpu` while no GPU serves.",
     .media = "application/json",
     .schema = "Readiness",
     .refusal = "Draining, or waiting for a GPU that is required."},
    {.path = "/series/{filter}",
     .name = "series",
     .series = true,
     .help =
         "The frames of a video, JPEGs one behind the other, each as the path behind `/series` answers it.",
     .media = "video/x-mjpeg"},
    {.path = "/verify",
     .name = "verify",
     .filter = "redact",
     .verifies = true,
     .help = "Whether the report of a redaction holds: its signature, the answer and, with the input, the "
             "redaction done again.",
     .schema = "Verdict"},
    {.path = "/version",
     .name = "version",
     .answer = answer_version,
     .help = "Versions of this program and its libraries.",
     .media = "application/json",
     .schema = "Version"},
};
enum { ROUTES = sizeof routes / sizeof routes[0] };
_Static_assert(ROUTES + 1 <= METRIC_OPERATIONS_MAX, "each route and \"other\" have a number in the metrics");

static const char series_prefix[] = "/series/";

/* Whether the path is that of a series: frames can be sent to all that answers with a picture. */
static bool is_series(const char *path) {
    if (strncmp(path, series_prefix, strlen(series_prefix)) != 0) {
        return false;
    }
    const char *name = path + strlen(series_prefix);
    const struct filter *filter = filter_find(name);
    return filter ? filter->answer == ANSWER_PICTURE : strcmp(name, "pipeline") == 0;
}

const struct filter *routes_filter(const struct route *route, const char *path) {
    const char *name = route->series ? path + strlen(series_prefix) : route->filter;
    return name ? filter_find(name) : NULL;
}

static bool is_hidden(const struct route *route, bool admin, bool two) {
    return two && route->listener == (admin ? ROUTE_FIRST : ROUTE_SECOND);
}

const struct route *routes_find(const char *path, bool admin, bool two) {
    for (unsigned i = 0; i < ROUTES; i++) {
        if (routes[i].series ? is_series(path) : strcmp(routes[i].path, path) == 0) {
            return is_hidden(&routes[i], admin, two) ? NULL : &routes[i];
        }
    }
    return NULL;
}

const char *routes_meant(const char *path, bool admin, bool two) {
    const char *paths[ROUTES];
    unsigned count = 0;
    for (unsigned i = 0; i < ROUTES; i++) {
        if (!routes[i].series && !is_hidden(&routes[i], admin, two)) {
            paths[count++] = routes[i].path;
        }
    }
    return suggest_word(path, paths, count);
}

const struct route *routes_table(unsigned *count) {
    *count = ROUTES;
    return routes;
}

unsigned routes_number(const struct route *route) {
    return route ? (unsigned)(route - routes) + 1 : 0;
}

const char *const *routes_names(unsigned *count) {
    static const char *names[ROUTES + 1] = {"other"};
    for (unsigned i = 0; i < ROUTES; i++) {
        names[i + 1] = routes[i].name;
    }
    *count = ROUTES + 1;
    return names;
}
