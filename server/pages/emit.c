/* SPDX-License-Identifier: MIT */
#include "server/pages/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "server/message/query.h"
#include "server/pages/formats.h"
#include "server/problem.h"

enum {
    TEXT_MAX = 2048
}; /* bytes of one escaped string; longer ones are truncated, which a test would notice */

void emit(struct emitter *w, const char *format, ...) {
    if (w->status == ST_OK) {
        va_list arguments;
        va_start(arguments, format);
        w->status = buf_vprintf(w->out, w->err, format, arguments);
        va_end(arguments);
    }
}

void emit_text(struct emitter *w, const char *text) {
    char quoted[TEXT_MAX];
    json_string(quoted, sizeof quoted, text);
    emit(w, "%s", quoted);
}

void emit_inside(struct emitter *w, const char *text) {
    char quoted[TEXT_MAX];
    size_t length = json_string(quoted, sizeof quoted, text);
    emit(w, "%.*s", (int)length - 2, quoted + 1);
}

void emit_item(struct emitter *w) {
    uint8_t before = w->out->size ? w->out->data[w->out->size - 1] : '[';
    emit(w, "%s", before == '[' || before == '{' ? "" : ",");
}

void emit_name(struct emitter *w, const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    emit_item(w);
    emit(w, "\"%s\":", name);
}

static void emit_choices(struct emitter *w, const struct argument *row) {
    emit(w, "\"type\":\"string\",\"enum\":[");
    for (unsigned i = 0; row->choices[i]; i++) {
        emit_item(w);
        emit_text(w, row->choices[i]);
    }
    emit(w, "]");
}

/* The names with a bit, in the order of the choices. */
static void emit_set(struct emitter *w, const struct argument *row, unsigned bits) {
    emit(w, "\"%s", bits ? "" : row->choices[0]);
    for (unsigned i = 0; bits >> i; i++) {
        if (bits >> i & 1) {
            emit(w, "%s%s", bits & ((1U << i) - 1) ? "," : "", row->choices[i + 1]);
        }
    }
    emit(w, "\"");
}

/* Each set once: other orders of its names mean the same. */
static void emit_sets(struct emitter *w, const struct argument *row) {
    unsigned names = 0;
    while (row->choices[names + 1]) {
        names++;
    }
    emit(w, "\"type\":\"string\",\"enum\":[");
    for (unsigned bits = row->initial > 0; bits >> names == 0; bits++) {
        emit_item(w);
        emit_set(w, row, bits);
    }
    emit(w, "]");
}

static void emit_type(struct emitter *w, const struct argument *row) {
    switch (row->type) {
    case ARGUMENT_REAL:
    case ARGUMENT_WHOLE:
        emit(w, "\"type\":\"%s\",\"minimum\":%.10g,\"maximum\":%.10g",
             row->type == ARGUMENT_REAL ? "number" : "integer", row->minimum, row->maximum);
        if (row->odd) {
            emit(w, ",\"not\":{\"multipleOf\":2}");
        }
        if (row->least > 0) {
            emit(w, ",\"anyOf\":[{\"type\":\"number\",\"maximum\":%g},{\"type\":\"number\",\"minimum\":%g}]",
                 -row->least, row->least);
        }
        break;
    case ARGUMENT_CHOICE:
        emit_choices(w, row);
        break;
    case ARGUMENT_SET:
        emit_sets(w, row);
        break;
    case ARGUMENT_SWITCH:
        emit(w, "\"type\":\"boolean\"");
        break;
    case ARGUMENT_PARSED:
        emit(w,
             "\"type\":\"string\",\"format\":\"%s\",\"minLength\":1,\"maxLength\":%d,\"title\":", row->name,
             QUERY_VALUE_MAX);
        emit_text(w, row->form);
        emit(w, ",\"examples\":[");
        emit_text(w, row->example);
        emit(w, "]");
        break;
    }
}

static void emit_default(struct emitter *w, const struct argument *row) {
    if (row->without && *row->without) {
        emit(w, ",\"x-default\":");
        emit_text(w, row->without);
    } else if (row->type == ARGUMENT_CHOICE) {
        emit(w, ",\"default\":\"%s\"", row->choices[(int)row->initial]);
    } else if (row->type == ARGUMENT_SET) {
        emit(w, ",\"default\":");
        emit_set(w, row, (unsigned)row->initial);
    } else if (row->type == ARGUMENT_SWITCH) {
        emit(w, ",\"default\":%s", row->initial != 0 ? "true" : "false");
    } else if (!row->without) {
        emit(w, ",\"default\":%.10g", row->initial);
    }
}

