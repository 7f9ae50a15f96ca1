/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_blur.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/filters/reference/reference_filters.h"

/* One channel between two passes. An axis is `raw` as long as its positions are those of the picture:
 * then any position can be read, by the edge mode. Otherwise only those from lo to hi exist.
 * Integers up to 2^53 and floats are both exact in a double. */
struct axis_range {
    long lo, hi;
    bool raw;
};

struct field {
    bool real; /* arithmetic in single precision, else whole numbers */
    enum edge edge;
    double border;
    struct axis_range axis[2]; /* x, y */
    double *value;
};

static long length(struct axis_range range) {
    return range.hi - range.lo + 1;
}

static struct field make_field(const struct field *like, struct axis_range x, struct axis_range y) {
    struct field made = {like->real, like->edge, like->border, {x, y}, NULL};
    made.value = calloc((size_t)(length(x) * length(y)), sizeof *made.value);
    if (!made.value) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    return made;
}

static double *cell(const struct field *f, long x, long y) {
    return &f->value[(y - f->axis[1].lo) * length(f->axis[0]) + x - f->axis[0].lo];
}

/* The position that stands for `at` on a raw axis, or -1 for outside. */
static long fold(enum edge edge, long at, long n) {
    if (edge == EDGE_CLAMP || (n == 1 && edge != EDGE_ZERO)) {
        return at < 0 ? 0 : at >= n ? n - 1 : at;
    }
    if (edge == EDGE_ZERO) {
        return at < 0 || at >= n ? -1 : at;
    }
    long period = edge == EDGE_WRAP ? n : 2 * (n - 1);
    at = (at % period + period) % period;
    return at < n ? at : period - at;
}

/* The sample at (x, y) of the picture extended without end. */
static double extended(const struct field *f, long x, long y) {
    if (f->axis[0].raw) {
        x = fold(f->edge, x, f->axis[0].hi + 1);
    }
    if (f->axis[1].raw) {
        y = fold(f->edge, y, f->axis[1].hi + 1);
    }
    /* -1 is a separate position on an axis that is not raw */
    bool outside = (f->axis[0].raw && x < 0) || (f->axis[1].raw && y < 0);
    return outside ? f->border : *cell(f, x, y);
}

static double along(const struct field *f, unsigned axis, long x, long y, long offset) {
    return extended(f, axis == 0 ? offset : x, axis == 1 ? offset : y);
}

static double add(const struct field *f, double a, double b) {
    return f->real ? (double)(float)(a + b) : a + b;
}

static double multiply(const struct field *f, double a, double b) {
    return f->real ? (double)(float)(a * b) : a * b;
}

/* The value that a pass stores for a sum of 15-bit weights times values with 7 fractional bits. */
static double rounded(const struct field *f, double sum, bool last) {
    if (f->real) {
        return sum;
    }
    return floor(sum / (last ? 1 << 22 : 1 << 15) + 0.5);
}

/* The samples from `first` on along `axis`, on the line that is `other` on the other axis. */
static void read_line(const struct field *f, unsigned axis, long other, long first, long count,
                      double *line) {
    for (long i = 0; i < count; i++) {
        line[i] = along(f, axis, other, other, first + i);
    }
}

/* Replaces *f by the result of a pass along `axis` over positions `range`, every one the symmetric taps
 * around position * step. */
static void pass_taps(struct field *f, unsigned axis, struct axis_range range, long step, int radius,
                      const int16_t *weight, const float *real, bool last) {
    struct field out = make_field(f, axis == 0 ? range : f->axis[0], axis == 1 ? range : f->axis[1]);
    long first = range.lo * step - radius;
    long count = (range.hi - range.lo) * step + 2 * radius + 1;
    struct field line =
        make_field(f, (struct axis_range){0, count - 1, false}, (struct axis_range){0, 0, false});
    for (long other = out.axis[!axis].lo; other <= out.axis[!axis].hi; other++) {
        read_line(f, axis, other, first, count, line.value);
        for (long at = range.lo; at <= range.hi; at++) {
            const double *centre = line.value + at * step - first;
            double sum = multiply(f, f->real ? real[0] : weight[0], *centre);
            for (int k = 1; k <= radius; k++) {
                double pair = add(f, centre[-k], centre[k]);
                sum = add(f, sum, multiply(f, f->real ? real[k] : weight[k], pair));
            }
            *(axis ? cell(&out, other, at) : cell(&out, at, other)) = rounded(f, sum, last);
        }
    }
    free(line.value);
    free(f->value);
    *f = out;
}

