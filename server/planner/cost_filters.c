/* SPDX-License-Identifier: MIT */
#include "server/planner/cost_filters.h"

#include <math.h>

static const float linear_ns = 2.5F; /* a sample: to 16 bits of linear light, or back */
static const float mask_ns = 3;      /* a pixel: the mask, mixing, and the touched blocks of a JPEG */
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

float cost_filters_ns(const struct parameters *parameters, const struct chain *chain,
                      const struct image_shape *shape) {
    const struct input_arguments *input = &parameters->input;
    const struct cost_shape first = cost_shape_of(shape);
    bool linear = input->colorspace == COLORSPACE_LINEAR;
    const struct image_shape result = chain_result(chain, shape);
    const struct cost_shape last = cost_shape_of(&result);
    float converted = cost_samples(&first, COST_ALONE) + cost_samples(&last, COST_ALONE);
    float ns = linear ? linear_ns * converted : 0;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        struct image_shape shaped = chain_shape(chain, shape, operation->filter->copies ? i + 1 : i);
        struct cost_shape worked = cost_shape_of(&shaped);
        worked.wide |= linear;
        const struct step *step = i < chain->count ? &chain->step[i] : NULL;
        ns += operation_ns(operation, step, &worked, worked.real || linear);
    }
    if (parameters_select(parameters)) {
        const struct cost_shape mask = {.width = shape->width, .height = shape->height, .samples = 1};
        ns += mask_ns * cost_samples(&mask, COST_ALONE);
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
