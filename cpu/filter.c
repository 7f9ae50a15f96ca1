/* SPDX-License-Identifier: MIT */
#include "cpu/filter.h"

static const struct cpu_filter *const filters[FILTER_COUNT] = {
#define FILTER(ID, name, type) [FILTER_##ID] = &cpu_filter_##name,
#include "filters/filters.def"
#undef FILTER
};

const struct cpu_filter *cpu_filter_get(enum filter_id id) {
    return filters[id];
}
