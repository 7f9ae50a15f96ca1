/* SPDX-License-Identifier: MIT
 * The other filters, masks, and chains of all of them. */
#include <stdio.h>

#include "tests/gpu/check.h"

/* ---- arguments by chance ---- */

static double any_of(struct check *check, const double *values, size_t count) {
    return values[check_below(check, (unsigned)count)];
}

/* Whole numbers or not, some of them 0; a product of a column and a row, or not. */
static struct matrix any_matrix(struct check *check, unsigned width, unsigned height) {
    struct matrix matrix = {.count = (uint16_t)(width * height), .rows = (uint16_t)height};
    bool whole = check_below(check, 2), product = check_below(check, 2);
    double column[MATRIX_SIDE_MAX], row[MATRIX_SIDE_MAX];
    for (unsigned i = 0; i < MATRIX_SIDE_MAX; i++) {
        column[i] = (double)check_below(check, 9) - (whole ? 3 : 2.7);
        row[i] = (double)check_below(check, 9) - (whole ? 3 : 2.9);
    }
    for (unsigned i = 0; i < matrix.count; i++) {
        double value = (double)check_below(check, 9) - (whole ? 3 : 2.3);
        matrix.value[i] = product ? column[i / width] * row[i % width] : value;
    }
    return matrix;
}

static void any_convolve(struct check *check, struct convolve_arguments *arguments) {
    static const double divisors[] = {0, 0, 0, 0, 1, -3.5, 100, 0.01}, biases[] = {0, 0, 0, 128, -20.5, 255};
    unsigned preset = check_below(check, 12); /* there are 6 */
    if (preset >= 1 && preset <= 6) {
        arguments->preset = (int)preset;
    } else {
        unsigned largest = check_below(check, 2) ? 3 : 8;
        unsigned width = 2 * check_below(check, largest) + 1, height = 2 * check_below(check, largest) + 1;
        arguments->kernel = any_matrix(check, width, height);
    }
    arguments->divisor = any_of(check, divisors, COUNT(divisors));
    arguments->bias = any_of(check, biases, COUNT(biases));
    arguments->edge = (int)check_below(check, EDGE_FRAME + 1);
}

static void any_sharpen(struct check *check, struct sharpen_arguments *arguments) {
    static const double sigmas[] = {0.1, 0.5, 1, 1.5, 3, 3.99, 4, 8, 20, 100, 500};
    static const double amounts[] = {0, 0.3, 1, 2.5, 10}, thresholds[] = {0, 0, 0.5, 3, 100, 255};
    arguments->blur.sigma = any_of(check, sigmas, COUNT(sigmas));
    arguments->blur.edge = (int)check_below(check, EDGE_ZERO + 1);
    arguments->blur.kernel_size =
        check_below(check, 4) ? 0 : 33 + 2 * (int)check_below(check, 34); /* no request can */
    arguments->amount = any_of(check, amounts, COUNT(amounts));
    arguments->threshold = any_of(check, thresholds, COUNT(thresholds));
}

static void any_pixelate(struct check *check, const struct image_shape *shape,
                         struct pixelate_arguments *arguments) {
    static const double blocks[] = {1,  2,  3,  5,   8,   16,  33,  50,  63,  64,   65,
                                    85, 86, 99, 128, 129, 200, 256, 257, 300, 1000, 4096};
    arguments->block = (int)any_of(check, blocks, COUNT(blocks));
    if (shape->model == PIXEL_YCBCR) {
        arguments->block = (arguments->block + 3) / 4 * 4;
    }
}

/* A side of the result: smaller or larger, but no chain of resizes grows much. */
static int any_side(struct check *check, uint32_t side) {
    enum { SIDE_MAX = 400 };
    return 1 + (int)check_below(check, side < SIDE_MAX / 2 ? 2 * side : SIDE_MAX);
}

static void draw_resize(struct check *check, const struct image_shape *shape,
                        struct resize_arguments *arguments) {
    static const double shares[] = {-0.5, -0.3, 0, 0.1, 0.5};
    *arguments = (struct resize_arguments){
        .width = any_side(check, shape->width),
        .height = any_side(check, shape->height),
        .fit = (int)check_below(check, RESIZE_OUTSIDE + 1),
        .kernel = (int)check_below(check, RESIZE_KERNELS),
        .enlarge = check_below(check, 2),
        .background = {.given = true, .colour = {250, 3, 100, 77}},
    };
    if (check_below(check, 3) == 0) {
        arguments->background = (struct resize_background){
            .given = true, .ground = RESIZE_GROUND_BLUR, .sigma = 0.5 + check_below(check, 12)};
    }
    arguments->gravity.x = any_of(check, shares, COUNT(shares));
    arguments->gravity.y = any_of(check, shares, COUNT(shares));
    if (check_below(check, 3) == 0) {
        arguments->height = 0;
    }
}

