/* SPDX-License-Identifier: MIT */
#include "server/planner/cost_filters.h"

#include <math.h>

#include "filters/window.h"

static const float linear_ns = 2.5F; /* a sample: to 16 bits of linear light, or back */
static const float mask_ns = 0.7F;   /* a pixel: the mask, and what is copied outside of it */
static const float mixed_ns = 2.5F;  /* a pixel of the part that is filtered: mixing, and blocks of a JPEG */
static const float row_ns = 35;      /* a row of a region, each time that it is drawn */
static const float edge_ns = 13;     /* a row and edge of a polygon */
static const float area_ns = 0.03F;  /* a pixel inside */
static const float redacted_ns[2] = {0.8F, 2}; /* a sample inside that is summed and replaced */
enum { REDACT_DRAWS = 3 };                     /* for the mask, the mean and the replacement */

static float operation_ns(const struct operation *operation, const struct step *step,
                          const struct cost_shape *shape, bool real) {
    const struct filter *filter = operation->filter;
    struct cost_least least = filter->around ? COST_AROUND : COST_ALONE;
    return filter->cost ? filter->cost(&operation->arguments, step ? &step->blur : NULL, shape, real)
                        : filter->sample_ns[real] * cost_samples(shape, least);
}

/* Returns the part of [from, to) within a side of the picture. */
static float cut(double from, double to, uint32_t side) {
    double length = fmin(to, side) - fmax(from, 0);
    return length > 0 ? (float)length : 0;
}

/* Drawing and redacting the regions. Assumes an upright picture, as nearly all are. */
static float regions_ns(const struct parameters *parameters, const struct cost_shape *shape) {
    const struct input_arguments *input = &parameters->input;
    bool redact = input->mode == MODE_REDACT;
    float ns = 0, samples = 0;
    for (uint32_t i = 0; i < input->region.count; i++) {
        const struct region *region = region_get(&input->region, i);
        struct region_box box = region_box(&input->region, i, shape->width, shape->height);
        float rows = cut(box.y0, box.y1, shape->height), area = rows * cut(box.x0, box.x1, shape->width);
        float edges = region->form == REGION_POLYGON ? (float)region->count / 2 : 1;
        ns += rows * (row_ns + edge_ns * edges) + area_ns * area;
        samples += area * shape->samples;
    }
    if (!redact) {
        return ns;
    }
    bool single = input->invert || input->mask.data || !parameters_select(parameters);
    samples = single ? cost_samples(shape, COST_ALONE) : samples;
    return ns * REDACT_DRAWS + samples * redacted_ns[shape->real];
}

/* The part of the picture that cores filter (filters/window.h), as far as the regions of the request tell:
 * masks of forms and finds of detectors may be anywhere. */
static struct crop_plan filtered_part(const struct parameters *parameters, const struct chain *chain,
                                      const struct image_shape *shape) {
    const struct input_arguments *input = &parameters->input;
    struct crop_plan part = {0, 0, shape->width, shape->height};
    if (chain->count == 0 || input->region.count == 0 || input->invert || input->mask.data ||
        parameters_detect(parameters)) {
        return part;
    }
    double x0 = shape->width, y0 = shape->height, x1 = 0, y1 = 0;
    const double soft = input->feather > 0 ? 2.5 * input->feather + 2 : 0;
    for (uint32_t i = 0; i < input->region.count; i++) {
        struct region_box box = region_box(&input->region, i, shape->width, shape->height);
        x0 = fmin(x0, box.x0 - soft), y0 = fmin(y0, box.y0 - soft);
        x1 = fmax(x1, box.x1 + soft), y1 = fmax(y1, box.y1 + soft);
    }
    x0 = floor(fmax(x0, 0)), y0 = floor(fmax(y0, 0));
    x1 = ceil(fmin(x1, shape->width)), y1 = ceil(fmin(y1, shape->height));
    if (x0 >= x1 || y0 >= y1) {
        return (struct crop_plan){0};
    }
    const struct crop_plan covered = {(uint32_t)x0, (uint32_t)y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
    return window_of(chain, shape, &covered);
}

float cost_filters_ns(const struct parameters *parameters, const struct chain *chain,
                      const struct image_shape *shape) {
    const struct input_arguments *input = &parameters->input;
    const struct cost_shape first = cost_shape_of(shape);
    bool linear = input->colorspace == COLORSPACE_LINEAR;
    const struct image_shape result = chain_result(chain, shape);
    const struct cost_shape last = cost_shape_of(&result);
    float converted = cost_samples(&first, COST_ALONE) + cost_samples(&last, COST_ALONE);
    float ns = linear ? linear_ns * converted : 0;
    const bool selects = parameters_select(parameters);
    const struct crop_plan part = filtered_part(parameters, chain, shape);
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        struct image_shape shaped = chain_shape(chain, shape, operation->filter->copies ? i + 1 : i);
        struct cost_shape worked = cost_shape_of(&shaped);
        worked.wide |= linear;
        if (selects && i < chain_masked(chain)) {
            worked.width = part.width;
            worked.height = part.height;
        }
        const struct step *step = i < chain->count ? &chain->step[i] : NULL;
        ns += operation_ns(operation, step, &worked, worked.real || linear);
    }
    if (selects) {
        const struct cost_shape mask = {.width = shape->width, .height = shape->height, .samples = 1};
        ns += mask_ns * cost_samples(&mask, COST_ALONE) + mixed_ns * (float)part.width * (float)part.height;
        ns += input->feather > 0 ? filter_blur.sample_ns[false] * cost_samples(&mask, COST_AROUND) : 0;
    }
    return ns + regions_ns(parameters, &first);
}

float cost_filters_device_ns(const struct parameters *parameters, const struct chain *chain,
                             const struct image_shape *shape) {
    float ns = 0;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct image_shape read = chain_shape(chain, shape, i);
        const struct cost_shape worked = cost_shape_of(&read);
        ns += parameters->ops.operation[i].filter->device_sample_ns * cost_samples(&worked, COST_ALONE);
    }
    return ns;
}
