/* SPDX-License-Identifier: MIT */
#include "filters/convolve/convolve.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"

#define AT(member) offsetof(struct convolve_arguments, member)

/* Textbook matrices; the box has any size. */
enum {
    PRESET_NONE,
    PRESET_BOX,
    PRESET_EDGE,
    PRESET_EMBOSS,
    PRESET_LAPLACIAN,
    PRESET_SOBEL_X,
    PRESET_SOBEL_Y
};

static const struct matrix presets[] = {
    [PRESET_EDGE] = {9, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}},
    [PRESET_EMBOSS] = {9, 3, {-2, -1, 0, -1, 1, 1, 0, 1, 2}},
    [PRESET_LAPLACIAN] = {9, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}},
    [PRESET_SOBEL_X] = {9, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}}, /* brighter to the right is positive */
    [PRESET_SOBEL_Y] = {9, 3, {-1, -2, -1, 0, 0, 0, 1, 2, 1}}, /* brighter downwards is positive */
};

static const char *const preset_names[] = {[PRESET_NONE] = "none",           [PRESET_BOX] = "box",
                                           [PRESET_EDGE] = "edge",           [PRESET_EMBOSS] = "emboss",
                                           [PRESET_LAPLACIAN] = "laplacian", [PRESET_SOBEL_X] = "sobel-x",
                                           [PRESET_SOBEL_Y] = "sobel-y",     NULL};

/* Smaller divisors are refused: no matrix needs them. */
#define DIVISOR_MIN 1e-9

static const struct argument convolve_table[] = {
    {
        .name = "kernel",
        .type = ARGUMENT_PARSED,
        .offset = AT(kernel),
        .parse = matrix_parse,
        .form = "a matrix",
        .example = "0,-1,0;-1,5,-1;0,-1,0",
        .without = "",
        .help =
            "The matrix: rows separated by `;` and numbers by `,`, a plain list of numbers together with "
            "`size`, or a JSON array. Numbers are from -1000000 to 1000000; sides are odd and at most 15.",
    },
    {
        .name = "preset",
        .type = ARGUMENT_CHOICE,
        .offset = AT(preset),
        .choices = preset_names,
        .help = "A matrix by name, instead of `kernel`. Exactly one of the two must be given.",
    },
    {
        .name = "size",
        .type = ARGUMENT_WHOLE,
        .offset = AT(size),
        .minimum = 1,
        .maximum = MATRIX_SIDE_MAX,
        .odd = true,
        .help = "Side of the square matrix if `kernel` is a plain list, or of `preset=box`, where the "
                "default is 3.",
        .without = "",
    },
    {
        .name = "divisor",
        .type = ARGUMENT_REAL,
        .offset = AT(divisor),
        .minimum = -1e9,
        .maximum = 1e9,
        .least = DIVISOR_MIN,
        .help = "Divisor of the sum.",
        .without = "the sum of the matrix, or 1 when that is 0",
    },
    {
        .name = "bias",
        .type = ARGUMENT_REAL,
        .offset = AT(bias),
        .minimum = -255,
        .maximum = 255,
        .unit = " of 255",
        .help = "Value added after the division, on a scale of 255. 128 makes negative results visible.",
    },
    {
        .name = "edge",
        .type = ARGUMENT_CHOICE,
        .offset = AT(edge),
        .initial = EDGE_CLAMP,
        .choices = edge_names_frame,
        .help = "What lies outside the picture, as for the blur. `frame` sets pixels whose window leaves the "
                "picture to 0.",
    },
    {.name = NULL},
};

static enum status from_preset(const struct convolve_arguments *arguments, struct matrix *matrix,
                               struct error *err) {
    if (arguments->preset != PRESET_BOX) {
        if (arguments->size != 0 && arguments->size != 3) {
            return fail_argument(err, "size", "size is %d, but preset=%s is 3 by 3", arguments->size,
                                 preset_names[arguments->preset]);
        }
        *matrix = presets[arguments->preset];
        return ST_OK;
    }
    unsigned side = arguments->size ? (unsigned)arguments->size : 3;
    *matrix = (struct matrix){.count = (uint16_t)(side * side), .rows = (uint16_t)side};
    for (unsigned i = 0; i < matrix->count; i++) {
        matrix->value[i] = 1;
    }
    return ST_OK;
}

