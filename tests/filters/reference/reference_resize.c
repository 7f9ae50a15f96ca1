/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_resize.h"

#include <math.h>
#include <stdlib.h>

#include "tests/filters/filter_image.h"

static double sinc(double x) {
    const double pi = 3.14159265358979323846;
    return x == 0 ? 1 : sin(pi * x) / (pi * x);
}

/* Mitchell and Netravali, "Reconstruction filters in computer graphics", 1988. */
static double bicubic(double x, double b, double c) {
    x = fabs(x);
    if (x < 1) {
        return ((12 - 9 * b - 6 * c) * pow(x, 3) + (-18 + 12 * b + 6 * c) * pow(x, 2) + (6 - 2 * b)) / 6;
    }
    return ((-b - 6 * c) * pow(x, 3) + (6 * b + 30 * c) * pow(x, 2) + (-12 * b - 48 * c) * x +
            (8 * b + 24 * c)) /
           6;
}

static double weight(enum resize_kernel kernel, double centre, double scale, long j) {
    static const double radius[] = {
        [RESIZE_LANCZOS3] = 3, [RESIZE_MITCHELL] = 2, [RESIZE_CUBIC] = 2, [RESIZE_LINEAR] = 1};
    if (kernel == RESIZE_NEAREST) {
        return j == (long)floor(centre);
    }
    if (kernel == RESIZE_AREA) {
        double overlap = fmin((double)j + 1, centre + scale / 2) - fmax((double)j, centre - scale / 2);
        return fmax(overlap, 0);
    }
    double x = ((double)j + 0.5 - centre) / fmax(scale, 1);
    if (fabs(x) >= radius[kernel]) {
        return 0;
    }
    return kernel == RESIZE_LANCZOS3   ? sinc(x) * sinc(x / 3)
           : kernel == RESIZE_MITCHELL ? bicubic(x, 1 / 3.0, 1 / 3.0)
           : kernel == RESIZE_CUBIC    ? bicubic(x, 0, 0.5)
                                       : 1 - fabs(x);
}

/* Sample i of the target from `size` samples that are `step` apart. */
static double sum_line(enum resize_kernel kernel, const struct resize_plane_axis *axis, const double *from,
                       size_t step, uint32_t size, uint32_t i) {
    double centre = (i + 0.5) * axis->scale + axis->begin;
    double reach = 3 * fmax(axis->scale, 1) + 2;
    double sum = 0, weights = 0;
    for (long j = (long)floor(centre - reach); j <= (long)ceil(centre + reach); j++) {
        long clamped = j < 0 ? 0 : j >= (long)size ? (long)size - 1 : j;
        double w = weight(kernel, centre, axis->scale, j);
        sum += w * from[(size_t)clamped * step];
        weights += w;
    }
    return sum / weights;
}

static double *make_plane(size_t width, size_t height, size_t channels) {
    double *made = calloc(width * height * channels, sizeof *made);
    if (!made) {
        abort();
    }
    return made;
}

/* Samples of a plane; with alpha, colour times alpha. */
static double *load(const struct image *image, unsigned index) {
    const struct plane *plane = &image->plane[index];
    unsigned channels = plane->channels;
    double *made = make_plane(plane->width, plane->height, channels), *at = made;
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            double alpha = test_sample(image, index, x, y, channels - 1);
            for (unsigned c = 0; c < channels; c++) {
                bool colour = image_pixel_has_alpha(image->model) && c + 1 < channels;
                *at++ = test_sample(image, index, x, y, c) * (colour ? alpha : 1);
            }
        }
    }
    return made;
}

struct reference {
    const struct resize_plan *plan;
    struct resize_plane_axis x, y;
    double *rows;   /* made by the vertical pass */
    size_t samples; /* of one of them */
};

static void sum_columns(struct reference *reference, const struct plane *from, const double *loaded) {
    reference->samples = (size_t)from->width * from->channels;
    reference->rows = make_plane(from->width, reference->y.count, from->channels);
    for (uint32_t y = 0; y < reference->y.count; y++) {
        for (size_t i = 0; i < reference->samples; i++) {
            reference->rows[y * reference->samples + i] =
                sum_line((enum resize_kernel)reference->plan->kernel, &reference->y, loaded + i,
                         reference->samples, from->height, y);
        }
    }
}

static double limit(double value, double max) {
    return fmin(fmax(value, 0), max);
}

/* A pixel of the part that shows the picture. */
static double pixel_error(const struct reference *reference, const struct image *source,
                          const struct image *target, unsigned index, uint32_t x, uint32_t y) {
    const struct plane *from = &source->plane[index];
    unsigned channels = from->channels;
    double max = source->depth == 8 ? 255 : 65535, pixel[4], error = 0;
    for (unsigned c = 0; c < channels; c++) {
        pixel[c] = sum_line((enum resize_kernel)reference->plan->kernel, &reference->x,
                            reference->rows + y * reference->samples + c, channels, from->width, x);
    }
    double alpha = pixel[channels - 1];
    bool has_alpha = image_pixel_has_alpha(source->model);
    for (unsigned c = 0; c < channels; c++) {
        bool colour = has_alpha && c + 1 < channels;
        double value = limit(colour ? pixel[c] / alpha : pixel[c], max);
        double got = test_sample(target, index, x + reference->x.first, y + reference->y.first, c);
        if (!colour || alpha >= max / 255) {
            error = fmax(error, fabs(got - value));
        }
    }
    return error;
}

static double plane_error(const struct resize_plan *plan, const struct image *source,
                          const struct image *target, unsigned index) {
    const struct plane *from = &source->plane[index], *to = &target->plane[index];
    struct reference reference = {.plan = plan,
                                  .x = resize_plane_axis(&plan->x, from->shift_x, to->shift_x, to->width),
                                  .y = resize_plane_axis(&plan->y, from->shift_y, to->shift_y, to->height)};
    double *loaded = load(source, index), error = 0;
    sum_columns(&reference, from, loaded);
    for (uint32_t y = 0; y < to->height; y++) {
        for (uint32_t x = 0; x < to->width; x++) {
            uint32_t in_x = x - reference.x.first, in_y = y - reference.y.first; /* wraps outside */
            if (in_x < reference.x.count && in_y < reference.y.count) {
                error = fmax(error, pixel_error(&reference, source, target, index, in_x, in_y));
                continue;
            }
            for (unsigned c = 0; c < to->channels; c++) {
                error = fmax(error, abs((int)test_sample(target, index, x, y, c) -
                                        plan->colour[source->plane_count > 1 ? index : c]));
            }
        }
    }
    free(loaded);
    free(reference.rows);
    return error;
}

double reference_resize_error(const struct resize_plan *plan, const struct image *source,
                              const struct image *target) {
    double error = 0;
    for (unsigned i = 0; i < source->plane_count; i++) {
        error = fmax(error, plane_error(plan, source, target, i));
    }
    return error;
}
