/* SPDX-License-Identifier: MIT */
#include "filters/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* filters/blur.c and so on */
extern const struct filter filter_blur, filter_convolve, filter_pixelate, filter_sharpen, filter_stats;

static const struct filter *const filters[FILTER_COUNT] = {
    [FILTER_BLUR] = &filter_blur,         [FILTER_CONVOLVE] = &filter_convolve,
    [FILTER_PIXELATE] = &filter_pixelate, [FILTER_SHARPEN] = &filter_sharpen,
    [FILTER_STATS] = &filter_stats,
};

const struct filter *filter_get(enum filter_id id) {
    return (unsigned)id < FILTER_COUNT ? filters[id] : NULL;
}

const struct filter *filter_find(const char *name) {
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        if (strcmp(filters[i]->name, name) == 0) {
            return filters[i];
        }
    }
    return NULL;
}

enum filter_id filter_id(const struct filter *filter) {
    unsigned i = 0;
    while (i < FILTER_COUNT && filters[i] != filter) {
        i++;
    }
    return (enum filter_id)i;
}

/* The only place that writes an argument, so that type and size always agree. */
static void store(const struct argument *row, void *target, double value) {
    char *field = (char *)target + row->offset;
    int whole = (int)value;
    bool on = value != 0;
    switch (row->type) {
    case ARGUMENT_REAL:
        memcpy(field, &value, sizeof value);
        break;
    case ARGUMENT_WHOLE:
    case ARGUMENT_CHOICE:
        memcpy(field, &whole, sizeof whole);
        break;
    case ARGUMENT_SWITCH:
        memcpy(field, &on, sizeof on);
        break;
    case ARGUMENT_PARSED:
        break; /* its parser does */
    }
}

void arguments_default(const struct argument *table, void *target) {
    for (const struct argument *row = table; row->name; row++) {
        store(row, target, row->initial);
    }
}

const struct argument *argument_find(const struct argument *table, const char *name) {
    for (const struct argument *row = table; row->name; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

double sample_step(const struct image_shape *shape) {
    return shape->depth == 16 ? 257 : 1;
}

const char *argument_echo(const char *text, char buffer[ARGUMENT_ECHO_MAX]) {
    size_t used = 0;
    for (; *text && used + 12 <= ARGUMENT_ECHO_MAX; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
        used += (size_t)snprintf(buffer + used, 5, plain ? "%c" : "\\x%02x", c);
    }
    snprintf(buffer + used, 4, "%s", *text ? "..." : "");
    return used ? buffer : "empty";
}

static size_t digits(const char *text) {
    size_t count = 0;
    while (text[count] >= '0' && text[count] <= '9') {
        count++;
    }
    return count;
}

bool argument_is_number(const char *text, bool real) {
    text += *text == '-';
    size_t before = digits(text);
    text += before;
    size_t after = 0;
    if (real && *text == '.') {
        after = digits(++text);
        text += after;
    }
    if (before + after == 0) {
        return false;
    }
    if (real && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '-' || *text == '+';
        size_t exponent = digits(text);
        return exponent && !text[exponent];
    }
    return !*text;
}

static enum status refuse_number(const struct argument *row, const char *text, struct error *err) {
    char buffer[ARGUMENT_ECHO_MAX];
    const char *kind = row->type == ARGUMENT_REAL ? ""
                       : row->odd                 ? "an odd whole number "
                                                  : "a whole number ";
    return fail_argument(err, row->name, "%s is %s, it must be %sfrom %.10g to %.10g%s%s", row->name,
                         argument_echo(text, buffer), kind, row->minimum, row->maximum,
                         row->unit ? row->unit : "", row->nonzero ? " and not 0" : "");
}

static enum status parse_number(const struct argument *row, const char *text, void *target,
                                struct error *err) {
    if (!argument_is_number(text, row->type == ARGUMENT_REAL)) {
        return refuse_number(row, text, err);
    }
    char *end;
    double value = strtod(text, &end);
    /* strtod stops early only under a locale with another decimal sign. */
    if (*end || !isfinite(value) || value < row->minimum || value > row->maximum) {
        return refuse_number(row, text, err);
    }
    if ((row->odd && (int)value % 2 == 0) || (row->nonzero && value == 0)) {
        return refuse_number(row, text, err);
    }
    store(row, target, value);
    return ST_OK;
}

/* Looks `text` up in a NULL-terminated list of names and writes its index through store(). */
static enum status parse_name(const struct argument *row, const char *const *names, const char *text,
                              void *target, struct error *err) {
    char list[128] = "";
    size_t used = 0;
    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            store(row, target, row->type == ARGUMENT_SWITCH ? i % 2 : i);
            return ST_OK;
        }
        const char *joint = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        int more = snprintf(list + used, sizeof list - used, "%s%s", joint, names[i]);
        used = more < (int)(sizeof list - used) ? used + (size_t)more : sizeof list - 1;
    }
    char buffer[ARGUMENT_ECHO_MAX];
    return fail_argument(err, row->name, "%s is %s, it must be %s", row->name, argument_echo(text, buffer),
                         list);
}

enum status argument_parse(const struct argument *row, const char *text, void *target, struct error *err) {
    static const char *const switches[] = {"false", "true", "0", "1", NULL}; /* odd places are on */
    switch (row->type) {
    case ARGUMENT_REAL:
    case ARGUMENT_WHOLE:
        return parse_number(row, text, target, err);
    case ARGUMENT_CHOICE:
        return parse_name(row, row->choices, text, target, err);
    case ARGUMENT_SWITCH:
        return parse_name(row, switches, text, target, err);
    case ARGUMENT_PARSED:
        return row->parse(row, text, (char *)target + row->offset, err);
    }
    return fail(err, ST_INTERNAL, "argument %s has no type", row->name);
}
