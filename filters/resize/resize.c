/* SPDX-License-Identifier: MIT */
#include "filters/resize/resize.h"

#include <math.h>

#include "detect/detectors.h"
#include "filters/argument/colour.h"
#include "filters/colour/light.h"

static enum status check(const void *arguments, struct error *err) {
    const struct resize_arguments *resize = arguments;
    bool box = resize->width || resize->height;
    if (box && resize->scale > 0) {
        return fail_argument(err, "scale", "scale and %s are given, only one of them can be",
                             resize->width ? "width" : "height");
    }
    if (!box && resize->scale <= 0) {
        return fail_argument(err, "width", "resize needs width, height or scale");
    }
    if (resize->gravity.detector && (resize->fit != RESIZE_COVER || !resize->width || !resize->height)) {
        return fail_argument(err, "gravity",
                             "gravity=%s needs fit=cover with width and height, which cuts something off",
                             detector_get((enum detector_id)(resize->gravity.detector - 1))->name);
    }
    return ST_OK;
}

/* ---- geometry ---- */

/* The factors of both sides. A side that is not given follows from the other one. */
struct factors {
    double x, y;
};

static struct factors choose_factors(const struct resize_arguments *resize, const struct image_shape *shape) {
    double x = resize->scale, y = resize->scale;
    if (resize->scale <= 0) {
        x = (double)resize->width / shape->width;
        y = (double)resize->height / shape->height;
        bool both = resize->width && resize->height;
        bool wide = both ? x > y : x > 0;
        if (!both || resize->fit != RESIZE_FILL) {
            bool larger = !both || resize->fit == RESIZE_COVER || resize->fit == RESIZE_OUTSIDE;
            x = y = wide == larger ? x : y;
        }
    }
    if (!resize->enlarge) {
        x = fmin(x, 1);
        y = fmin(y, 1);
    }
    return (struct factors){x, y};
}

/* A side of `source` pixels; fmax also holds what rounds to 0. */
static double side(uint32_t source, double factor) {
    return fmax(floor(source * factor + 0.5), 1);
}

/* The whole side of the source becomes `count` pixels, in a canvas that may be larger. */
static struct resize_axis whole_axis(uint32_t source, double count, double canvas, double gravity) {
    double free = canvas > count ? canvas - count : 0;
    return (struct resize_axis){
        .scale = source / count,
        .first = (uint32_t)floor(free * (gravity + 0.5)),
        .count = (uint32_t)count,
        .canvas = (uint32_t)(count + free),
    };
}

/* `count` pixels show as much of the source as they have room for, around the focus. */
static struct resize_axis cut_axis(uint32_t source, double factor, uint32_t box, double gravity) {
    double count = fmin(box, side(source, factor));
    double scale = fmin(1 / factor, source / count); /* the second one where the side was rounded up */
    double begin = source * (gravity + 0.5) - 0.5 * count * scale;
    return (struct resize_axis){
        .scale = scale,
        .begin = fmax(fmin(begin, source - count * scale), 0),
        .count = (uint32_t)count,
        .canvas = (uint32_t)count,
    };
}

static enum status check_sides(double x, double y, struct error *err) {
    if (x <= RESIZE_SIDE_MAX && y <= RESIZE_SIDE_MAX) {
        return ST_OK;
    }
    return fail(err, ST_LIMIT, "resize makes a picture of %.0f x %.0f pixels; a side has at most %d", x, y,
                RESIZE_SIDE_MAX);
}

static enum status make_axes(struct resize_plan *plan, const struct resize_arguments *resize,
                             const struct image_shape *shape, struct error *err) {
    struct factors factor = choose_factors(resize, shape);
    bool box = resize->width && resize->height;
    if (box && resize->fit == RESIZE_COVER) {
        plan->x = cut_axis(shape->width, factor.x, (uint32_t)resize->width, resize->gravity.x);
        plan->y = cut_axis(shape->height, factor.y, (uint32_t)resize->height, resize->gravity.y);
        return ST_OK;
    }
    double x = side(shape->width, factor.x), y = side(shape->height, factor.y);
    enum status status = check_sides(x, y, err);
    if (status == ST_OK) {
        bool padded = box && resize->fit == RESIZE_CONTAIN;
        plan->x = whole_axis(shape->width, x, padded ? resize->width : x, resize->gravity.x);
        plan->y = whole_axis(shape->height, y, padded ? resize->height : y, resize->gravity.y);
    }
    return status;
}

