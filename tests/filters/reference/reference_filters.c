/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_filters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/chain.h"
#include "tests/filters/filter_image.h"
#include "tests/filters/reference/reference_blur.h"

static void *take_memory(size_t size) {
    void *memory =
        aligned_alloc(IMAGE_ALIGNMENT, (size + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT);
    if (!memory) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    return memory;
}

static unsigned largest(const struct image *image) {
    return image->depth == 8 ? 255 : 65535;
}

static bool is_alpha(const struct image *image, unsigned c) {
    return image_pixel_has_alpha(image->model) && c + 1u == image->plane[0].channels;
}

/* Alpha of a pixel; 1 without. */
static unsigned alpha_of(const struct image *image, uint32_t x, uint32_t y) {
    return image_pixel_has_alpha(image->model) ? test_sample(image, 0, x, y, image->plane[0].channels - 1u)
                                               : 1;
}

static unsigned to_sample(const struct image *image, float value) {
    float rounded = floorf(value + 0.5f);
    float most = (float)largest(image);
    return (unsigned)(rounded < 0 ? 0 : rounded > most ? most : rounded);
}

/* ---- convolve ---- */

/* The loaded sample at any position: 0 outside, where the edge mode has nothing. */
static float loaded(const struct image *image, enum edge edge, long x, long y, unsigned c) {
    ptrdiff_t from_x = edge_source(edge, (ptrdiff_t)image->width, x);
    ptrdiff_t from_y = edge_source(edge, (ptrdiff_t)image->height, y);
    if (from_x == OUTSIDE || from_y == OUTSIDE) {
        return 0;
    }
    uint32_t at_x = (uint32_t)from_x, at_y = (uint32_t)from_y;
    float value = (float)test_sample(image, 0, at_x, at_y, c);
    return is_alpha(image, c) ? value : value * (float)alpha_of(image, at_x, at_y);
}

/* The weighted sum of the window of pixel (x, y). volatile: every operation is rounded on its own. */
static float window_sum(const struct convolve_plan *plan, const struct image *image, long x, long y,
                        unsigned c) {
    volatile float sum = 0;
    for (int j = 0; j < plan->height; j++) {
        for (int i = 0; i < plan->width; i++) {
            volatile float product =
                plan->weight[j * plan->width + i] *
                loaded(image, plan->edge, x + i - plan->width / 2, y + j - plan->height / 2, c);
            sum = i == 0 && j == 0 ? product : sum + product;
        }
    }
    return sum;
}

static float window_sum_separable(const struct convolve_plan *plan, const struct image *image, long x, long y,
                                  unsigned c) {
    volatile float sum = 0;
    for (int i = 0; i < plan->width; i++) {
        volatile float column = 0;
        for (int j = 0; j < plan->height; j++) {
            volatile float product = plan->column[j] * loaded(image, plan->edge, x + i - plan->width / 2,
                                                              y + j - plan->height / 2, c);
            column = j == 0 ? product : column + product;
        }
        volatile float product = plan->row[i] * column;
        sum = i == 0 ? product : sum + product;
    }
    return sum;
}

static float quotient(const struct convolve_plan *plan, const struct image *image, uint32_t x, uint32_t y,
                      unsigned c) {
    float sum = (plan->separable ? window_sum_separable : window_sum)(plan, image, (long)x, (long)y, c);
    return sum / plan->divisor;
}

static unsigned convolved(const struct convolve_plan *plan, const struct image *image, uint32_t x, uint32_t y,
                          unsigned c) {
    bool alpha = is_alpha(image, c);
    long left = (long)x - plan->width / 2, top = (long)y - plan->height / 2;
    bool leaves = left < 0 || top < 0 || left + plan->width > (long)image->width ||
                  top + plan->height > (long)image->height;
    if (plan->edge == EDGE_FRAME && leaves) {
        return alpha ? test_sample(image, 0, x, y, c) : 0;
    }
    if (alpha) {
        return plan->alpha ? to_sample(image, quotient(plan, image, x, y, c))
                           : test_sample(image, 0, x, y, c);
    }
    volatile float q = quotient(plan, image, x, y, c);
    if (image_pixel_has_alpha(image->model)) {
        float a = plan->alpha ? quotient(plan, image, x, y, image->plane[0].channels - 1u)
                              : (float)alpha_of(image, x, y);
        q = a > 0 ? q / a : 0;
    }
    return to_sample(image, q + plan->bias);
}

void reference_convolve(const struct convolve_plan *plan, const struct image *source,
                        const struct image *target) {
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width; x++) {
            for (unsigned c = 0; c < source->plane[0].channels; c++) {
                test_put(target, 0, x, y, c, convolved(plan, source, x, y, c));
            }
        }
    }
}

/* ---- sharpen ---- */

