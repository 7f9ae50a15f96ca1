/* SPDX-License-Identifier: MIT */
#include "cpu/stages.h"

#include "cpu/filter.h"

static bool reports(const struct step *step) {
    const struct cpu_filter *filter = cpu_filter_get(step->filter);
    return filter->reports && filter->reports(step_plan(step));
}

/* Rows are adjusted where they are, and so keep their shape. */
static bool is_joined(const struct chain *chain, const struct image_shape *shape, uint32_t step) {
    if (step + 1 >= chain->count || !reports(&chain->step[step]) ||
        chain->step[step + 1].filter != FILTER_ADJUST) {
        return false;
    }
    struct image_shape made = chain_shape(chain, shape, step + 1);
    struct image_shape adjusted = chain_shape(chain, shape, step + 2);
    return image_same_shape(&made, &adjusted);
}

static bool is_targets_turn(const struct stages *stages, uint32_t stage) {
    return (stages->count - stage) % 2 == 1;
}

struct stages stages_of(const struct chain *chain, const struct image_shape *shape, bool masked) {
    struct stages stages = {0};
    for (uint32_t step = 0; step < chain->count; step++) {
        step += !masked && is_joined(chain, shape, step);
        stages.last[stages.count++] = (uint8_t)step;
    }
    struct image_shape result = chain_result(chain, shape);
    for (uint32_t i = 0; i + 1 < stages.count; i++) {
        struct image image;
        struct image_shape made = chain_shape(chain, shape, stages.last[i] + 1u);
        size_t bytes = image_layout(&image, &made);
        if (!is_targets_turn(&stages, i)) {
            stages.spare = bytes > stages.spare ? bytes : stages.spare;
        } else if (!image_same_shape(&made, &result)) {
            stages.target = bytes > stages.target ? bytes : stages.target;
        }
    }
    return stages;
}

size_t stages_bytes(const struct stages *stages) {
    return stages->spare + stages->target;
}

uint32_t stages_first(const struct stages *stages, uint32_t stage) {
    return stage > 0 ? stages->last[stage - 1] + 1u : 0;
}

struct image stages_target(const struct stages *stages, const struct chain_run *run, uint32_t stage,
                           uint8_t *const memory[2]) {
    const struct image_shape source = image_shape(run->source), result = image_shape(run->target);
    struct image_shape shape = chain_shape(run->chain, &source, stages->last[stage] + 1u);
    bool target = is_targets_turn(stages, stage);
    if (target && image_same_shape(&shape, &result)) {
        return *run->target;
    }
    struct image image;
    image_layout(&image, &shape);
    image_place(&image, memory[target]);
    return image;
}
