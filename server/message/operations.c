/* SPDX-License-Identifier: MIT */
#include "server/message/operations.h"

#include <stdio.h>
#include <string.h>

#include "filters/argument/value.h"
#include "server/message/query.h"

/* Cuts the text at the next `sign` and moves *cursor past it; NULL at the end. */
static char *cut(char **cursor, char sign) {
    char *begin = *cursor;
    char *end = begin ? strchr(begin, sign) : NULL;
    *cursor = end ? end + 1 : NULL;
    if (end) {
        *end = '\0';
    }
    return begin;
}

/* Parses one `name=value`. The caller adds the step to the error. */
static enum status set_argument(struct operation *operation, char *text, uint32_t *given, struct error *err) {
    char buffer[VALUE_QUOTE_MAX];
    char names[ERROR_TEXT_MAX / 2] = "no arguments";
    const struct argument *table = operation->filter->arguments;
    char *value = text;
    const char *name = cut(&value, '=');
    const struct argument *row = argument_find(table, name);
    if (!row) {
        arguments_list(table, names, sizeof names, 0);
        return fail(err, ST_ARGUMENT, "unknown argument %s; %s takes %s", value_quote(name, buffer),
                    operation->filter->name, names);
    }
    if (*given & UINT32_C(1) << (row - table)) {
        return fail(err, ST_ARGUMENT, "%s is given more than once", name);
    }
    *given |= UINT32_C(1) << (row - table);
    return argument_parse(row, value ? value : "", &operation->arguments, err);
}

static bool is_step(const struct filter *filter) {
    return filter->answer == ANSWER_PICTURE && !filter->conceals;
}

/* "blur, convolve, pixelate and sharpen", as far as they fit. */
static const char *list_filters(char *text, size_t size) {
    size_t used = 0;
    unsigned last = FILTER_COUNT - 1;
    while (!is_step(filter_get(last))) {
        last--;
    }
    text[0] = '\0';
    for (unsigned id = 0; id < FILTER_COUNT && used < size; id++) {
        if (is_step(filter_get(id))) {
            const char *before = used == 0 ? "" : id == last ? " and " : ", ";
            used += (size_t)snprintf(text + used, size - used, "%s%s", before, filter_get(id)->name);
        }
    }
    return text;
}

static enum status parse_operation(struct operation *operation, char *text, struct error *err) {
    char buffer[VALUE_QUOTE_MAX];
    const char *name = cut(&text, ':');
    operation->filter = filter_find(name);
    if (operation->filter && operation->filter->conceals) {
        return fail(err, ST_ARGUMENT, "%s is no step; mode=redact redacts before the first one", name);
    }
    if (!operation->filter || !is_step(operation->filter)) {
        char names[ERROR_TEXT_MAX / 2];
        return fail(err, ST_ARGUMENT, "unknown filter %s; available: %s", value_quote(name, buffer),
                    list_filters(names, sizeof names));
    }
    memset(&operation->arguments, 0, sizeof operation->arguments);
    arguments_default(operation->filter->arguments, &operation->arguments);
    uint32_t given = 0;
    enum status status = ST_OK;
    while (text && status == ST_OK) {
        char *argument = cut(&text, ':');
        status = set_argument(operation, argument, &given, err);
    }
    return status;
}

enum status operations_parse(const struct argument *row, const char *text, void *field, struct error *err) {
    struct operation_list *list = field;
    char copy[QUERY_VALUE_MAX + 1];
    char *cursor = copy;
    snprintf(copy, sizeof copy, "%s", text); /* values have a maximum length */
    while (cursor) {
        char *step = cut(&cursor, '|');
        if (list->count == list->most) {
            return fail_argument(err, row->name, "%s has more than %u step%s, which is the limit (max_steps)",
                                 row->name, list->most, list->most == 1 ? "" : "s");
        }
        struct error cause = {0};
        if (parse_operation(&list->operation[list->count++], step, &cause) != ST_OK) {
            return fail_argument(err, row->name, "%s: step %u: %.200s", row->name, list->count, cause.text);
        }
    }
    return ST_OK;
}
