/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/filters/filter_image.h"
#include "tests/filters/reference/reference_filters.h"

/* A sample on the curve, as docs/filters.md says it. */
static float on_curve(const struct adjust_plan *plan, unsigned depth, uint32_t sample) {
    if (!plan->curved) {
        return (float)sample;
    }
    if (depth == 8) {
        return plan->curve[sample];
    }
    uint32_t place[ADJUST_NODES];
    for (unsigned n = 0; n < ADJUST_NODES; n++) {
        place[n] = n < 32 ? n : (16 + n % 16) << (n / 16 - 1);
    }
    unsigned first = 0;
    while (place[first + 2] <= sample) {
        first += 2;
    }
    const float *node = plan->curve + first;
    float at = ((float)sample - (float)place[first + 1]) / (float)(place[first + 1] - place[first]);
    float slope = (node[2] - node[0]) * 0.5f, bend = (node[2] + node[0]) * 0.5f - node[1];
    return node[1] + at * (slope + at * bend);
}

static unsigned adjusted(const struct adjust_plan *plan, const struct image *source, unsigned index,
                         uint32_t x, uint32_t y, unsigned c) {
    unsigned colours = source->plane[index].channels - image_pixel_has_alpha(source->model);
    unsigned row = index + c, first = source->model == PIXEL_YCBCR ? row : 0;
    float sum = 0;
    for (unsigned k = 0; k < colours; k++) {
        float value = on_curve(plan, source->depth, test_sample(source, index, x, y, k));
        float product = plan->matrix[row][first + k] * value;
        sum = k == 0 ? product : sum + product;
    }
    sum = floorf(sum + plan->matrix[row][3] + 0.5f);
    float white = source->depth == 8 ? 255 : 65535;
    return (unsigned)(sum < 0 ? 0 : sum > white ? white : sum);
}

void reference_adjust(const struct adjust_plan *plan, const struct image *source,
                      const struct image *target) {
    bool alpha = image_pixel_has_alpha(source->model);
    for (unsigned i = 0; i < target->plane_count; i++) {
        for (uint32_t y = 0; y < target->plane[i].height; y++) {
            for (uint32_t x = 0; x < target->plane[i].width; x++) {
                for (unsigned c = 0; c < target->plane[i].channels; c++) {
                    bool last = alpha && c + 1 == target->plane[i].channels;
                    unsigned sample = last ? test_sample(source, i, x, y, source->plane[i].channels - 1u)
                                           : adjusted(plan, source, i, x, y, c);
                    test_put(target, i, x, y, c, sample);
                }
            }
        }
    }
}