static enum status from_kernel(const struct convolve_arguments *arguments, struct matrix *matrix,
                               struct error *err) {
    *matrix = arguments->kernel;
    unsigned side = (unsigned)arguments->size;
    if (side) {
        if (matrix->count != side * side || (matrix->rows != 1 && matrix->rows != side)) {
            return fail_argument(err, "kernel",
                                 "kernel has %u numbers in %u rows, with size=%u it must have %u",
                                 matrix->count, matrix->rows, side, side * side);
        }
        matrix->rows = (uint16_t)side;
    }
    unsigned width = matrix->count / matrix->rows;
    if (width % 2 == 0 || matrix->rows % 2 == 0 || width > MATRIX_SIDE_MAX ||
        matrix->rows > MATRIX_SIDE_MAX) {
        return fail_argument(err, "kernel",
                             "kernel has %u rows of %u numbers, sides must be odd and at most %d%s",
                             matrix->rows, width, MATRIX_SIDE_MAX,
                             matrix->rows == 1 ? "; a list without rows needs size" : "");
    }
    return ST_OK;
}

static enum status choose_matrix(const struct convolve_arguments *arguments, struct matrix *matrix,
                                 struct error *err) {
    bool preset = arguments->preset != PRESET_NONE;
    if (preset && arguments->kernel.count > 0) {
        return fail_argument(err, "preset", "preset and kernel are both given, only one of them can be");
    }
    if (!preset && arguments->kernel.count == 0) {
        return fail_argument(err, "kernel", "neither kernel nor preset is given");
    }
    return preset ? from_preset(arguments, matrix, err) : from_kernel(arguments, matrix, err);
}

static bool all_whole(const struct matrix *matrix) {
    bool whole = true;
    for (unsigned i = 0; i < matrix->count; i++) {
        whole = whole && matrix->value[i] == floor(matrix->value[i]);
    }
    return whole;
}

/* Greatest common divisor of a row of whole numbers. */
static double common_divisor(const double *value, unsigned count) {
    double divisor = 0;
    for (unsigned i = 0; i < count; i++) {
        double rest = fabs(value[i]);
        while (rest > 0) {
            double next = fmod(divisor, rest);
            divisor = rest;
            rest = next;
        }
    }
    return divisor;
}

/* Finds a column and a row whose product is the matrix. Whole numbers must match exactly, so that the result
 * is that of the matrix; others up to single precision. */
static bool separate(const struct matrix *matrix, double *column, double *row) {
    unsigned width = matrix->count / matrix->rows;
    bool whole = all_whole(matrix);
    unsigned pivot = 0;
    for (unsigned i = 1; i < matrix->count; i++) {
        pivot = fabs(matrix->value[i]) > fabs(matrix->value[pivot]) ? i : pivot;
    }
    double largest = fabs(matrix->value[pivot]);
    if (matrix->rows == 1 || width == 1 || largest == 0) {
        return false;
    }
    const double *pivot_row = matrix->value + pivot / width * width;
    double unit = whole ? common_divisor(pivot_row, width) : matrix->value[pivot];
    double tolerance = whole ? 0 : largest * 1e-7;
    for (unsigned x = 0; x < width; x++) {
        row[x] = pivot_row[x] / unit;
    }
    for (unsigned y = 0; y < matrix->rows; y++) {
        column[y] = matrix->value[y * width + pivot % width] / row[pivot % width];
        for (unsigned x = 0; x < width; x++) {
            if (!(fabs(matrix->value[y * width + x] - column[y] * row[x]) <= tolerance)) {
                return false;
            }
        }
        if (whole && column[y] != floor(column[y])) {
            return false;
        }
    }
    return true;
}

