/* SPDX-License-Identifier: MIT
 * The table of filters, and a step of a chain: a filter planned for one picture. */
#ifndef BLURD_FILTERS_FILTER_H
#define BLURD_FILTERS_FILTER_H

#include "filters/definition.h"

/* Only the headers that the table includes. */
#define FILTER(ID, name, type)
#include "filters/filters.def"
#undef FILTER

enum filter_id {
#define FILTER(ID, name, type) FILTER_##ID,
#include "filters/filters.def"
#undef FILTER
    FILTER_COUNT
};

struct step {
    enum filter_id filter;
    union {
#define FILTER(ID, name, type) struct type##_plan name;
#include "filters/filters.def"
#undef FILTER
    };
};

union filter_arguments {
#define FILTER(ID, name, type) struct type##_arguments name;
#include "filters/filters.def"
#undef FILTER
};

/* The plan of a step, whichever filter's it is. */
const void *step_plan(const struct step *step);
void *step_planned(struct step *step);

/* The filter of that id, or by its name (NULL when unknown). */
const struct filter *filter_get(enum filter_id id);
const struct filter *filter_find(const char *name);

enum filter_id filter_id(const struct filter *filter);

#endif
