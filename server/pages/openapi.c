/* SPDX-License-Identifier: MIT */
#include "server/pages/openapi.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/version.h"
#include "server/message/parameters.h"
#include "server/pages/emit.h"
#include "server/pages/emit_answer.h"
#include "server/problem.h"
#include "server/route.h"

/* The assembler includes the file, zero-terminated. */
__asm__(".pushsection .rodata\n"
        "openapi_skeleton:\n.incbin \"server/pages/openapi.json\"\n.byte 0\n"
        ".popsection\n");
extern const char openapi_skeleton[];

/* Header fields of requests, and which pages read them. */
static const struct {
    const char *name;
    bool everywhere; /* false: only pages with an ETag */
    const char *help;
} fields[] = {
    {"X-Request-Id", true,
     "An id of the client's own for the answer and the log: up to 64 letters, digits and `-_.:/+=@`. Any "
     "other value is replaced by an id made here."},
    {"traceparent", true, "Trace context (W3C); its ids stand in the log line. A malformed one is ignored."},
    {"If-None-Match", false, "The ETag of an answer that the client has."},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static bool is_work(const struct route *route) {
    return !route->answer;
}

static const struct filter *filter_of(const struct route *route) {
    return route->filter ? filter_find(route->filter) : NULL;
}

/* The name of an argument's schema: BlurKernelSize for blur and kernel_size. */
static void emit_schema_name(struct emitter *w, const char *prefix, const char *name) {
    const char *const words[] = {prefix, name};
    for (unsigned i = 0; i < 2; i++) {
        for (const char *at = words[i]; *at; at++) {
            bool first = at == words[i] || at[-1] == '_';
            if (*at != '_') {
                emit(w, "%c", first ? toupper((unsigned char)*at) : *at);
            }
        }
    }
}

static void refer_schema(struct emitter *w, const char *prefix, const char *name) {
    emit(w, "{\"$ref\":\"#/components/schemas/");
    emit_schema_name(w, prefix, name);
    emit(w, "\"}");
}

static void emit_field(struct emitter *w, unsigned i) {
    emit_name(w, "%s", fields[i].name);
    emit(w, "{\"name\":\"%s\",\"in\":\"header\",\"description\":", fields[i].name);
    emit_text(w, fields[i].help);
    emit(w, ",\"schema\":{\"type\":\"string\"}}");
}

typedef void argument_visit(struct emitter *w, const char *prefix, const struct argument *row);

/* Calls `visit` with every argument; `prefix` is its filter, or "" for shared arguments. */
static void each_argument(struct emitter *w, argument_visit *visit) {
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        const struct filter *filter = filter_get(i);
        for (const struct argument *row = filter->arguments; row->name; row++) {
            visit(w, filter->name, row);
        }
    }
    const struct argument *table;
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL; i++) {
        for (const struct argument *row = table; row->name; row++) {
            visit(w, "", row);
        }
    }
}

/* A name in components/parameters. */
static void emit_parameter_name(struct emitter *w, const char *prefix, const struct argument *row) {
    emit(w, "%s%s%s", prefix, *prefix ? "." : "", row->name);
}

static void define_parameter(struct emitter *w, const char *prefix, const struct argument *row) {
    emit_item(w);
    emit(w, "\"");
    emit_parameter_name(w, prefix, row);
    emit(w, "\":{\"name\":\"%s\",\"in\":\"query\",\"description\":", row->name);
    emit_text(w, row->help);
    emit(w, ",\"schema\":");
    refer_schema(w, prefix, row->name);
    emit(w, "%s}", row->most > 1 ? ",\"style\":\"form\",\"explode\":true" : "");
}

static void define_schema(struct emitter *w, const char *prefix, const struct argument *row) {
    emit_item(w);
    emit(w, "\"");
    emit_schema_name(w, prefix, row->name);
    emit(w, "\":");
    emit_argument(w, row);
}

/* One schema for an argument, whether it stands in a query or in a form. */
static void write_arguments(struct emitter *w) {
    each_argument(w, define_schema);
}

static void write_parameters(struct emitter *w) {
    emit(w, "{");
    each_argument(w, define_parameter);
    for (unsigned i = 0; i < FIELDS; i++) {
        emit_field(w, i);
    }
    emit(w, "}");
}

/* Calls `visit` with each parameter of the endpoint and its name in components. */
static void each_parameter(struct emitter *w, const struct filter *filter, argument_visit *visit) {
    for (const struct argument *row = filter ? filter->arguments : NULL; row && row->name; row++) {
        visit(w, filter->name, row);
    }
    const struct argument *table;
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL; i++) {
        for (const struct argument *row = table; row->name && parameters_share(filter, i); row++) {
            visit(w, "", row);
        }
    }
}