static float sharpened(const struct sharpen_plan *plan, float x, float b) {
    volatile float d = x - b;
    if (fabsf(d) < plan->threshold) {
        return x;
    }
    volatile float more = plan->amount * d;
    return x + more;
}

void reference_sharpen(const struct sharpen_plan *plan, const struct image *source,
                       const struct image *target) {
    unsigned channels = source->plane[0].channels;
    float *blurred = take_memory((size_t)source->width * source->height * channels * sizeof *blurred);
    reference_blur_real(&plan->blur, source, blurred);
    const float *pixel = blurred;
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width; x++, pixel += channels) {
            for (unsigned c = 0; c < channels; c++) {
                unsigned sample = test_sample(source, 0, x, y, c);
                float b = pixel[c];
                if (image_pixel_has_alpha(source->model)) {
                    b = pixel[channels - 1] > 0 ? b / pixel[channels - 1] : 0;
                }
                unsigned sharp = to_sample(source, sharpened(plan, (float)sample, b));
                test_put(target, 0, x, y, c, is_alpha(source, c) ? sample : sharp);
            }
        }
    }
    free(blurred);
}

/* ---- pixelate ---- */

/* The mean of one channel of the tile that (x, y) is in. */
static unsigned tile_mean(const struct image *image, unsigned index, uint32_t block_x, uint32_t block_y,
                          uint32_t x, uint32_t y, unsigned c) {
    const struct plane *plane = &image->plane[index];
    uint64_t sum = 0, count = 0;
    bool colour = image_pixel_has_alpha(image->model) && !is_alpha(image, c);
    for (uint32_t j = y / block_y * block_y; j < y / block_y * block_y + block_y && j < plane->height; j++) {
        for (uint32_t i = x / block_x * block_x; i < x / block_x * block_x + block_x && i < plane->width;
             i++) {
            uint64_t weight = colour ? alpha_of(image, i, j) : 1;
            sum += weight * test_sample(image, index, i, j, c);
            count += weight;
        }
    }
    return count ? (unsigned)((sum + count / 2) / count) : 0;
}

void reference_pixelate(const struct pixelate_plan *plan, const struct image *source,
                        const struct image *target) {
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        uint32_t block_x = plan->block / (1u << plane->shift_x),
                 block_y = plan->block / (1u << plane->shift_y);
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                for (unsigned c = 0; c < plane->channels; c++) {
                    bool first = x % block_x == 0 && y % block_y == 0; /* the others are like it */
                    unsigned value =
                        first ? tile_mean(source, i, block_x, block_y, x, y, c)
                              : test_sample(target, i, x / block_x * block_x, y / block_y * block_y, c);
                    test_put(target, i, x, y, c, value);
                }
            }
        }
    }
}

/* ---- crop and rotate ---- */

void reference_crop(const struct crop_plan *plan, const struct image *source, const struct image *target) {
    for (unsigned i = 0; i < target->plane_count; i++) {
        const struct plane *plane = &target->plane[i];
        uint32_t left = plan->x / (1u << plane->shift_x), top = plan->y / (1u << plane->shift_y);
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                for (unsigned c = 0; c < plane->channels; c++) {
                    test_put(target, i, x, y, c, test_sample(source, i, left + x, top + y, c));
                }
            }
        }
    }
}

/* EXIF says what the stored picture's first row and column show; where a shown pixel is stored follows. */
void reference_rotate(const struct rotate_plan *plan, const struct image *source,
                      const struct image *target) {
    for (unsigned i = 0; i < target->plane_count; i++) {
        const struct plane *plane = &target->plane[i], *stored = &source->plane[i];
        uint32_t right = stored->width - 1, bottom = stored->height - 1;
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                const uint32_t across[9] = {0, x, right - x, right - x, x, y, y, right - y, right - y};
                const uint32_t down[9] = {0, y, y, bottom - y, bottom - y, x, bottom - x, bottom - x, x};
                for (unsigned c = 0; c < plane->channels; c++) {
                    test_put(target, i, x, y, c,
                             test_sample(source, i, across[plan->orientation], down[plan->orientation], c));
                }
            }
        }
    }
}

void reference_redact(const struct adjust_plan *plan, const struct image *source,
                      const struct image *target) {
    const struct rotate_plan none = {.orientation = 1};
    (void)plan;
    reference_rotate(&none, source, target);
}

/* ---- stats and masks ---- */

static void count_sample(struct stats_channel *channel, unsigned depth, uint64_t value, bool first) {
    channel->sum += value;
    channel->squares += value * value;
    channel->minimum = first || value < channel->minimum ? value : channel->minimum;
    channel->maximum = first || value > channel->maximum ? value : channel->maximum;
    channel->histogram[depth == 8 ? value : value >> 8]++;
}

