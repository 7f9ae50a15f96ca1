/* SPDX-License-Identifier: MIT
 * Arguments of the blur, and the plan made from them; docs/filters.md has the arithmetic. */
#include "filters/blur/blur.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"

static const struct argument blur_table[] = {
    {
        .name = "sigma",
        .type = ARGUMENT_REAL,
        .offset = offsetof(struct blur_arguments, sigma),
        .minimum = 0.1,
        .maximum = 500,
        .initial = 1.5,
        .unit = " pixels",
        .help = "Standard deviation of the Gaussian, in pixels of the upright picture.",
    },
    {
        .name = "kernel_size",
        .type = ARGUMENT_WHOLE,
        .offset = offsetof(struct blur_arguments, kernel_size),
        .minimum = 3,
        .maximum = 99,
        .initial = 0,
        .odd = true,
        .unit = " pixels",
        .help = "Cut the kernel to this many taps in each direction and renormalise. On subsampled chroma "
                "planes the radius shrinks with the plane, rounded up.",
        .without = "the full Gaussian",
    },
    {
        .name = "edge",
        .type = ARGUMENT_CHOICE,
        .offset = offsetof(struct blur_arguments, edge),
        .initial = EDGE_CLAMP,
        .choices = edge_names,
        .help = "What lies outside: the edge pixel again (`clamp`), the picture mirrored about it (`mirror`: "
                "dcb|abcd|cba), its other side (`wrap`), black (`zero`; transparent black with alpha).",
    },
    {.name = NULL},
};

/* From this sigma on the direct filter needs more than 2 * 16 + 1 taps. Reduction by 2 leaves a sigma of at
 * least 1.8, above which the reduction errs by less than 0.1 of 255. */
static const double sigma_reduced = 4;

/* A Gaussian cut at 4 sigma lacks 6e-5 of its weight: 0.016 of 255. */
static const double tail = 4;

/* Total error of the taps after rounding to whole weights. */
static double weight_error(double centre, double pair) {
    return fabs(centre) + 2 * fabs(pair);
}

/* Rounds to 15 bits so that all taps sum to 32768 exactly and the total absolute error is smallest: each pair
 * is rounded to nearest, the centre takes the rest, and pairs move by one while the centre gains more than
 * they lose. Each step takes the best move, so the result does not depend on the order of taps. */
static void round_weights(struct blur_axis *axis, const double *exact) {
    const int one = 1 << BLUR_WEIGHT_BITS;
    int centre = one;
    int weight[BLUR_RADIUS_MAX + 1];
    for (unsigned k = 1; k <= axis->radius; k++) {
        weight[k] = (int)floor(exact[k] * one + 0.5);
        centre -= 2 * weight[k];
    }
    for (;;) {
        double left = centre - exact[0] * one; /* above 0 when the centre is too large */
        int move = left > 0 ? 1 : -1;
        unsigned best = 0;
        double gain = 1e-9; /* ties within the error of exp() move nothing */
        for (unsigned k = 1; k <= axis->radius; k++) {
            double error = weight[k] - exact[k] * one;
            double won = weight_error(left, error) - weight_error(left - 2 * move, error + move);
            if (won > gain && weight[k] + move >= 0) {
                best = k;
                gain = won;
            }
        }
        if (best == 0) {
            break;
        }
        weight[best] += move;
        centre -= 2 * move;
    }
    if (centre == one) { /* 32768 does not fit in 16 bits; an error of 2 of 32768 is 0.016 of 255 */
        weight[1]++;
        centre -= 2;
    }
    axis->weight[0] = (int16_t)centre;
    for (unsigned k = 1; k <= axis->radius; k++) {
        axis->weight[k] = (int16_t)weight[k];
    }
}

static void plan_weights(struct blur_axis *axis, double sigma) {
    double exact[BLUR_RADIUS_MAX + 1];
    double sum = 0;
    for (unsigned k = 0; k <= axis->radius; k++) {
        exact[k] = exp(-(double)(k * k) / (2 * sigma * sigma));
        sum += k ? 2 * exact[k] : exact[k];
    }
    for (unsigned k = 0; k <= axis->radius; k++) {
        exact[k] /= sum;
        axis->weight_float[k] = (float)exact[k];
    }
    round_weights(axis, exact);
}