static void refer_parameter(struct emitter *w, const char *prefix, const struct argument *row) {
    emit_item(w);
    emit(w, "{\"$ref\":\"#/components/parameters/");
    emit_parameter_name(w, prefix, row);
    emit(w, "\"}");
}

static void emit_property(struct emitter *w, const char *prefix, const struct argument *row) {
    emit_name(w, "%s", row->name);
    refer_schema(w, prefix, row->name);
}

/* The problems of one HTTP status, from number `first` on, as one response. */
static void emit_problems(struct emitter *w, unsigned first) {
    const struct problem_kind *kind = problem_kind(first);
    const char *headers[] = {"X-Request-Id", "X-Content-Type-Options", "Cache-Control", kind->header, NULL};
    emit_name(w, "%u", kind->http_status);
    emit(w, "{\"description\":\"");
    for (unsigned i = first; i < PROBLEM_COUNT && problem_kind(i)->http_status == kind->http_status; i++) {
        emit(w, "%s`%s`: ", i > first ? "\\n\\n" : "", problem_kind(i)->slug);
        emit_inside(w, problem_kind(i)->help);
    }
    emit(w, "\"");
    emit_headers(w, headers);
    emit(w, ",\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
            "Problem\"}}}}");
}

/* Whether problem i is the first of its HTTP status; the table is sorted by status. */
static bool is_first(unsigned i) {
    return problem_kind(i)->http_status != problem_kind(i - 1)->http_status;
}

static void write_responses(struct emitter *w) {
    emit(w, "{");
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        if (is_first(i) && i != PROBLEM_CANCELLED) {
            emit_problems(w, i);
        }
    }
    emit(w, "}");
}

static bool applies(enum problem_where where, bool work, bool tokens) {
    return where == PROBLEM_EVERYWHERE || (where == PROBLEM_WORK && work) ||
           (where == PROBLEM_TOKEN && work && tokens);
}

static void refer_problems(struct emitter *w, bool work) {
    unsigned last = 0;
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        const struct problem_kind *kind = problem_kind(i);
        if (applies(kind->where, work, w->view->tokens) && kind->http_status != last) {
            last = kind->http_status;
            emit_name(w, "%u", last);
            emit(w, "{\"$ref\":\"#/components/responses/%u\"}", last);
        }
    }
}

static void emit_form(struct emitter *w, const struct filter *filter) {
    emit_name(w, "multipart/form-data");
    emit(w, "{\"schema\":{\"type\":\"object\",\"required\":[\"image\"],"
            "\"additionalProperties\":false,\"properties\":{");
    emit_name(w, "image");
    emit(w, "{\"description\":\"The picture: the part that has a file name, whatever its own name.\","
            "\"$ref\":\"#/components/schemas/Picture\"}");
    each_parameter(w, filter, emit_property);
    if (filter && filter->answer == ANSWER_BOXES) {
        emit(w, "}}}");
        return;
    }
    emit(w, ",\"regions\":{\"$ref\":\"#/components/schemas/Regions\"}"
            ",\"mask\":{\"$ref\":\"#/components/schemas/Mask\"}}}}");
}

static void begin_operation(struct emitter *w, const struct route *route, const char *method, const char *id,
                            const char *help) {
    emit_name(w, "%s", method);
    emit(w, "{\"operationId\":\"%s%s\",\"tags\":[\"%s\"],\"summary\":", id, route->name,
         is_work(route) ? "filters" : "operations");
    emit_text(w, help);
    emit(w, ",\"parameters\":[");
}

static void refer_fields(struct emitter *w, const struct route *route) {
    for (unsigned i = 0; i < FIELDS; i++) {
        if (fields[i].everywhere || route->tagged) {
            emit_item(w);
            emit(w, "{\"$ref\":\"#/components/parameters/%s\"}", fields[i].name);
        }
    }
    emit(w, "]");
}

/* What a series can be sent to. */
static void emit_path_parameter(struct emitter *w) {
    emit_item(w);
    emit(
        w,
        "{\"name\":\"filter\",\"in\":\"path\",\"required\":true,\"description\":\"The path that answers each "
        "frame; its own parameters are taken, too.\",\"schema\":{\"type\":\"string\",\"enum\":[");
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        if (filter_get(i)->answer == ANSWER_PICTURE) {
            emit(w, "\"%s\",", filter_get(i)->name);
        }
    }
    emit(w, "\"pipeline\"]}}");
}

static void emit_bodies(struct emitter *w, const struct route *route) {
    if (route->verifies) {
        emit_name(w, "multipart/form-data");
        emit(w, "{\"schema\":{\"$ref\":\"#/components/schemas/Verification\"}}");
    } else if (route->series) {
        emit_name(w, "%s", route->media);
        emit(w, "{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}");
    } else {
        emit_pictures(w, codec_decodes, "{\"$ref\":\"#/components/schemas/Picture\"}");
        emit_form(w, filter_of(route));
    }
}