static void pass_enlarge(struct field *f, unsigned axis, long size, unsigned levels, bool last) {
    struct axis_range range = {0, size - 1, false};
    struct field out = make_field(f, axis == 0 ? range : f->axis[0], axis == 1 ? range : f->axis[1]);
    for (long y = out.axis[1].lo; y <= out.axis[1].hi; y++) {
        for (long x = out.axis[0].lo; x <= out.axis[0].hi; x++) {
            long at = axis ? y : x;
            int16_t weight[BLUR_TAPS_ENLARGE];
            float real[BLUR_TAPS_ENLARGE];
            blur_enlarge(levels, (unsigned)(at % (1 << levels)), weight, real);
            double sum = 0;
            for (int k = 0; k < BLUR_TAPS_ENLARGE; k++) {
                double value = along(f, axis, x, y, (at >> levels) - 1 + k);
                sum = add(f, sum, multiply(f, f->real ? real[k] : weight[k], value));
            }
            *cell(&out, x, y) = rounded(f, sum, last);
        }
    }
    free(f->value);
    *f = out;
}

static struct axis_range blurred_range(const struct blur_axis *axis, long size) {
    long last = size - 1;
    return axis->levels ? (struct axis_range){-1, (last >> axis->levels) + 2, false}
                        : (struct axis_range){0, last, false};
}

/* The positions that stage `i` must yield, computed backwards from the positions that the blur reads. */
static struct axis_range stage_range(const struct blur_axis *axis, const struct blur_stage *stage,
                                     unsigned stages, unsigned i, long size) {
    struct axis_range range = blurred_range(axis, size);
    range.lo -= axis->radius;
    range.hi += axis->radius;
    for (unsigned s = stages; s-- > i + 1;) {
        range.lo = range.lo * (1 << stage[s].shift) - stage[s].radius;
        range.hi = range.hi * (1 << stage[s].shift) + stage[s].radius;
    }
    return range;
}

/* The whole filter on one channel: stages, blur, enlargement; each vertical (1) before horizontal
 * (0), but the enlargement horizontal first. */
static void filter_field(struct field *f, const struct blur_axis *const plan[2], const long size[2]) {
    struct blur_stage stage[2][BLUR_STAGES_MAX];
    unsigned stages[2] = {blur_stages(plan[0]->levels, stage[0]), blur_stages(plan[1]->levels, stage[1])};
    for (unsigned i = 0; i < BLUR_STAGES_MAX; i++) {
        for (unsigned axis = 2; axis-- > 0;) {
            if (i < stages[axis]) {
                const struct blur_stage *s = &stage[axis][i];
                pass_taps(f, axis, stage_range(plan[axis], stage[axis], stages[axis], i, size[axis]),
                          1 << s->shift, s->radius, s->weight, s->weight_float, false);
            }
        }
    }
    for (unsigned axis = 2; axis-- > 0;) {
        bool last = axis == 0 && plan[0]->levels == 0 && plan[1]->levels == 0;
        pass_taps(f, axis, blurred_range(plan[axis], size[axis]), 1, plan[axis]->radius, plan[axis]->weight,
                  plan[axis]->weight_float, last);
    }
    for (unsigned axis = 0; axis < 2; axis++) {
        if (plan[axis]->levels) {
            pass_enlarge(f, axis, size[axis], plan[axis]->levels, axis == 1 || plan[1]->levels == 0);
        }
    }
}