/* Plans an axis whose plane is reduced by 1 << shift against the picture. */
static void plan_axis(struct blur_axis *axis, const struct blur_arguments *arguments, unsigned shift) {
    memset(axis, 0, sizeof *axis);
    double sigma = arguments->sigma / (1 << shift);
    if (arguments->kernel_size) {
        unsigned radius = ((unsigned)arguments->kernel_size / 2 + (1u << shift) - 1) >> shift;
        axis->radius = (uint8_t)radius;
    } else if (sigma < sigma_reduced) {
        axis->radius = (uint8_t)ceil(tail * sigma);
    } else {
        unsigned factor = 2; /* the largest power of two <= sigma / 2 */
        for (axis->levels = 1; axis->levels < BLUR_LEVELS_MAX && 4 * factor <= sigma; axis->levels++) {
            factor *= 2;
        }
        /* Variances add: the stages of the reduction contribute (f^2 - 1) / 3 and the enlargement f^2 / 3,
         * and a sample of the reduced picture is f pixels wide. */
        double spent = (2.0 * factor * factor - 1) / 3;
        sigma = sqrt(sigma * sigma - spent) / factor;
        axis->radius = (uint8_t)ceil(tail * sigma);
    }
    plan_weights(axis, sigma);
}

void blur_plan_make(struct blur_plan *plan, const struct blur_arguments *arguments,
                    const struct image_shape *shape) {
    memset(plan, 0, sizeof *plan); /* also the padding, as plans are compared and hashed */
    plan->edge = (uint8_t)arguments->edge;
    plan_axis(&plan->axis[0], arguments, 0);
    if (shape->model == PIXEL_YCBCR) {
        const unsigned shifts[] = {shape->chroma_shift_x, shape->chroma_shift_y};
        for (unsigned i = 0; i < 2; i++) {
            plan_axis(&plan->axis[shifts[i]], arguments, shifts[i]);
        }
    }
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)err; /* all combinations of arguments are valid */
    blur_plan_make(planned, arguments, shape);
    return ST_OK;
}

/* Weights sum to 1, so planes can be blurred as they are stored. */
static bool planar(const void *arguments, const struct image_shape *shape) {
    (void)arguments;
    (void)shape;
    return true;
}

static bool valid(const void *planned, const struct image_shape *shape) {
    return blur_plan_valid(planned, shape);
}

/* The enlargement reads two low-resolution samples to a side at most, of which each is the sum of the radius
 * around it; the reductions together read 2 (f - 1) samples to a side. */
struct filter_reach blur_plan_reach(const struct blur_plan *plan) {
    struct filter_reach reach = {.grid = 1, .wraps = plan->edge == EDGE_WRAP};
    for (unsigned shift = 0; shift < sizeof plan->axis / sizeof plan->axis[0]; shift++) {
        const struct blur_axis *axis = &plan->axis[shift];
        uint32_t factor = 1u << axis->levels;
        uint32_t samples = axis->levels ? (axis->radius + 2u) * factor + 2 * (factor - 1) : axis->radius;
        reach.pixels = max_u32(reach.pixels, samples << shift);
        reach.grid = axis->levels ? max_u32(reach.grid, factor << shift) : reach.grid;
    }
    return reach;
}

static struct filter_reach reach(const void *planned) {
    return blur_plan_reach(planned);
}

static bool paints(const void *arguments) {
    return ((const struct blur_arguments *)arguments)->edge == EDGE_ZERO;
}

static uint32_t redacts(const void *arguments) {
    (void)arguments;
    return 0;
}

/* Larger blurs run in stages, and longer with edges that repeat the picture. The two times of a sample are as
 * 1 to 3 (bench/cost.py, AVX2). */
static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    static const float tap_ns[2] = {0.02F, 0.04F}; /* a sample and tap of kernel_size */
    const float stages_sigma = 8, repeated = 4;
    const struct blur_arguments *blur = arguments;
    float ns = filter_blur.sample_ns[real] + tap_ns[real] * (float)blur->kernel_size;
    bool repeats = blur->edge == EDGE_MIRROR || blur->edge == EDGE_WRAP;
    (void)plan;
    return (repeats && blur->sigma >= stages_sigma ? ns * repeated : ns) * cost_samples(shape, COST_AROUND);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct blur_arguments){.sigma = 1.5}, false},
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct blur_arguments){.sigma = 20}, false},
    {FILTER_SAMPLE_PLANES, &(const struct blur_arguments){.sigma = 7}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 8), &(const struct blur_arguments){.sigma = 3}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_GRAY, 16), &(const struct blur_arguments){.sigma = 9}, false},
    {.arguments = NULL},
};

const struct filter filter_blur = {
    .name = "blur",
    .help = "Gaussian blur.",
    .example = "sigma=8",
    .arguments = blur_table,
    .plan = plan,
    .planar = planar,
    .valid = valid,
    .reach = reach,
    .paints = paints,
    .redacts = redacts,
    .sample_ns = {0.5F, 1.5F},
    .cost = cost,
    .samples = samples,
};
