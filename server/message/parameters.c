/* SPDX-License-Identifier: MIT */
#include "server/message/parameters.h"

#include <stddef.h>
#include <string.h>

#include "server/message/query.h"
#include "server/message/suggest.h"

enum { TABLES_MAX = 16, NAMES_MAX = 64 }; /* names: as many as there are bits in parameters->given */

/* A parameter that was looked up. */
struct found {
    const struct argument *row; /* NULL: there is none */
    bool own;                   /* of the filter, whose offsets are in its arguments */
    uint64_t bit;               /* in parameters->given */
};

static unsigned row_count(const struct argument *table) {
    unsigned count = 0;
    while (table[count].name) {
        count++;
    }
    return count;
}

static struct found find(const struct parameters *parameters, const char *name) {
    struct found found = {0};
    const struct argument *table;
    unsigned base = 0; /* rows of the tables before */
    if (parameters->filter) {
        const struct argument *own = parameters->filter->arguments;
        found.row = argument_find(own, name);
        found.own = found.row != NULL;
        found.bit = found.row ? UINT64_C(1) << (found.row - own) : 0;
        base = row_count(own);
    }
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL && !found.row; i++) {
        if (parameters_share(parameters->filter, i) && (found.row = argument_find(table, name)) != NULL) {
            found.bit = UINT64_C(1) << (base + (found.row - table));
        }
        base += row_count(table);
    }
    return found;
}

void parameters_init(struct parameters *parameters, const struct filter *filter) {
    const struct argument *table;
    struct operation *own = &parameters->ops.operation[0];
    size_t head = offsetof(struct parameters, input);
    memset((char *)parameters + head, 0, sizeof *parameters - head);
    parameters->filter = filter;
    parameters->ops.count = 0;
    parameters->ops.most = CHAIN_STEPS_MAX;
    for (unsigned i = 0; i < CHAIN_STEPS_MAX; i++) {
        parameters->ops.operation[i].filter = NULL; /* a step without a filter has no arguments */
    }
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL; i++) {
        arguments_default(table, parameters);
    }
    if (filter) {
        parameters->ops.count = 1;
        own->filter = filter;
        memset(&own->arguments, 0, sizeof own->arguments);
        arguments_default(filter->arguments, &own->arguments);
    }
    if (filter && filter->conceals) {
        parameters->input.mode = MODE_REDACT;
        parameters->input.fill = (struct fill){.kind = FILL_COLOUR, .colour = {0, 0, 0, 255}};
    }
}

bool parameters_know(const struct parameters *parameters, const char *name) {
    return find(parameters, name).row != NULL;
}

bool parameters_given(const struct parameters *parameters, const char *name) {
    return (parameters->given & find(parameters, name).bit) != 0;
}

/* The tables of all that the endpoint takes. */
static unsigned tables_of(const struct parameters *parameters, const struct argument *tables[TABLES_MAX]) {
    const struct argument *table;
    unsigned count = 0;
    if (parameters->filter) {
        tables[count++] = parameters->filter->arguments;
    }
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL && count < TABLES_MAX; i++) {
        if (parameters_share(parameters->filter, i)) {
            tables[count++] = table;
        }
    }
    return count;
}

static enum status unknown(const struct parameters *parameters, const char *name, struct error *err) {
    const struct argument *tables[TABLES_MAX];
    const char *words[NAMES_MAX];
    char names[ERROR_TEXT_MAX];
    size_t used = 0, known = 0;
    for (unsigned i = 0, count = tables_of(parameters, tables); i < count; i++) {
        used = arguments_list(tables[i], names, sizeof names, used);
        for (const struct argument *row = tables[i]; row->name && known < NAMES_MAX; row++) {
            words[known++] = row->name;
        }
    }
    const char *meant = suggest_word(name, words, known);
    return fail_argument(err, name, "unknown parameter%s%s%s %s takes %s", meant ? ", did you mean " : "",
                         meant ? meant : "", meant ? "?" : ";",
                         parameters->filter ? parameters->filter->name : "pipeline", names);
}

/* A missing codec must be found here, since costs are predicted before all parameters are checked. */
static enum status check_format(const struct parameters *parameters, struct error *err) {
    int format = parameters->output.format;
    if (format == FORMAT_AUTO || codec_encodes(parameters_codec(format))) {
        return ST_OK;
    }
    char list[CODEC_TITLES_MAX];
    return fail_argument(
        err, "format", "format is %s, which this build of blurd does not write; it writes %s",
        find(parameters, "format").row->choices[format], codec_titles(codec_encodes, "and", list));
}

enum codec_id parameters_codec(int format) {
    static const enum codec_id codecs[] = {
#define FORMAT(id, ...) [FORMAT_##id] = CODEC_##id,
#define READ_FORMAT(...)
#include "codecs/formats.def"
        [FORMAT_JPG] = CODEC_JPEG,
    };
    return codecs[format];
}

enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err) {
    struct found found = find(parameters, name);
    if (!found.row) {
        return unknown(parameters, name, err);
    }
    if ((parameters->given & found.bit) && found.row->most <= 1) {
        return fail_argument(err, name, "%s is given more than once", name);
    }
    parameters->given |= found.bit;
    void *target = found.own ? (void *)&parameters->ops.operation[0].arguments : parameters;
    enum status status = argument_parse(found.row, value, target, err);
    if (parameters->filter && argument_find(parameters->filter->arguments, "unit")) {
        parameters->input.region.unit = parameters->ops.operation[0].arguments.crop.unit;
    }
    if (parameters->output.format == FORMAT_JPG) {
        parameters->output.format = FORMAT_JPEG;
    }
    return status == ST_OK ? check_format(parameters, err) : status;
}

enum status parameters_parse(struct parameters *parameters, const char *query, struct error *err) {
    struct query_pair pair;
    *err = (struct error){0};
    while (query && query_next(&query, &pair, err)) {
        enum status status = parameters_set(parameters, pair.name, pair.value, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return err->status;
}
