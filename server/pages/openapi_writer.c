/* SPDX-License-Identifier: MIT */
#include "server/pages/openapi_writer.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/json.h"
#include "server/message/query.h"

enum { TEXT_MAX = 2048 }; /* of one string, escaped; longer ones are cut, which a test would see */

void put(struct writer *w, const char *format, ...) {
    if (w->status == ST_OK) {
        va_list arguments;
        va_start(arguments, format);
        w->status = buf_vprintf(w->out, w->err, format, arguments);
        va_end(arguments);
    }
}

void put_text(struct writer *w, const char *text) {
    char quoted[TEXT_MAX];
    json_string(quoted, sizeof quoted, text);
    put(w, "%s", quoted);
}

void put_inside(struct writer *w, const char *text) {
    char quoted[TEXT_MAX];
    size_t length = json_string(quoted, sizeof quoted, text);
    put(w, "%.*s", (int)length - 2, quoted + 1);
}

void put_item(struct writer *w) {
    uint8_t before = w->out->size ? w->out->data[w->out->size - 1] : '[';
    put(w, "%s", before == '[' || before == '{' ? "" : ",");
}

void put_name(struct writer *w, const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    put_item(w);
    put(w, "\"%s\":", name);
}

static void put_choices(struct writer *w, const struct argument *row) {
    put(w, "\"type\":\"string\",\"enum\":[");
    for (unsigned i = 0; row->choices[i]; i++) {
        put_item(w);
        put_text(w, row->choices[i]);
    }
    put(w, "]");
}

static void put_type(struct writer *w, const struct argument *row) {
    switch (row->type) {
    case ARGUMENT_REAL:
    case ARGUMENT_WHOLE:
        put(w, "\"type\":\"%s\",\"minimum\":%.10g,\"maximum\":%.10g",
            row->type == ARGUMENT_REAL ? "number" : "integer", row->minimum, row->maximum);
        if (row->odd) {
            put(w, ",\"not\":{\"multipleOf\":2}");
        }
        if (row->least > 0) {
            put(w, ",\"anyOf\":[{\"type\":\"number\",\"maximum\":%g},{\"type\":\"number\",\"minimum\":%g}]",
                -row->least, row->least);
        }
        break;
    case ARGUMENT_CHOICE:
        put_choices(w, row);
        break;
    case ARGUMENT_SWITCH:
        put(w, "\"type\":\"boolean\"");
        break;
    case ARGUMENT_PARSED:
        put(w, "\"type\":\"string\",\"format\":\"%s\",\"minLength\":1,\"maxLength\":%d,\"title\":", row->name,
            QUERY_VALUE_MAX);
        put_text(w, row->form);
        put(w, ",\"examples\":[");
        put_text(w, row->example);
        put(w, "]");
        break;
    }
}

static void put_default(struct writer *w, const struct argument *row) {
    if (row->without && *row->without) {
        put(w, ",\"x-default\":");
        put_text(w, row->without);
    } else if (row->type == ARGUMENT_CHOICE) {
        put(w, ",\"default\":\"%s\"", row->choices[(int)row->initial]);
    } else if (row->type == ARGUMENT_SWITCH) {
        put(w, ",\"default\":%s", row->initial != 0 ? "true" : "false");
    } else if (!row->without) {
        put(w, ",\"default\":%.10g", row->initial);
    }
}

void put_argument(struct writer *w, const struct argument *row) {
    put(w, "{%s", row->most > 1 ? "\"type\":\"array\",\"items\":{" : "");
    put_type(w, row);
    if (row->most > 1) {
        put(w, "},\"minItems\":1,\"maxItems\":%u", row->most);
    }
    put_default(w, row);
    put(w, "}");
}