static unsigned get_sample(const struct plane *plane, unsigned depth, uint32_t x, uint32_t y, unsigned c) {
    size_t i = (size_t)x * plane->channels + c;
    const uint8_t *row = plane_row(plane, y);
    return depth == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

static void put_sample(const struct plane *plane, unsigned depth, uint32_t x, uint32_t y, unsigned c,
                       unsigned value) {
    size_t i = (size_t)x * plane->channels + c;
    uint8_t *row = plane_row(plane, y);
    if (depth == 8) {
        row[i] = (uint8_t)value;
    } else {
        ((uint16_t *)(void *)row)[i] = (uint16_t)value;
    }
}

/* One channel of a plane, multiplied by alpha where there is one, as values. */
static struct field load_field(const struct image *source, unsigned index, unsigned c, enum edge edge,
                               bool real) {
    const struct plane *plane = &source->plane[index];
    bool alpha = image_pixel_has_alpha(source->model);
    double scale = 1;
    struct field like = {.real = real, .edge = edge};
    if (!like.real) {
        scale = 1 << BLUR_STORE_BITS;
    }
    like.border = blur_border(source->model, index) * scale;
    struct field made = make_field(&like, (struct axis_range){0, (long)plane->width - 1, true},
                                   (struct axis_range){0, (long)plane->height - 1, true});
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            double value = get_sample(plane, source->depth, x, y, c) * scale;
            if (alpha && c + 1u < plane->channels) {
                value = (float)(value * get_sample(plane, source->depth, x, y, plane->channels - 1u));
            }
            *cell(&made, x, y) = value;
        }
    }
    return made;
}

static unsigned real_sample(float value, unsigned max) {
    float result = floorf(value + 0.5f);
    return result >= (float)max ? max : (unsigned)result;
}

static void store_plane(const struct image *target, unsigned index, const struct field *channel) {
    const struct plane *plane = &target->plane[index];
    unsigned max = target->depth == 8 ? 255 : 65535;
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            for (unsigned c = 0; c < plane->channels; c++) {
                double value = *cell(&channel[c], x, y);
                if (image_pixel_has_alpha(target->model) && c + 1u < plane->channels) {
                    float alpha = (float)*cell(&channel[plane->channels - 1], x, y);
                    value = alpha > 0 ? (float)value / alpha : 0;
                }
                unsigned sample = channel[c].real ? real_sample((float)value, max) : (unsigned)value;
                put_sample(plane, target->depth, x, y, c, sample);
            }
        }
    }
}

/* Filters every channel of a plane. */
static void blur_plane(const struct blur_plan *plan, const struct image *source, unsigned index, bool real,
                       struct field channel[4]) {
    const struct plane *plane = &source->plane[index];
    const struct blur_axis *const axes[2] = {&plan->axis[plane->shift_x], &plan->axis[plane->shift_y]};
    const long size[2] = {(long)plane->width, (long)plane->height};
    for (unsigned c = 0; c < plane->channels; c++) {
        channel[c] = load_field(source, index, c, plan->edge, real);
        filter_field(&channel[c], axes, size);
    }
}

void reference_blur(const struct blur_plan *plan, const struct image *source, const struct image *target) {
    bool real = image_pixel_has_alpha(source->model) || source->depth == 16;
    for (unsigned i = 0; i < source->plane_count; i++) {
        struct field channel[4];
        blur_plane(plan, source, i, real, channel);
        store_plane(target, i, channel);
        for (unsigned c = 0; c < source->plane[i].channels; c++) {
            free(channel[c].value);
        }
    }
}

void reference_blur_real(const struct blur_plan *plan, const struct image *source, float *value) {
    const struct plane *plane = &source->plane[0];
    struct field channel[4];
    blur_plane(plan, source, 0, true, channel);
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            for (unsigned c = 0; c < plane->channels; c++) {
                *value++ = (float)*cell(&channel[c], x, y);
            }
        }
    }
    for (unsigned c = 0; c < plane->channels; c++) {
        free(channel[c].value);
    }
}
