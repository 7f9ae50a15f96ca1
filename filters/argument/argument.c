/* SPDX-License-Identifier: MIT */
#include "filters/argument/argument.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "filters/argument/value.h"

/* Only this function writes an argument, so type and size always agree. */
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
    case ARGUMENT_SET:
        memcpy(field, &whole, sizeof whole);
        break;
    case ARGUMENT_SWITCH:
        memcpy(field, &on, sizeof on);
        break;
    case ARGUMENT_PARSED:
        break; /* its parser checks */
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

size_t arguments_list(const struct argument *table, char *text, size_t size, size_t used) {
    for (const struct argument *row = table; row->name && used < size; row++) {
        int length = snprintf(text + used, size - used, "%s%s", used ? ", " : "", row->name);
        used += length > 0 ? (size_t)length : 0;
    }
    return used;
}

static enum status refuse_number(const struct argument *row, const char *text, struct error *err) {
    char buffer[VALUE_QUOTE_MAX];
    char least[48] = "";
    const char *kind = row->type == ARGUMENT_REAL ? ""
                       : row->odd                 ? "an odd whole number "
                                                  : "a whole number ";
    if (row->least > 0) {
        snprintf(least, sizeof least, " and not nearer to 0 than %g", row->least);
    }
    return fail_argument(err, row->name, "%s is %s, it must be %sfrom %.10g to %.10g%s%s", row->name,
                         value_quote(text, buffer), kind, row->minimum, row->maximum,
                         row->unit ? row->unit : "", least);
}

static enum status parse_number(const struct argument *row, const char *text, void *target,
                                struct error *err) {
    double value;
    if (!value_number(text, row->type == ARGUMENT_REAL, &value) || value < row->minimum ||
        value > row->maximum) {
        return refuse_number(row, text, err);
    }
    if ((row->odd && (int)value % 2 == 0) || fabs(value) < row->least) {
        return refuse_number(row, text, err);
    }
    store(row, target, value);
    return ST_OK;
}

static enum status refuse_name(const struct argument *row, const char *const *names, const char *text,
                               struct error *err) {
    char list[128] = "", buffer[VALUE_QUOTE_MAX];
    size_t used = 0;
    for (unsigned i = 0; names[i]; i++) {
        const char *joint = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        int more = snprintf(list + used, sizeof list - used, "%s%s", joint, names[i]);
        used = more < (int)(sizeof list - used) ? used + (size_t)more : sizeof list - 1;
    }
    return fail_argument(
        err, row->name, "%s is %s, it must be %s%s", row->name, value_quote(text, buffer), list,
        row->type == ARGUMENT_SET && row->choices[2] ? "; several names, each once, are separated by commas"
                                                     : "");
}

/* Finds `text` in a NULL-terminated list of names and writes its index through store(). A switch ignores
 * case, since generated clients write True. */
static enum status parse_name(const struct argument *row, const char *const *names, const char *text,
                              void *target, struct error *err) {
    bool is_switch = row->type == ARGUMENT_SWITCH;
    for (unsigned i = 0; names[i]; i++) {
        if (is_switch ? strcasecmp(names[i], text) == 0 : strcmp(names[i], text) == 0) {
            store(row, target, is_switch ? i % 2 : i);
            return ST_OK;
        }
    }
    return refuse_name(row, names, text, err);
}

/* The bit of the name at the beginning of `text`; 0: there is none. */
static unsigned bit_of(const char *const *names, const char *text, size_t length) {
    for (unsigned i = 0; names[i]; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) {
            return 1U << i;
        }
    }
    return 0;
}

static enum status parse_set(const struct argument *row, const char *text, void *target, struct error *err) {
    bool may_be_empty = row->initial == 0, more = !may_be_empty || strcmp(text, row->choices[0]) != 0;
    unsigned set = 0;
    for (const char *name = text; more;) {
        size_t length = strcspn(name, ",");
        unsigned bit = bit_of(row->choices + 1, name, length);
        if (!bit || (set & bit)) {
            return refuse_name(row, row->choices + !may_be_empty, text, err);
        }
        set |= bit;
        more = name[length] == ',';
        name += length + 1;
    }
    store(row, target, set);
    return ST_OK;
}

enum status argument_parse(const struct argument *row, const char *text, void *target, struct error *err) {
    static const char *const switches[] = {"false", "true", "0", "1", NULL}; /* odd indices are on */
    switch (row->type) {
    case ARGUMENT_REAL:
    case ARGUMENT_WHOLE:
        return parse_number(row, text, target, err);
    case ARGUMENT_CHOICE:
        return parse_name(row, row->choices, text, target, err);
    case ARGUMENT_SET:
        return parse_set(row, text, target, err);
    case ARGUMENT_SWITCH:
        return parse_name(row, switches, text, target, err);
    case ARGUMENT_PARSED:
        return row->parse(row, text, (char *)target + row->offset, err);
    }
    return fail(err, ST_INTERNAL, "argument %s has no type", row->name);
}