void emit_argument(struct emitter *w, const struct argument *row) {
    emit(w, "{%s", row->most > 1 ? "\"type\":\"array\",\"items\":{" : "");
    emit_type(w, row);
    if (row->most > 1) {
        emit(w, "},\"minItems\":1,\"maxItems\":%u", row->most);
    }
    emit_default(w, row);
    emit(w, "}");
}

void emit_pictures(struct emitter *w, bool (*has)(enum codec_id id), const char *schema) {
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        if (has((enum codec_id)i)) {
            emit_name(w, "%s", codec_get((enum codec_id)i)->mime);
            emit(w, "{\"schema\":%s}", schema);
        }
    }
}

static bool is_format(enum codec_id id) {
    return id < CODEC_COUNT;
}

void emit_format_names(struct emitter *w) {
    char text[FORMATS_NAMES_MAX];
    formats_names(is_format, text);
    emit(w, "%s", text);
}

void emit_formats(struct emitter *w) {
    char text[FORMATS_JSON_MAX];
    formats_json(text);
    emit(w, "%s", text);
}

/* Options that limit what clients may send. */
static const char *const limits[] = {"max_body",      "max_pixels",   "max_side",      "max_frames",
                                     "max_animation", "max_scans",    "max_steps",     "header_timeout",
                                     "body_timeout",  "work_timeout", "write_timeout", "min_rate",
                                     "queue"};

static bool is_limit(const char *name) {
    unsigned i = 0;
    while (i < sizeof limits / sizeof limits[0] && strcmp(limits[i], name) != 0) {
        i++;
    }
    return i < sizeof limits / sizeof limits[0];
}

void emit_limits(struct emitter *w, const struct config *config) {
    size_t count;
    const struct option *rows = config_options(&count);
    emit(w, "{");
    for (size_t i = 0; i < count; i++) {
        char value[OPTION_VALUE_MAX];
        if (is_limit(rows[i].name)) {
            option_format(&rows[i], config, value);
            emit_name(w, "%s", rows[i].name);
            emit(w, "{\"value\":\"%s\",\"description\":", value);
            emit_text(w, rows[i].help);
            emit(w, "}");
        }
    }
    emit(w, "}");
}

void emit_detectors(struct emitter *w, uint32_t usable) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        emit(w, "%s\"x-%s\": %s", i ? ",\n  " : "", detector_get(i)->name,
             usable & UINT32_C(1) << i ? "true" : "false");
    }
}

void emit_detector_names(struct emitter *w) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        emit_item(w);
        emit_text(w, detector_get(i)->name);
    }
}

void emit_detector_boxes(struct emitter *w) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        emit_name(w, "%s", detector_get(i)->name);
        emit(w,
             "{\"description\":\"Present if `detect` names it.\",\"type\":\"array\",\"maxItems\":%d,"
             "\"items\":{\"$ref\":\"#/components/schemas/Box\"}}",
             BOXES_MAX);
    }
}

void emit_detector_flags(struct emitter *w) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        const struct detector *detector = detector_get(i);
        emit_name(w, "%s", detector->name);
        emit(w, "{\"type\":\"boolean\",\"description\":\"Whether %s can be found.\"}", detector->name);
    }
}

void emit_detector_headers(struct emitter *w) {
#define DETECTOR(ID, name, thing, Title)                                                                     \
    emit_name(w, "X-" #Title);                                                                               \
    emit(w,                                                                                                  \
         "{\"description\":\"With `detect_report=true`: left, top, width, height and score of each box, in " \
         "pixels of the upright picture, on the grid of `detect_grid` and without the margin. At most 4 "    \
         "KiB; `/detect` "                                                                                   \
         "lists all.\",\"schema\":{\"type\":\"string\"}}");
#include "detect/detectors.def"
#undef DETECTOR
}

void emit_problem_types(struct emitter *w) {
    emit(w, "[");
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        if (i != PROBLEM_CANCELLED) {
            emit_item(w);
            emit(w, "\"urn:blurd:problem:%s\"", problem_kind(i)->slug);
        }
    }
    emit(w, "]");
}

void emit_headers(struct emitter *w, const char *const *names) {
    emit(w, ",\"headers\":{");
    for (; *names; names++) {
        emit_name(w, "%s", *names);
        emit(w, "{\"$ref\":\"#/components/headers/%s\"}", *names);
    }
    emit(w, "}");
}