/* Of the pixels under the mask; NULL: of all. */
static void count_under(const struct image *mask, const struct image *source, const struct image *target) {
    struct stats *stats = (struct stats *)(void *)target->plane[0].data;
    memset(stats, 0, sizeof *stats);
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width; x++) {
            if (mask && test_sample(mask, 0, x, y, 0) < 128) {
                continue;
            }
            for (unsigned c = 0; c < source->plane[0].channels; c++) {
                count_sample(&stats->channel[c], source->depth, test_sample(source, 0, x, y, c),
                             stats->pixels == 0);
            }
            stats->pixels++;
        }
    }
}

void reference_stats(const struct none_plan *plan, const struct image *source, const struct image *target) {
    (void)plan;
    count_under(NULL, source, target);
}

static uint64_t mean_coverage(const struct image *mask, const struct plane *plane, uint32_t x, uint32_t y) {
    uint64_t sum = 0, count = 0;
    for (uint32_t j = 0; j < mask->height; j++) {
        for (uint32_t i = 0; i < mask->width; i++) {
            if (i >> plane->shift_x == x && j >> plane->shift_y == y) {
                sum += test_sample(mask, 0, i, j, 0);
                count++;
            }
        }
    }
    return (sum + count / 2) / count;
}

static uint64_t mixed(const struct image *source, const struct image *result, unsigned index, uint32_t x,
                      uint32_t y, unsigned c, uint64_t m) {
    uint64_t s = test_sample(source, index, x, y, c), f = test_sample(result, index, x, y, c);
    if (m == 0 || m == 255) {
        return m ? f : s;
    }
    if (!image_pixel_has_alpha(source->model)) {
        return (s * (255 - m) + f * m + 127) / 255;
    }
    uint64_t sa = alpha_of(source, x, y), fa = alpha_of(result, x, y);
    uint64_t a = sa * (255 - m) + fa * m;
    if (is_alpha(source, c)) {
        return (a + 127) / 255;
    }
    return a ? (s * sa * (255 - m) + f * fa * m + a / 2) / a : 0;
}

void reference_blend(const struct image *source, const struct image *result, const struct image *mask) {
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                uint64_t m = plane->shift_x || plane->shift_y ? mean_coverage(mask, plane, x, y)
                                                              : test_sample(mask, 0, x, y, 0);
                /* colour first: it reads the alpha that the last channel replaces */
                for (unsigned c = 0; c < plane->channels; c++) {
                    test_put(result, i, x, y, c, (unsigned)mixed(source, result, i, x, y, c, m));
                }
            }
        }
    }
}

/* ---- chains ---- */

#define NO_REFERENCE(name)                                                                                   \
    void reference_##name(const struct name##_plan *plan, const struct image *source,                        \
                          const struct image *target) {                                                      \
        (void)plan, (void)source, (void)target;                                                              \
        fprintf(stderr, "the reference has no " #name "\n");                                                 \
        exit(2);                                                                                             \
    }
NO_REFERENCE(detect)
NO_REFERENCE(placeholder)
NO_REFERENCE(resize)

static void reference_step(const struct step *step, const struct image *source, const struct image *mask,
                           const struct image *target) {
    if (step->filter == FILTER_STATS && mask) {
        count_under(mask, source, target);
        return;
    }
    switch (step->filter) {
#define FILTER(ID, name, type)                                                                               \
    case FILTER_##ID:                                                                                        \
        reference_##name(&step->name, source, target);                                                       \
        return;
#include "filters/filters.def"
#undef FILTER
    case FILTER_COUNT:
        return;
    }
}

/* The picture that the step of this index writes; those between source and target take memory. */
static struct image step_target(const struct chain_run *run, uint32_t index) {
    struct image_shape source = image_shape(run->source);
    struct image_shape shape = chain_shape(run->chain, &source, index + 1);
    struct image image = *run->target;
    if (index + 1 < run->chain->count) {
        size_t size = image_layout(&image, &shape);
        image_place(&image, take_memory(size));
    }
    return image;
}

void reference_run(const struct chain_run *run) {
    struct image between[CHAIN_STEPS_MAX];
    const struct image *from = run->source;
    const struct chain *chain = run->chain;
    for (uint32_t i = 0; i < chain->count; i++) {
        between[i] = step_target(run, i);
        reference_step(&chain->step[i], from, run->mask, &between[i]);
        if (run->mask && i + 1 == chain_masked(chain) &&
            filter_get(chain->step[0].filter)->answer == ANSWER_PICTURE) {
            reference_blend(run->source, &between[i], run->mask);
        }
        from = &between[i];
    }
    for (uint32_t i = 0; i + 1 < chain->count; i++) {
        free(between[i].plane[0].data);
    }
}
