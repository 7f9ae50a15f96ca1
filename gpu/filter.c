/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

static const struct gpu_filter *const filters[FILTER_COUNT] = {
#define FILTER(ID, name, type) [FILTER_##ID] = &gpu_filter_##name,
#include "filters/filters.def"
#undef FILTER
};

const struct gpu_filter *gpu_filter_get(enum filter_id id) {
    return filters[id];
}