static void emit_work(struct emitter *w, const struct route *route) {
    const struct filter *filter = filter_of(route);
    begin_operation(w, route, "post", "", route->help ? route->help : filter->help);
    if (route->series) {
        emit_path_parameter(w);
    }
    if (!route->verifies) {
        each_parameter(w, filter, refer_parameter);
    }
    refer_fields(w, route);
    emit(w, ",\"requestBody\":{\"required\":true,\"content\":{");
    emit_bodies(w, route);
    emit(w, "}},\"responses\":{");
    if (route->series) {
        emit_answer_series(w, route);
    } else {
        emit_answer_work(w, route, filter);
    }
    refer_problems(w, true);
    emit(w, "}%s}", w->view->tokens ? ",\"security\":[{\"bearer\":[]}]" : "");
}

static void emit_page(struct emitter *w, const struct route *route, const char *method, const char *id) {
    bool content = strcmp(method, "get") == 0;
    begin_operation(w, route, method, id, route->help);
    refer_fields(w, route);
    emit(w, ",\"responses\":{");
    emit_answer_page(w, route, 200, route->help, content);
    if (route->tagged) {
        emit_answer_page(w, route, 304, "What the client has is still so.", false);
    }
    refer_problems(w, false);
    if (route->refusal) {
        emit_answer_page(w, route, 503, route->refusal, content);
    }
    emit(w, "}}");
}

static void write_paths(struct emitter *w) {
    emit(w, "{");
    for (unsigned i = 0; i < w->view->route_count; i++) {
        const struct route *route = &w->view->routes[i];
        if (w->view->two && route->listener == ROUTE_SECOND) {
            continue;
        }
        emit_name(w, "%s", route->path);
        emit(w, "{");
        if (is_work(route)) {
            emit_work(w, route);
        } else {
            emit_page(w, route, "get", "");
            emit_page(w, route, "head", "head_");
        }
        emit(w, "}");
    }
    emit(w, "}");
}

static void write_limits(struct emitter *w) {
    emit_limits(w, w->view->config);
}

static void write_max_body(struct emitter *w) {
    emit(w, "%" PRIu64, w->view->config->max_body);
}

static void write_security(struct emitter *w) {
    emit(w, "%s",
         w->view->tokens ? "{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\","
                           "\"description\":\"A token of the file that --token-file names.\"}}"
                         : "{}");
}

static void write_detectors(struct emitter *w) {
    emit_detectors(w, w->view->detectors);
}

static void write_home(struct emitter *w) {
    emit(w, "\"" BLURD_HOME_URL "\"");
}

/* Where docs/ is shown. */
static void write_manual(struct emitter *w) {
    emit(w, "\"" BLURD_DOCS_URL "/docs/api.md\"");
}

static void write_version(struct emitter *w) {
    emit(w, "\"" BLURD_VERSION "\"");
}

/* Replaces "@name" in the skeleton by a value, or by members of an object where it is a name with `true`. */
static const struct {
    const char *name;
    void (*write)(struct emitter *w);
} parts[] = {
    {"arguments", write_arguments},
    {"detector_boxes", emit_detector_boxes},
    {"detector_flags", emit_detector_flags},
    {"detector_headers", emit_detector_headers},
    {"detector_names", emit_detector_names},
    {"detectors", write_detectors},
    {"format_names", emit_format_names},
    {"formats", emit_formats},
    {"home", write_home},
    {"limits", write_limits},
    {"manual", write_manual},
    {"max_body", write_max_body},
    {"parameters", write_parameters},
    {"paths", write_paths},
    {"problem_types", emit_problem_types},
    {"responses", write_responses},
    {"security", write_security},
    {"version", write_version},
};

static void emit_part(struct emitter *w, const char *name, size_t length) {
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0) {
            parts[i].write(w);
            return;
        }
    }
    w->status = fail(w->err, ST_INTERNAL, "nothing writes @%.*s", (int)length, name);
}

enum status openapi_write(const struct openapi_view *view, struct buf *out, struct error *err) {
    struct emitter w = {.view = view, .out = out, .err = err};
    const char *text = openapi_skeleton;
    const char *mark;
    while ((mark = strstr(text, "\"@")) != NULL) {
        emit(&w, "%.*s", (int)(mark - text), text);
        size_t length = strcspn(mark + 2, "\"");
        emit_part(&w, mark + 2, length);
        text = mark + 2 + length + 1;
        text += strncmp(text, ": true", 6) == 0 ? 6 : 0;
    }
    emit(&w, "%s", text);
    return w.status;
}
