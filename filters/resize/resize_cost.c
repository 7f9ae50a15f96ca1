/* SPDX-License-Identifier: MIT */
#include "filters/blur/blur.h"
#include "filters/resize/resize.h"

/* A resize, in integers and with 16 bits or alpha: a sample of the source, a vertical sum, a sample of the
 * result, and a tap of either sum. Then the computation of a weight. */
static const float source_ns[2] = {0.18F, 0.35F}, down_ns[2] = {0.2F, 0.3F}, result_ns[2] = {0.35F, 0.7F};
static const float sum_tap_ns = 0.035F, resize_weight_ns = 12, background_ns = 0.1F;

/* Sums along rows are made for RESIZE_GROUP rows at a time. */
static float picture_ns(const struct resize_plan *plan, const struct cost_shape *shape, bool real) {
    enum { RESIZE_GROUP = 16 };
    int32_t width = (int32_t)shape->width, height = (int32_t)shape->height;
    float taps_x = (float)resize_taps_most(plan->kernel, plan->x.scale, width);
    float taps_y = (float)resize_taps_most(plan->kernel, plan->y.scale, height);
    float columns = (float)(plan->x.scale * plan->x.count), rows = (float)(plan->y.scale * plan->y.count);
    float sums = columns * (float)plan->y.count;
    float results = (float)plan->x.count * cost_at_least(plan->y.count, RESIZE_GROUP);
    float ns = columns * rows * source_ns[real] + sums * down_ns[real] + results * result_ns[real];
    float weights = (float)plan->x.count * taps_x + (float)plan->y.count * taps_y;
    ns += resize_has_background(plan) ? (float)plan->x.canvas * (float)plan->y.canvas * background_ns : 0;
    return shape->samples * (ns + sum_tap_ns * (sums * taps_y + results * taps_x)) +
           resize_weight_ns * weights;
}

/* A blurred background is a second resize, and a blur of the canvas. */
float resize_cost(const struct resize_plan *plan, const struct cost_shape *shape, bool real) {
    float ns = picture_ns(plan, shape, real);
    if (resize_is_blurred(plan)) {
        const struct resize_plan ground = resize_ground_plan(plan);
        struct cost_shape canvas = *shape;
        canvas.width = plan->x.canvas;
        canvas.height = plan->y.canvas;
        ns += picture_ns(&ground, shape, real) +
              filter_blur.sample_ns[real] * cost_samples(&canvas, COST_AROUND);
    }
    return ns;
}