/* Without a border of the picture within a sample of reduced planes. */
static void any_resize(struct check *check, const struct image_shape *shape,
                       struct resize_arguments *arguments) {
    do {
        draw_resize(check, shape, arguments);
    } while (shape->model == PIXEL_YCBCR && !filter_get(FILTER_RESIZE)->planar(arguments, shape));
}

/* Planes take the negative and grey only. */
static void any_adjust(struct check *check, const struct image_shape *shape,
                       struct adjust_arguments *arguments) {
    static const double factors[] = {0, 0.3, 1, 1, 1, 1.7, 10}, gammas[] = {0.2, 0.45, 1, 1, 2.2, 5};
    bool planar = shape->model == PIXEL_YCBCR;
    arguments->brightness = planar ? 1 : any_of(check, factors, COUNT(factors));
    arguments->contrast = planar ? 1 : any_of(check, factors, COUNT(factors));
    arguments->saturation = planar ? 1 : any_of(check, factors, COUNT(factors));
    arguments->gamma = planar ? 1 : any_of(check, gammas, COUNT(gammas));
    arguments->grayscale = check_below(check, 3) == 0;
    arguments->negate = check_below(check, 3) == 0;
    arguments->sepia = planar || check_below(check, 3) ? 0 : 0.6;
    if (!planar && check_below(check, 4) == 0) {
        arguments->duotone = (struct adjust_duotone){true, {40, 0, 200}, {255, 250, 3}};
    }
    arguments->keep_model = check_below(check, 2);
}

/* Of whole samples, where planes are reduced. */
static void any_crop(struct check *check, const struct image_shape *shape, struct crop_arguments *arguments) {
    const uint32_t sides[CROP_AXES] = {shape->width, shape->height};
    uint32_t mask = shape->model == PIXEL_YCBCR ? ~3u : ~0u;
    for (unsigned axis = 0; axis < CROP_AXES; axis++) {
        uint32_t begin = check_below(check, sides[axis]) & mask;
        arguments->begin[axis] = (struct crop_length){.given = true, .value = begin};
        if (check_below(check, 2) && sides[axis] - begin > 4) {
            uint32_t size = 4 + (check_below(check, sides[axis] - begin - 3) & mask);
            arguments->size[axis] = (struct crop_length){.given = true, .value = size};
        }
    }
}

/* Reduced planes of an odd size only keep their places. */
static void any_rotate(struct check *check, const struct image_shape *shape,
                       struct rotate_arguments *arguments) {
    do {
        arguments->angle = (int)(ROTATE_0 + check_below(check, 4));
        arguments->flip = (int)check_below(check, ROTATE_BOTH + 1);
    } while (shape->model == PIXEL_YCBCR && !filter_get(FILTER_ROTATE)->planar(arguments, shape));
}

/* Few windows are large, which take the tests' driver long. */
static void any_window(struct check *check, enum filter_id filter, const struct image_shape *shape,
                       union filter_arguments *arguments) {
    static const double radii[] = {1, 1, 2, 2, 3, 4, 4, 5, 7, 12, 24, 25};
    int radius = (int)any_of(check, radii, COUNT(radii)), edge = (int)check_below(check, EDGE_ZERO + 1);
    radius = shape->model == PIXEL_YCBCR && radius % 4 ? 4 : radius;
    if (filter == FILTER_MEDIAN) {
        arguments->median = (struct median_arguments){radius, edge};
    } else {
        arguments->dilate = (struct morphology_arguments){radius, edge};
    }
}

/* Numbers and choices of any filter's table; the rest as it is without. */
static void any_values(struct check *check, enum filter_id filter, void *arguments) {
    const struct argument *row = filter_get(filter)->arguments;
    arguments_default(row, arguments);
    for (; row->name; row++) {
        void *field = (char *)arguments + row->offset;
        double share = check_below(check, 1001) / 1000.0;
        unsigned choices = 0;
        while (row->choices && row->choices[choices]) {
            choices++;
        }
        if (row->type == ARGUMENT_REAL) {
            *(double *)field = row->minimum + share * (row->maximum - row->minimum);
        } else if (row->type == ARGUMENT_WHOLE) {
            *(int *)field = (int)(row->minimum + share * (row->maximum - row->minimum)) | row->odd;
        } else if (row->type == ARGUMENT_CHOICE) {
            *(int *)field = (int)check_below(check, choices);
        }
    }
}

