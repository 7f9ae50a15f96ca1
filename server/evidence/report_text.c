/* SPDX-License-Identifier: MIT */
#include "server/evidence/report_text.h"

#include <string.h>

#include "core/json/json_reader.h"

enum { NAME_SIZE = 24 };

typedef bool member_read(struct json_reader *reader, const char *name, void *context);

/* Reads an object, whose members `read` takes. */
static bool read_object(struct json_reader *reader, member_read *read, void *context) {
    char name[NAME_SIZE];
    bool more = true;
    if (!json_reader_open(reader, '{')) {
        return false;
    }
    while (json_reader_next(reader, '}', &more) && more) {
        if (!json_reader_name(reader, name, sizeof name) || !read(reader, name, context)) {
            return false;
        }
    }
    return !more;
}

/* The text of a value of any kind. */
static bool read_view(struct json_reader *reader, struct bytes *view) {
    json_reader_peek(reader);
    const char *begin = reader->at;
    const bool read = json_reader_skip(reader);
    *view = (struct bytes){(const uint8_t *)begin, (size_t)(reader->at - begin)};
    return read;
}

/* An object, and its text. */
static bool read_viewed(struct json_reader *reader, member_read *read, struct report_text *report,
                        struct bytes *view) {
    struct json_reader again = *reader;
    return read_view(&again, view) && read_object(reader, read, report);
}

static bool read_input(struct json_reader *reader, const char *name, void *context) {
    struct report_text *report = context;
    return strcmp(name, "sha256") == 0 ? json_reader_text(reader, report->input, sizeof report->input)
                                       : json_reader_skip(reader);
}

static bool read_answer(struct json_reader *reader, const char *name, void *context) {
    struct report_text *report = context;
    return strcmp(name, "sha256") == 0   ? json_reader_text(reader, report->answer, sizeof report->answer)
           : strcmp(name, "format") == 0 ? json_reader_text(reader, report->format, sizeof report->format)
                                         : json_reader_skip(reader);
}

static bool read_mask(struct json_reader *reader, const char *name, void *context) {
    struct report_text *report = context;
    return strcmp(name, "sha256") == 0 ? json_reader_text(reader, report->mask, sizeof report->mask)
                                       : json_reader_skip(reader);
}

static bool read_program(struct json_reader *reader, const char *name, void *context) {
    struct report_text *report = context;
    return strcmp(name, "version") == 0 ? json_reader_text(reader, report->program, sizeof report->program)
           : strcmp(name, "build") == 0 ? json_reader_text(reader, report->build, sizeof report->build)
                                        : json_reader_skip(reader);
}

static bool read_version(struct json_reader *reader, struct report_text *report) {
    double value = 0;
    const bool read = json_reader_number(reader, &value) && value >= 0 && value <= 1000;
    report->version = read ? (unsigned)value : 0;
    return read;
}

static bool read_member(struct json_reader *reader, const char *name, void *context) {
    struct report_text *report = context;
    return strcmp(name, "report") == 0       ? read_version(reader, report)
           : strcmp(name, "program") == 0    ? read_object(reader, read_program, report)
           : strcmp(name, "input") == 0      ? read_viewed(reader, read_input, report, &report->input_view)
           : strcmp(name, "answer") == 0     ? read_viewed(reader, read_answer, report, &report->answer_view)
           : strcmp(name, "fill") == 0       ? read_view(reader, &report->fill)
           : strcmp(name, "outside") == 0    ? read_view(reader, &report->outside)
           : strcmp(name, "mask") == 0       ? read_object(reader, read_mask, report)
           : strcmp(name, "parameters") == 0 ? read_view(reader, &report->parameters)
           : strcmp(name, "redacted") == 0   ? read_view(reader, &report->redacted)
                                             : json_reader_skip(reader);
}

enum status report_text_read(struct bytes text, struct report_text *report, struct error *err) {
    struct json_reader reader;
    *report = (struct report_text){0};
    json_reader_init(&reader, text);
    if (!read_object(&reader, read_member, report) || json_reader_peek(&reader) || reader.at < reader.end) {
        return fail(err, ST_CORRUPT,
                    "at byte %zu of its text there is no valid JSON, or another kind of value",
                    json_reader_offset(&reader) + 1);
    }
    const char *missing = !report->version           ? "report"
                          : !report->input[0]        ? "input"
                          : !report->answer[0]       ? "answer"
                          : !report->parameters.data ? "parameters"
                          : !report->redacted.data   ? "redacted"
                                                     : NULL;
    return missing ? fail(err, ST_CORRUPT, "its text has no %s", missing) : ST_OK;
}

static bool read_parameter(struct json_reader *reader, const char *name, void *context) {
    struct report_parameter *parameter = context;
    return strcmp(name, "name") == 0    ? json_reader_text(reader, parameter->name, sizeof parameter->name)
           : strcmp(name, "value") == 0 ? json_reader_text(reader, parameter->value, sizeof parameter->value)
                                        : json_reader_skip(reader);
}

enum status report_text_parameters(struct bytes parameters,
                                   enum status (*take)(void *context,
                                                       const struct report_parameter *parameter,
                                                       struct error *err),
                                   void *context, struct error *err) {
    struct json_reader reader;
    bool more = true;
    json_reader_init(&reader, parameters);
    if (!json_reader_open(&reader, '[')) {
        return fail(err, ST_CORRUPT, "its parameters are no array");
    }
    while (json_reader_next(&reader, ']', &more) && more) {
        struct report_parameter parameter = {.name = ""};
        if (!read_object(&reader, read_parameter, &parameter)) {
            return fail(err, ST_CORRUPT, "one of its parameters is no object with name and value");
        }
        enum status status = take(context, &parameter, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return more ? fail(err, ST_CORRUPT, "its parameters do not end with ]") : ST_OK;
}