/* ---- background ---- */

void resize_plan_linear(struct resize_plan *plan, const struct image_shape *shape) {
    unsigned channels = image_pixel_channels(shape->model);
    unsigned colours = image_pixel_has_alpha(shape->model) ? channels - 1 : channels;
    for (unsigned i = 0; i < colours; i++) {
        plan->colour[i] = (uint16_t)(65535 * light_of(plan->colour[i] / 65535.0) + 0.5);
    }
}

/* The picture covers the canvas around the focus, also where it must become larger for that. */
static void plan_blurred(struct resize_plan *plan, const struct resize_arguments *resize,
                         const struct image_shape *shape) {
    const struct blur_arguments blur = {.sigma = resize->background.sigma, .edge = EDGE_CLAMP};
    struct image_shape canvas = *shape;
    canvas.width = plan->x.canvas;
    canvas.height = plan->y.canvas;
    double factor = fmax((double)canvas.width / shape->width, (double)canvas.height / shape->height);
    plan->ground_x = cut_axis(shape->width, factor, canvas.width, resize->gravity.x);
    plan->ground_y = cut_axis(shape->height, factor, canvas.height, resize->gravity.y);
    blur_plan_make(&plan->blur, &blur, &canvas);
}

/* ---- reduced pictures ---- */

unsigned resize_reduction(const struct resize_plan *plan) {
    double scale = fmin(plan->x.scale, plan->y.scale);
    if (resize_is_blurred(plan)) {
        scale = fmin(scale, fmin(plan->ground_x.scale, plan->ground_y.scale));
    }
    unsigned reduction = 0;
    while (plan->kernel != RESIZE_NEAREST && reduction < RESIZE_REDUCTION_MAX &&
           scale >= RESIZE_FAST_LEAST * (2u << reduction)) {
        reduction++;
    }
    return reduction;
}

void resize_plan_reduce(struct resize_plan *plan, unsigned reduction, unsigned coarser) {
    struct resize_axis *const axes[] = {&plan->x, &plan->y, &plan->ground_x, &plan->ground_y};
    for (unsigned i = 0; i < sizeof axes / sizeof *axes; i++) {
        axes[i]->scale /= 1u << reduction;
        axes[i]->begin /= 1u << reduction;
    }
    plan->coarser = (uint8_t)coarser;
}

/* ---- plan ---- */

static const uint8_t black[4] = {0, 0, 0, 255};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    const struct resize_arguments *resize = arguments;
    struct resize_plan *plan = planned;
    enum status status = check(arguments, err);
    status = status == ST_OK ? make_axes(plan, resize, shape, err) : status;
    if (status == ST_OK) {
        plan->kernel = (uint8_t)resize->kernel;
        plan->ground = resize->background.ground;
        if (resize_is_blurred(plan)) {
            plan_blurred(plan, resize, shape);
        } else if (resize_has_background(plan)) {
            const struct resize_background *background = &resize->background;
            colour_samples(background->given ? background->colour : black, shape, plan->colour);
        }
    }
    return status;
}

/* Whether samples of a reduced plane lie within or without the picture, none at its border. */
static bool axis_in_planes(const struct resize_axis *axis, unsigned shift) {
    uint32_t step = 1u << shift, end = axis->first + axis->count;
    return axis->first % step == 0 && (end == axis->canvas || end % step == 0);
}

static bool plan_in_planes(const struct resize_plan *plan, const struct image_shape *shape) {
    return shape->model != PIXEL_YCBCR || (axis_in_planes(&plan->x, shape->chroma_shift_x + plan->coarser) &&
                                           axis_in_planes(&plan->y, shape->chroma_shift_y + plan->coarser));
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    struct resize_plan plan = {0};
    struct error ignored;
    return make_axes(&plan, arguments, shape, &ignored) == ST_OK && plan_in_planes(&plan, shape);
}

static void result(const void *planned, struct image_shape *shape) {
    const struct resize_plan *plan = planned;
    shape->width = plan->x.canvas;
    shape->height = plan->y.canvas;
    shape->chroma_shift_x += plan->coarser;
    shape->chroma_shift_y += plan->coarser;
}

