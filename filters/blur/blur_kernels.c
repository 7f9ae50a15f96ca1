/* SPDX-License-Identifier: MIT
 * The parts of the blur that are independent of its arguments: stages of the reduction, enlargement, border,
 * and the check of plans. */
#include <string.h>

#include "filters/blur/blur.h"

enum { STAGE_SHIFT_MAX = 3 }; /* a stage reduces by 8 at most: its sum, 8^4, divides 1 << 15 */

/* Weights box * box * box * box of g ones each: sum g^4, length 4 (g - 1) + 1. */
static void fill_stage(struct blur_stage *stage, unsigned shift) {
    unsigned step = 1u << shift;
    int full[2 * BLUR_STAGE_RADIUS_MAX + 1] = {1};
    unsigned length = 1;
    for (unsigned box = 0; box < 4; box++) {
        int next[2 * BLUR_STAGE_RADIUS_MAX + 1] = {0};
        for (unsigned i = 0; i < length; i++) {
            for (unsigned j = 0; j < step; j++) {
                next[i + j] += full[i];
            }
        }
        memcpy(full, next, sizeof full);
        length += step - 1;
    }
    stage->shift = (uint8_t)shift;
    stage->radius = (uint8_t)(length / 2);
    for (unsigned k = 0; k <= stage->radius; k++) {
        int weight = full[stage->radius + k] << (BLUR_WEIGHT_BITS - 4 * shift);
        stage->weight[k] = (int16_t)weight;
        stage->weight_float[k] = (float)weight / (1 << BLUR_WEIGHT_BITS);
    }
}

unsigned blur_stages(unsigned levels, struct blur_stage stage[BLUR_STAGES_MAX]) {
    unsigned count = 0;
    while (levels > 0 && count < BLUR_STAGES_MAX) {
        unsigned shift = levels < STAGE_SHIFT_MAX ? levels : STAGE_SHIFT_MAX;
        memset(&stage[count], 0, sizeof stage[count]);
        fill_stage(&stage[count++], shift);
        levels -= shift;
    }
    return count;
}

void blur_enlarge(unsigned levels, unsigned phase, int16_t weight[BLUR_TAPS_ENLARGE],
                  float weight_float[BLUR_TAPS_ENLARGE]) {
    /* The basis functions at t = i / f, times 6 f^3: whole numbers below 2^27. */
    int64_t f = 1 << levels;
    int64_t i = phase;
    int64_t r = f - i;
    const int64_t scaled[BLUR_TAPS_ENLARGE] = {
        r * r * r,
        3 * i * i * i - 6 * i * i * f + 4 * f * f * f,
        3 * r * r * r - 6 * r * r * f + 4 * f * f * f,
        i * i * i,
    };
    int64_t all = 6 * f * f * f;
    int rest = 1 << BLUR_WEIGHT_BITS;
    for (unsigned k = 0; k < BLUR_TAPS_ENLARGE; k++) {
        weight[k] = (int16_t)(((scaled[k] << BLUR_WEIGHT_BITS) + all / 2) / all);
        weight_float[k] = (float)((double)scaled[k] / (double)all);
        rest -= weight[k];
    }
    weight[2 * i <= f ? 1 : 2] += (int16_t)rest; /* to the nearer sample, the larger weight */
}

unsigned blur_border(enum pixel_model model, unsigned plane) {
    return model == PIXEL_YCBCR && plane > 0 ? 128 : 0;
}

static bool axis_valid(const struct blur_axis *axis) {
    unsigned longest = axis->levels ? BLUR_REDUCED_RADIUS : BLUR_RADIUS_MAX;
    if (axis->levels > BLUR_LEVELS_MAX || axis->radius < 1 || axis->radius > longest) {
        return false;
    }
    int sum = axis->weight[0];
    bool sound = axis->weight[0] >= 0;
    for (unsigned k = 0; k <= axis->radius; k++) {
        sum += k ? 2 * axis->weight[k] : 0;
        sound = sound && axis->weight[k] >= 0 && axis->weight_float[k] >= 0 && axis->weight_float[k] <= 1;
    }
    return sound && sum == 1 << BLUR_WEIGHT_BITS;
}

bool blur_plan_valid(const struct blur_plan *plan, const struct image_shape *shape) {
    if (plan->edge > EDGE_ZERO || !axis_valid(&plan->axis[0])) {
        return false;
    }
    if (shape->model != PIXEL_YCBCR) {
        return true;
    }
    return shape->chroma_shift_x <= 2 && shape->chroma_shift_y <= 2 &&
           axis_valid(&plan->axis[shape->chroma_shift_x]) && axis_valid(&plan->axis[shape->chroma_shift_y]);
}
