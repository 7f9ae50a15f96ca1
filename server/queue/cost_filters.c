/* SPDX-License-Identifier: MIT */
#include "server/queue/cost_filters.h"

#include <math.h>

/* Smaller pictures cost as much as these: filters that read neighbouring pixels, and all others. */
static const struct cost_least around = {48, 12}, alone = {12, 1};

/* Nanoseconds a sample in integers and in floating point (docs/adr/0015); the latter was measured with 2.5
 * megapixels of 16 bits and alpha. The two of the blur are as 1 to 3
 * (bench/cost.py, AVX2). */
static const float filter_ns[FILTER_COUNT][2] = {
    [FILTER_ADJUST] = {0.6F, 1},    [FILTER_BLUR] = {0.5F, 1.5F},   [FILTER_CONVOLVE] = {0.6F, 1},
    [FILTER_DILATE] = {0.6F, 2.2F}, [FILTER_ERODE] = {0.6F, 2.2F},  [FILTER_MEDIAN] = {20, 70},
    [FILTER_CROP] = {0.1F, 0.1F},   [FILTER_PIXELATE] = {0.15F, 1}, [FILTER_PLACEHOLDER] = {0.4F, 0.8F},
    [FILTER_RESIZE] = {0.4F, 0.8F}, [FILTER_ROTATE] = {0.6F, 1.1F}, [FILTER_SHARPEN] = {1, 1.5F},
    [FILTER_STATS] = {0.4F, 1},
};
static const float tap_ns[2] = {0.02F, 0.04F}; /* a sample and tap of kernel_size */
/* A sample: the median of a small window without alpha, by bytes of a sample, and with alpha of 8 bits. */
static const float network_ns[2] = {2, 3.3F}, median_alpha_ns = 28;
static const int network_radius = 2;
static const float tile_ns = 2.5F;    /* a tile and channel */
static const float weight_ns = 0.05F; /* a sample and weight of a matrix */
static const float stages_sigma = 8;  /* larger blurs run in stages */
static const float repeated = 4;      /* their factor with edges that repeat the picture */

/* A resize, in integers and with 16 bits or alpha: a sample of the source, a vertical sum, a sample of the
 * result, and a tap of either sum. Then the computation of a weight. */
static const float source_ns[2] = {0.18F, 0.35F}, down_ns[2] = {0.2F, 0.3F}, result_ns[2] = {0.35F, 0.7F};
static const float sum_tap_ns = 0.035F, resize_weight_ns = 12, background_ns = 0.1F;
static const float device_median_ns = 0.1F;              /* a sample on a GPU, for every radius */
static const float files_ns = 400e3F, thumbnail_ns = 60; /* a placeholder, and a pixel of its thumbnail */

static const float linear_ns = 2.5F; /* a sample: to 16 bits of linear light, or back */
static const float mask_ns = 3;      /* a pixel: the mask, mixing, and the touched blocks of a JPEG */
static const float row_ns = 35;      /* a row of a region, each time that it is drawn */
static const float edge_ns = 13;     /* a row and edge of a polygon */
static const float area_ns = 0.03F;  /* a pixel inside */
static const float redacted_ns[2] = {0.8F, 2}; /* a sample inside that is summed and replaced */
enum { REDACT_DRAWS = 3 };                     /* for the mask, the mean and the replacement */

static float at_least(uint32_t side, uint32_t least) {
    return (float)(side > least ? side : least);
}

float cost_filters_samples(const struct cost_shape *shape, struct cost_least least) {
    return at_least(shape->width, least.columns) * at_least(shape->height, least.rows) * shape->samples;
}

static float blur_ns(const struct blur_arguments *blur, bool real) {
    float ns = filter_ns[FILTER_BLUR][real] + tap_ns[real] * (float)blur->kernel_size;
    bool repeats = blur->edge == EDGE_MIRROR || blur->edge == EDGE_WRAP;
    return repeats && blur->sigma >= stages_sigma ? ns * repeated : ns;
}

/* Larger presets are separable; a given matrix counts as not separable. */
static float convolve_ns(const struct convolve_arguments *convolve) {
    unsigned weights = convolve->kernel.count ? convolve->kernel.count : 2 * (unsigned)convolve->size;
    return filter_ns[FILTER_CONVOLVE][1] + weight_ns * (float)weights;
}

/* Sums along rows are made for RESIZE_GROUP rows at a time. */
static float picture_ns(const struct resize_plan *plan, const struct cost_shape *shape, bool real) {
    enum { RESIZE_GROUP = 16 };
    int32_t width = (int32_t)shape->width, height = (int32_t)shape->height;
    float taps_x = (float)resize_taps_most(plan->kernel, plan->x.scale, width);
    float taps_y = (float)resize_taps_most(plan->kernel, plan->y.scale, height);
    float columns = (float)(plan->x.scale * plan->x.count), rows = (float)(plan->y.scale * plan->y.count);
    float sums = columns * (float)plan->y.count;
    float results = (float)plan->x.count * at_least(plan->y.count, RESIZE_GROUP);
    float ns = columns * rows * source_ns[real] + sums * down_ns[real] + results * result_ns[real];
    float weights = (float)plan->x.count * taps_x + (float)plan->y.count * taps_y;
    ns += resize_has_background(plan) ? (float)plan->x.canvas * (float)plan->y.canvas * background_ns : 0;
    return shape->samples * (ns + sum_tap_ns * (sums * taps_y + results * taps_x)) +
           resize_weight_ns * weights;
}