static void fill_weights(struct convolve_plan *plan, const struct matrix *matrix) {
    double column[MATRIX_SIDE_MAX], row[MATRIX_SIDE_MAX];
    plan->width = (uint8_t)(matrix->count / matrix->rows);
    plan->height = (uint8_t)matrix->rows;
    plan->separable = separate(matrix, column, row);
    for (unsigned i = 0; i < matrix->count; i++) {
        plan->weight[i] = (float)matrix->value[i];
    }
    for (unsigned y = 0; plan->separable && y < plan->height; y++) {
        plan->column[y] = (float)column[y];
    }
    for (unsigned x = 0; plan->separable && x < plan->width; x++) {
        plan->row[x] = (float)row[x];
    }
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    const struct convolve_arguments *convolve = arguments;
    struct convolve_plan *plan = planned;
    struct matrix matrix;
    enum status status = choose_matrix(convolve, &matrix, err);
    if (status != ST_OK) {
        return status;
    }
    double sum = 0;
    for (unsigned i = 0; i < matrix.count; i++) {
        sum += matrix.value[i];
    }
    double divisor = convolve->divisor != 0 ? convolve->divisor : fabs(sum) > DIVISOR_MIN ? sum : 1;
    plan->edge = (uint8_t)convolve->edge;
    plan->divisor = (float)divisor;
    plan->bias = (float)(convolve->bias * image_sample_step(shape));
    plan->alpha = fabs(sum - divisor) <= 1e-6 * fabs(divisor) && convolve->bias == 0;
    fill_weights(plan, &matrix);
    return ST_OK;
}

static bool finite_within(const float *value, unsigned count) {
    bool sound = true;
    for (unsigned i = 0; i < count; i++) {
        sound = sound && fabsf(value[i]) <= 1e6f;
    }
    return sound;
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct convolve_plan *plan = planned;
    return shape->model != PIXEL_YCBCR && plan->edge <= EDGE_FRAME && plan->width % 2 == 1 &&
           plan->height % 2 == 1 && plan->width <= MATRIX_SIDE_MAX && plan->height <= MATRIX_SIDE_MAX &&
           plan->separable <= 1 && plan->alpha <= 1 && fabsf(plan->divisor) >= (float)DIVISOR_MIN &&
           fabsf(plan->divisor) <= 1e9f && fabsf(plan->bias) <= 65535 &&
           finite_within(plan->weight, MATRIX_MAX) && finite_within(plan->column, MATRIX_SIDE_MAX) &&
           finite_within(plan->row, MATRIX_SIDE_MAX);
}

static struct filter_reach reach(const void *planned) {
    const struct convolve_plan *plan = planned;
    return (struct filter_reach){
        .pixels = max_u32(plan->width, plan->height) / 2, .grid = 1, .wraps = plan->edge == EDGE_WRAP};
}

/* Larger presets are separable; a given matrix counts as not separable. */
static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    const float sample_ns = 1, weight_ns = 0.05F; /* a sample and weight of a matrix */
    const struct convolve_arguments *convolve = arguments;
    unsigned weights = convolve->kernel.count ? convolve->kernel.count : 2 * (unsigned)convolve->size;
    (void)plan;
    (void)real;
    return (sample_ns + weight_ns * (float)weights) * cost_samples(shape, COST_AROUND);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8),
     &(const struct convolve_arguments){.kernel = {9, 3, {1, 2, -1, 0.5, 3, 0, -2, 1, 0.25}},
                                        .edge = EDGE_MIRROR},
     false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 8),
     &(const struct convolve_arguments){.kernel = {15, 3, {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1}},
                                        .edge = EDGE_FRAME},
     false},
    {.arguments = NULL},
};

const struct filter filter_convolve = {
    .name = "convolve",
    .help = "Any matrix up to 15x15: edges, relief, or your own.",
    .example = "preset=edge",
    .arguments = convolve_table,
    .plan = plan,
    .valid = valid,
    .reach = reach,
    .cost = cost,
    .samples = samples,
};
