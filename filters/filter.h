/* SPDX-License-Identifier: MIT
 * The table of filters, and what is made of the arguments of one: a step of a chain. */
#ifndef BLURD_FILTERS_FILTER_H
#define BLURD_FILTERS_FILTER_H

#include "filters/blur.h"
#include "filters/convolve.h"
#include "filters/definition.h"
#include "filters/pixelate.h"
#include "filters/sharpen.h"
#include "filters/stats.h"

enum filter_id { FILTER_BLUR, FILTER_CONVOLVE, FILTER_PIXELATE, FILTER_SHARPEN, FILTER_STATS, FILTER_COUNT };

/* One step of a chain, planned for one picture. */
struct step {
    enum filter_id filter;
    union { /* a filter's functions get the address of the union */
        struct blur_plan blur;
        struct convolve_plan convolve;
        struct pixelate_plan pixelate;
        struct sharpen_plan sharpen;
    };
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

/* The id of a filter of the table. */
enum filter_id filter_id(const struct filter *filter);

#endif