/* A next step of that filter; `keeps`: one whose result has the shape of its source. */
static void append_any(struct check *check, struct chain *chain, enum filter_id filter,
                       const struct image_shape *shape, bool keeps) {
    union filter_arguments arguments = {0};
    struct image_shape read = chain_result(chain, shape);
    switch (filter) {
    case FILTER_ADJUST:
        any_adjust(check, shape, &arguments.adjust);
        arguments.adjust.keep_model |= keeps;
        break;
    case FILTER_CONVOLVE:
        any_convolve(check, &arguments.convolve);
        break;
    case FILTER_CROP:
        any_crop(check, &read, &arguments.crop);
        break;
    case FILTER_ROTATE:
        any_rotate(check, &read, &arguments.rotate);
        break;
    case FILTER_SHARPEN:
        any_sharpen(check, &arguments.sharpen);
        break;
    case FILTER_DILATE:
    case FILTER_ERODE:
    case FILTER_MEDIAN:
        any_window(check, filter, shape, &arguments);
        break;
    case FILTER_PIXELATE:
        any_pixelate(check, shape, &arguments.pixelate);
        break;
    case FILTER_RESIZE:
        any_resize(check, &read, &arguments.resize);
        break;
    case FILTER_BLUR:
        arguments.blur.sigma = 0.5 + check_below(check, 12);
        arguments.blur.edge = (int)check_below(check, EDGE_ZERO + 1);
        break;
    default:
        any_values(check, filter, &arguments);
        break;
    }
    check_append(chain, filter, &arguments, shape);
}

/* ---- cases ---- */

static void describe_window(const struct step *step, char *text, size_t size) {
    bool median = step->filter == FILTER_MEDIAN;
    unsigned radius = median ? step->median.radius : step->dilate.radius;
    unsigned edge = median ? step->median.edge : step->dilate.edge;
    snprintf(text, size, "%s, radius %u, edge %u", filter_get(step->filter)->name, radius, edge);
}

static void describe(const struct step *step, char *text, size_t size) {
    const struct convolve_plan *convolve = &step->convolve;
    switch (step->filter) {
    case FILTER_ADJUST:
        snprintf(text, size, "adjust to model %u, %s, red %g %g %g %g", step->adjust.model,
                 step->adjust.curved ? "curved" : "no curve", (double)step->adjust.matrix[0][0],
                 (double)step->adjust.matrix[0][1], (double)step->adjust.matrix[0][2],
                 (double)step->adjust.matrix[0][3]);
        break;
    case FILTER_CONVOLVE:
        snprintf(text, size, "convolve %ux%u%s, edge %u, divisor %g, bias %g, alpha %s", convolve->width,
                 convolve->height, convolve->separable ? " separable" : "", convolve->edge,
                 (double)convolve->divisor, (double)convolve->bias, convolve->alpha ? "filtered" : "kept");
        break;
    case FILTER_SHARPEN:
        snprintf(text, size, "sharpen amount %g, threshold %g, edge %u, radius %u, levels %u",
                 (double)step->sharpen.amount, (double)step->sharpen.threshold, step->sharpen.blur.edge,
                 step->sharpen.blur.axis[0].radius, step->sharpen.blur.axis[0].levels);
        break;
    case FILTER_PIXELATE:
        snprintf(text, size, "pixelate %u", step->pixelate.block);
        break;
    case FILTER_RESIZE:
        snprintf(text, size, "resize to %ux%u at %u %u on %ux%u, kernel %u", step->resize.x.count,
                 step->resize.y.count, step->resize.x.first, step->resize.y.first, step->resize.x.canvas,
                 step->resize.y.canvas, step->resize.kernel);
        break;
    case FILTER_CROP:
        snprintf(text, size, "crop to %ux%u at %u %u", step->crop.width, step->crop.height, step->crop.x,
                 step->crop.y);
        break;
    case FILTER_ROTATE:
        snprintf(text, size, "rotate as orientation %u", step->rotate.orientation);
        break;
    case FILTER_DILATE:
    case FILTER_ERODE:
    case FILTER_MEDIAN:
        describe_window(step, text, size);
        break;
    default:
        snprintf(text, size, "%s", filter_get(step->filter)->name);
        break;
    }
}

/* Kernels alone for a chain of one step by chance, then the same as a request with a mask, if the case
 * belongs to the share that runs. The noise takes no numbers of the sequence, so that with one SEED all
 * shares together have the cases of a whole run. */
static void check_case(struct check *check, enum filter_id filter, const struct image_shape *shape) {
    struct chain chain = {0};
    char text[120];
    append_any(check, &chain, filter, shape, false);
    if (check->cases++ % check->shares != check->share) {
        return;
    }
    uint64_t random = check->random;
    describe(&chain.step[0], text, sizeof text);
    check_kernels(check, shape, &chain, text);
    check_lane(check, shape, &chain, chain_takes_mask(&chain, shape), text);
    check->random = random;
}

