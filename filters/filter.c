/* SPDX-License-Identifier: MIT */
#include "filters/filter.h"

#include <string.h>

static const struct filter *const filters[FILTER_COUNT] = {
    [FILTER_ADJUST] = &filter_adjust,     [FILTER_BLUR] = &filter_blur,
    [FILTER_CONVOLVE] = &filter_convolve, [FILTER_CROP] = &filter_crop,
    [FILTER_DETECT] = &filter_detect,     [FILTER_DILATE] = &filter_dilate,
    [FILTER_ERODE] = &filter_erode,       [FILTER_MEDIAN] = &filter_median,
    [FILTER_PIXELATE] = &filter_pixelate, [FILTER_PLACEHOLDER] = &filter_placeholder,
    [FILTER_RESIZE] = &filter_resize,     [FILTER_ROTATE] = &filter_rotate,
    [FILTER_SHARPEN] = &filter_sharpen,   [FILTER_STATS] = &filter_stats,
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
