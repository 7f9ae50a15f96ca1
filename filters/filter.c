/* SPDX-License-Identifier: MIT */
#include "filters/filter.h"

#include <string.h>

static const struct filter *const filters[FILTER_COUNT] = {
#define FILTER(ID, name, type) [FILTER_##ID] = &filter_##name,
#include "filters/filters.def"
#undef FILTER
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

const void *step_plan(const struct step *step) {
    return &step->blur;
}

void *step_planned(struct step *step) {
    return &step->blur;
}