static struct image_shape sized(size_t model, uint32_t width, uint32_t height) {
    struct image_shape shape = check_models[model];
    shape.width = width;
    shape.height = height;
    return shape;
}

static size_t models_of(enum filter_id filter) {
    return filter_get(filter)->planar ? CHECK_MODELS : CHECK_PLANAR;
}

/* Every model with every awkward size, and some that span several tiles, `times` with other arguments. */
static void check_filter(struct check *check, enum filter_id filter, unsigned times) {
    for (size_t m = 0; m < models_of(filter); m++) {
        for (size_t z = 0; z < CHECK_SIZES + 2; z++) {
            uint32_t width = z < CHECK_SIZES ? check_sizes[z][0] : 60 + check_below(check, 300);
            uint32_t height = z < CHECK_SIZES ? check_sizes[z][1] : 20 + check_below(check, 120);
            struct image_shape shape = sized(m, width, height);
            for (unsigned i = 0; i < times; i++) {
                check_case(check, filter, &shape);
            }
        }
    }
    check_report(check, filter_get(filter)->name);
}

/* Every edge with a window that is larger than the picture, equal or smaller. */
static void check_convolve_edges(struct check *check, bool all) {
    for (int edge = EDGE_CLAMP; edge <= EDGE_FRAME; edge++) {
        for (unsigned side = all ? 1 : 3; side <= MATRIX_SIDE_MAX; side += all ? 2 : 6) {
            for (size_t m = 0; m < CHECK_PLANAR; m++) {
                struct convolve_arguments arguments = {.kernel = any_matrix(check, side, side), .edge = edge};
                struct image_shape shape = sized(m, 1 + check_below(check, 100), 1 + check_below(check, 60));
                struct chain chain = {0};
                char text[120];
                check_append(&chain, FILTER_CONVOLVE, &arguments, &shape);
                describe(&chain.step[0], text, sizeof text);
                check_kernels(check, &shape, &chain, text);
            }
        }
    }
    check_report(check, "edges");
}

/* A filter that such a picture can go through on its way. */
static enum filter_id any_filter(struct check *check, const struct image_shape *shape) {
    enum filter_id id;
    do {
        id = (enum filter_id)check_below(check, FILTER_COUNT);
    } while (filter_get(id)->answer != ANSWER_PICTURE ||
             (shape->model == PIXEL_YCBCR && !filter_get(id)->planar));
    return id;
}

/* Chains of any filters, as requests go, in the buffers that others left. */
static void check_chains(struct check *check, unsigned times) {
    static const unsigned steps[] = {1, 2, 3, CHAIN_STEPS_MAX};
    for (unsigned i = 0; i < times * CHECK_MODELS * (unsigned)COUNT(steps) * 2; i++) {
        size_t m = i / 2 % CHECK_MODELS;
        struct image_shape shape = sized(m, 1 + check_below(check, 150), 1 + check_below(check, 90));
        struct chain chain = {0};
        while (chain.count < steps[i / 2 / CHECK_MODELS % COUNT(steps)]) {
            append_any(check, &chain, any_filter(check, &shape), &shape, true);
        }
        check_lane(check, &shape, &chain, i % 2 && chain_takes_mask(&chain, &shape), "a chain");
    }
    check_report(check, "chains");
}

/* Blurs and detectors have parts of their own. */
static bool is_checked_here(enum filter_id filter) {
    return filter != FILTER_BLUR && filter != FILTER_DETECT;
}

static void check_large(struct check *check) {
    for (enum filter_id filter = 0; filter < FILTER_COUNT; filter++) {
        for (size_t m = 0; is_checked_here(filter) && m < models_of(filter); m++) {
            const uint32_t *size = check_large_sizes[check_below(check, CHECK_LARGE_SIZES)];
            struct image_shape shape = sized(m, size[0], size[1]);
            check_case(check, filter, &shape);
            check_case(check, filter, &shape);
        }
    }
    check_report(check, "large filters");
}

/* Whether the option --filter names the section, or is not given. */
static bool wanted(const struct check *check, const char *section) {
    return !check->section || strcmp(check->section, section) == 0;
}

void check_filters(struct check *check, bool quick) {
    static const unsigned often[FILTER_COUNT] = {[FILTER_CONVOLVE] = 8, [FILTER_RESIZE] = 8};
    for (enum filter_id filter = 0; filter < FILTER_COUNT; filter++) {
        if (is_checked_here(filter) && wanted(check, filter_get(filter)->name)) {
            check_filter(check, filter, quick ? 1 : often[filter] ? often[filter] : 4);
        }
    }
    if (wanted(check, "edges")) {
        check_convolve_edges(check, !quick);
    }
    if (wanted(check, "chains")) {
        check_chains(check, quick ? 1 : 8);
    }
    if (!quick && wanted(check, "large")) {
        check_large(check);
    }
}
