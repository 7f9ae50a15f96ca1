/* SPDX-License-Identifier: MIT
 * What a filter is: a name, help, a table of arguments, and a function that turns
 * arguments into a plan. A plan is plain data; backends read only that. No pixel is
 * touched in this folder. */
#ifndef BLURD_FILTERS_FILTER_H
#define BLURD_FILTERS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/image.h"
#include "core/status.h"
#include "filters/blur.h"
#include "filters/convolve.h"
#include "filters/pixelate.h"
#include "filters/sharpen.h"
#include "filters/stats.h"

enum filter_id { FILTER_BLUR, FILTER_CONVOLVE, FILTER_PIXELATE, FILTER_SHARPEN, FILTER_STATS, FILTER_COUNT };

enum argument_type {
    ARGUMENT_REAL,   /* decimal number; finite; stored as double */
    ARGUMENT_WHOLE,  /* decimal integer; stored as int */
    ARGUMENT_CHOICE, /* one of `choices`; its index is stored as int */
    ARGUMENT_SWITCH, /* true and false in any case of letters, 1, 0; stored as bool */
    ARGUMENT_PARSED, /* what its function `parse` takes; all zero is its default */
};

/* One argument: the only place where its name, bounds, default and help stand. */
struct argument {
    const char *name;
    enum argument_type type;
    size_t offset;              /* in the struct that is filled */
    double minimum, maximum;    /* inclusive; REAL and WHOLE */
    double initial;             /* default; CHOICE: index; SWITCH: 0 or 1 */
    const char *const *choices; /* CHOICE: NULL-terminated names */
    bool odd;                   /* WHOLE: even numbers are refused */
    double least;               /* REAL: what is nearer to 0 is refused; 0: nothing is */
    unsigned most;              /* PARSED: how often it may be given; 0: once */
    const char *unit;           /* follows numbers in sentences, " pixels"; NULL: none */
    const char *help;           /* a sentence or two with the unit; Markdown */
    const char *form;           /* PARSED: what it is, in two words: "a matrix" */
    const char *example;        /* PARSED: a value */
    const char *without;        /* what holds when it is not given, where no value says it: "hard edges" */
    /* PARSED: takes `text` into the struct at `offset`; as argument_parse. */
    enum status (*parse)(const struct argument *row, const char *text, void *field, struct error *err);
};

/* Sets every argument of the table (ended by a NULL name) to its default in *target. */
void arguments_default(const struct argument *table, void *target);

/* The row named `name`, or NULL. */
const struct argument *argument_find(const struct argument *table, const char *name);

/* Appends the names of the rows to a text of `used` characters, separated by commas, and returns its length.
 */
size_t arguments_list(const struct argument *table, char *text, size_t size, size_t used);

/* Parses `text` (zero-terminated) into *target. ST_ARGUMENT names argument, value and
 * the allowed range. Nothing is clamped. */
enum status argument_parse(const struct argument *row, const char *text, void *target, struct error *err);

/* Samples that a step of 1 of 255 is: 1, or 257 for 16 bits. */
double sample_step(const struct image_shape *shape);

/* One step of a chain, planned for one picture. */
struct step {
    enum filter_id filter;
    union {
        struct blur_plan blur;
        struct convolve_plan convolve;
        struct pixelate_plan pixelate;
        struct sharpen_plan sharpen;
    };
};

struct filter {
    const char *name;
    const char *help;
    const struct argument *arguments;
    /* Turns arguments into a plan for pictures of this shape. The step is all zero before. */
    enum status (*plan)(const void *arguments, const struct image_shape *shape, struct step *step,
                        struct error *err);
    /* Whether planes of PIXEL_YCBCR can be filtered as they are stored; NULL: never. */
    bool (*planar)(const void *arguments, const struct image_shape *shape);
    /* Whether every number of the step is one that `plan` could have made for a picture of this shape. */
    bool (*valid)(const struct step *step, const struct image_shape *shape);
};

/* The arguments of any filter. */
union filter_arguments {
    struct blur_arguments blur;
    struct convolve_arguments convolve;
    struct pixelate_arguments pixelate;
    struct sharpen_arguments sharpen;
};

/* The filter of that id, or by its name (NULL when unknown). */
const struct filter *filter_get(enum filter_id id);
const struct filter *filter_find(const char *name);

/* The number of one of those. */
enum filter_id filter_id(const struct filter *filter);

#endif