static bool coarser_valid(const struct resize_plan *plan, const struct image_shape *shape) {
    enum { SHIFT_MAX = 2 };
    return plan->coarser == 0 ||
           (shape->model == PIXEL_YCBCR && plan->coarser + shape->chroma_shift_x <= SHIFT_MAX &&
            plan->coarser + shape->chroma_shift_y <= SHIFT_MAX);
}

/* Sums of doubles may exceed a side by their rounding. */
static bool axis_valid(const struct resize_axis *axis, uint32_t source) {
    const double least = 1.0 / (RESIZE_SIDE_MAX + 1), slack = 1e-3;
    return axis->canvas >= 1 && axis->canvas <= RESIZE_SIDE_MAX && axis->count >= 1 &&
           axis->count <= axis->canvas && axis->first <= axis->canvas - axis->count && axis->scale >= least &&
           axis->begin >= 0 && axis->begin + axis->scale * axis->count <= source + slack;
}

static bool ground_valid(const struct resize_plan *plan, const struct image_shape *shape) {
    struct image_shape canvas = *shape;
    result(plan, &canvas);
    bool whole = plan->ground_x.count == canvas.width && plan->ground_x.canvas == canvas.width &&
                 plan->ground_y.count == canvas.height && plan->ground_y.canvas == canvas.height;
    return whole && axis_valid(&plan->ground_x, shape->width) && axis_valid(&plan->ground_y, shape->height) &&
           blur_plan_valid(&plan->blur, &canvas);
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct resize_plan *plan = planned;
    bool sound = plan->kernel < RESIZE_KERNELS && plan->ground <= RESIZE_GROUND_BLUR &&
                 coarser_valid(plan, shape) && axis_valid(&plan->x, shape->width) &&
                 axis_valid(&plan->y, shape->height) && plan_in_planes(plan, shape) &&
                 (!resize_is_blurred(plan) || ground_valid(plan, shape));
    for (unsigned i = 0; i < 4; i++) {
        sound = sound && (shape->depth == 16 || plan->colour[i] <= 255);
    }
    return sound;
}

/* ---- window ---- */

static unsigned follows(const void *arguments) {
    return ((const struct resize_arguments *)arguments)->gravity.detector;
}

static void window_size(const void *planned, double size[2]) {
    const struct resize_plan *plan = planned;
    size[0] = plan->x.count * plan->x.scale;
    size[1] = plan->y.count * plan->y.scale;
}

static void window_move(void *planned, const struct image_shape *shape, const double begin[2]) {
    struct resize_plan *plan = planned;
    double size[2];
    window_size(plan, size);
    plan->x.begin = fmax(fmin(begin[0], shape->width - size[0]), 0);
    plan->y.begin = fmax(fmin(begin[1], shape->height - size[1]), 0);
}

static const struct filter_window window = {follows, window_size, window_move};

static bool paints(const void *arguments) {
    return ((const struct resize_arguments *)arguments)->fit == RESIZE_CONTAIN;
}

static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    (void)arguments;
    return plan ? resize_cost(plan, shape, real)
                : filter_resize.sample_ns[real] * cost_samples(shape, COST_ALONE);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct resize_arguments){.width = 4}, false},
    {FILTER_SAMPLE_PLANES, &(const struct resize_arguments){.width = 40}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGB, 16), &(const struct resize_arguments){.width = 90, .enlarge = true},
     false},
    {FILTER_SAMPLE_SMALL(PIXEL_GRAY_ALPHA, 8), &(const struct resize_arguments){.scale = 0.3}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 16),
     &(const struct resize_arguments){
         .width = 50, .height = 20, .fit = RESIZE_CONTAIN, .kernel = RESIZE_AREA},
     false},
    {.arguments = NULL},
};

const struct filter filter_resize = {
    .name = "resize",
    .help = "Another size.",
    .example = "width=800",
    .arguments = resize_argument_table,
    .plan = plan,
    .check = check,
    .planar = planar,
    .result = result,
    .moves = true,
    .valid = valid,
    .paints = paints,
    .window = &window,
    .sample_ns = {0.4F, 0.8F},
    .cost = cost,
    .samples = samples,
};