/* A blurred background is a second resize, and a blur of the canvas. */
static float resize_ns(const struct resize_plan *plan, const struct cost_shape *shape, bool real) {
    float ns = picture_ns(plan, shape, real);
    if (resize_is_blurred(plan)) {
        const struct resize_plan ground = resize_ground_plan(plan);
        struct cost_shape canvas = *shape;
        canvas.width = plan->x.canvas;
        canvas.height = plan->y.canvas;
        ns += picture_ns(&ground, shape, real) +
              filter_ns[FILTER_BLUR][real] * cost_filters_samples(&canvas, around);
    }
    return ns;
}

/* Hashes and colours of the thumbnail, and the files that are tried for the data URL. */
static float placeholder_ns(const struct placeholder_plan *plan, const struct cost_shape *shape, bool real) {
    float pixels = (float)plan->resize.x.canvas * (float)plan->resize.y.canvas;
    return resize_ns(&plan->resize, shape, real) + files_ns + thumbnail_ns * pixels;
}

/* The samples of the picture and of the margins of that width around it. Those beside rows take longer. */
static float windows(const struct cost_shape *shape, int margin) {
    const float both = 2 * (float)margin, slower = 4;
    return (at_least(shape->width, around.columns) + slower * both) * (at_least(shape->height, 1) + both) *
           shape->samples;
}

/* Small windows are sorted by networks, unless pixels have weights. */
static float median_ns(const struct median_arguments *median, const struct cost_shape *shape) {
    float ns = filter_ns[FILTER_MEDIAN][shape->wide];
    if (median->radius <= network_radius && !shape->alpha) {
        ns = network_ns[shape->wide];
    } else if (shape->alpha && !shape->wide) {
        ns = median_alpha_ns;
    }
    return ns * windows(shape, median->radius);
}

static float operation_ns(const struct operation *operation, const struct step *step,
                          const struct cost_shape *shape, bool real) {
    enum filter_id id = filter_id(operation->filter);
    float block;
    switch (id) {
    case FILTER_BLUR:
        return blur_ns(&operation->arguments.blur, real) * cost_filters_samples(shape, around);
    case FILTER_CONVOLVE:
        return convolve_ns(&operation->arguments.convolve) * cost_filters_samples(shape, around);
    case FILTER_PIXELATE:
        block = (float)operation->arguments.pixelate.block;
        return (filter_ns[id][real] + tile_ns / (block * block)) * cost_filters_samples(shape, alone);
    case FILTER_DILATE:
    case FILTER_ERODE:
        return filter_ns[id][real] * windows(shape, operation->arguments.morphology.radius);
    case FILTER_MEDIAN:
        return median_ns(&operation->arguments.median, shape);
    case FILTER_PLACEHOLDER:
        return step ? placeholder_ns(&step->placeholder, shape, real)
                    : filter_ns[id][real] * cost_filters_samples(shape, alone) + files_ns;
    case FILTER_RESIZE:
        return step ? resize_ns(&step->resize, shape, real)
                    : filter_ns[id][real] * cost_filters_samples(shape, alone);
    case FILTER_SHARPEN:
        return filter_ns[id][real] * cost_filters_samples(shape, around);
    default:
        return filter_ns[id][real] * cost_filters_samples(shape, alone);
    }
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
    samples = single ? cost_filters_samples(shape, alone) : samples;
    return ns * REDACT_DRAWS + samples * redacted_ns[shape->real];
}

struct cost_shape cost_shape_of(const struct image_shape *shape) {
    bool reduced = shape->chroma_shift_x > 0 || shape->chroma_shift_y > 0;
    return (struct cost_shape){.width = shape->width,
                               .height = shape->height,
                               .samples = reduced ? 2 : (float)image_pixel_channels(shape->model),
                               .wide = shape->depth == 16,
                               .alpha = image_pixel_has_alpha(shape->model),
                               .real = shape->depth == 16 || image_pixel_has_alpha(shape->model)};
}

float cost_filters_ns(const struct parameters *parameters, const struct chain *chain,
                      const struct image_shape *shape) {
    const struct input_arguments *input = &parameters->input;
    const struct cost_shape first = cost_shape_of(shape);
    bool linear = input->colorspace == COLORSPACE_LINEAR;
    const struct image_shape result = chain_result(chain, shape);
    const struct cost_shape last = cost_shape_of(&result);
    float converted = cost_filters_samples(&first, alone) + cost_filters_samples(&last, alone);
    float ns = linear ? linear_ns * converted : 0;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        bool crops = filter_id(operation->filter) == FILTER_CROP; /* only copies its result */
        struct image_shape shaped = chain_shape(chain, shape, crops ? i + 1 : i);
        struct cost_shape worked = cost_shape_of(&shaped);
        worked.wide |= linear;
        const struct step *step = i < chain->count ? &chain->step[i] : NULL;
        ns += operation_ns(operation, step, &worked, worked.real || linear);
    }
    if (parameters_select(parameters)) {
        const struct cost_shape mask = {.width = shape->width, .height = shape->height, .samples = 1};
        ns += mask_ns * cost_filters_samples(&mask, alone);
        ns += input->feather > 0 ? filter_ns[FILTER_BLUR][false] * cost_filters_samples(&mask, around) : 0;
    }
    return ns + regions_ns(parameters, &first);
}

float cost_filters_device_ns(const struct parameters *parameters, const struct chain *chain,
                             const struct image_shape *shape) {
    float ns = 0;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        if (filter_id(parameters->ops.operation[i].filter) == FILTER_MEDIAN) {
            const struct image_shape read = chain_shape(chain, shape, i);
            const struct cost_shape worked = cost_shape_of(&read);
            ns += device_median_ns * cost_filters_samples(&worked, alone);
        }
    }
    return ns;
}
