/* SPDX-License-Identifier: MIT
 * Tables of arguments: a row has the name, bounds, default and help of an argument, and parses text into a
 * field of a struct. */
#ifndef BLURD_FILTERS_ARGUMENT_ARGUMENT_H
#define BLURD_FILTERS_ARGUMENT_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum argument_type {
    ARGUMENT_REAL,   /* decimal number; finite; stored as double */
    ARGUMENT_WHOLE,  /* decimal integer; stored as int */
    ARGUMENT_CHOICE, /* one of `choices`; its index is stored as int */
    ARGUMENT_SET,    /* `choices` but the first, each once, separated by commas, or the first, for none of
                        them; a bit for each, from the second one, is stored as uint32_t */
    ARGUMENT_SWITCH, /* true and false in any case of letters, 1, 0; stored as bool */
    ARGUMENT_PARSED, /* parsed by the row's function `parse`; all zero is the default */
};

struct argument {
    const char *name;
    enum argument_type type;
    size_t offset;              /* in the target struct */
    double minimum, maximum;    /* inclusive; REAL and WHOLE */
    double initial;             /* default; CHOICE: index; SWITCH: 0 or 1; SET: the bits, and if there are
                                   any, the first of `choices` is refused */
    const char *const *choices; /* CHOICE, SET: NULL-terminated names */
    bool odd;                   /* WHOLE: even numbers are refused */
    double least;               /* REAL: smallest absolute value; 0: no limit */
    unsigned most;              /* PARSED: how often it may be given; 0: once */
    const char *unit;           /* follows numbers in messages, " pixels"; NULL: none */
    const char *help;           /* a sentence or two with the unit; Markdown */
    const char *form;           /* PARSED: its kind, in two words: "a matrix" */
    const char *example;        /* PARSED: a value */
    const char *without;        /* effect of leaving it out, where no default says it: "hard edges" */
    /* PARSED: parses `text` into `field`; see argument_parse. */
    enum status (*parse)(const struct argument *row, const char *text, void *field, struct error *err);
};

/* Sets every argument of the table (ended by a NULL name) to its default in *target. */
void arguments_default(const struct argument *table, void *target);

/* The row named `name`, or NULL. */
const struct argument *argument_find(const struct argument *table, const char *name);

/* Appends the names of the rows, separated by commas, to a text of `used` characters; returns its length. */
size_t arguments_list(const struct argument *table, char *text, size_t size, size_t used);

/* Parses `text` (zero-terminated) into *target. ST_ARGUMENT names argument, value and allowed range. No value
 * is clamped. */
enum status argument_parse(const struct argument *row, const char *text, void *target, struct error *err);

#endif
