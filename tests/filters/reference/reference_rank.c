/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_filters.h"

#include <stdlib.h>

#include "filters/argument/edge.h"
#include "tests/filters/filter_image.h"

enum { WINDOW_MAX = 51 * 51 };

struct entry {
    uint64_t key;
    uint64_t weight;
};

struct window {
    unsigned count;
    struct entry entry[WINDOW_MAX];
};

/* The windows of a plane. */
struct windows {
    const struct image *image;
    unsigned plane;
    enum edge edge;
    long radius_x, radius_y;
};

static int compare(const void *a, const void *b) {
    uint64_t left = ((const struct entry *)a)->key, right = ((const struct entry *)b)->key;
    return left < right ? -1 : left > right;
}

static uint64_t alpha_at(const struct image *image, uint32_t x, uint32_t y) {
    unsigned last = image->plane[0].channels - 1u;
    return image_pixel_has_alpha(image->model) ? test_sample(image, 0, x, y, last) : 1;
}

/* Fills the sorted window of a sample. Its keys are samples, or those times alpha. */
static void gather(struct window *window, const struct windows *all, uint32_t x, uint32_t y, unsigned c,
                   bool multiplied) {
    const struct plane *plane = &all->image->plane[all->plane];
    window->count = 0;
    for (long j = (long)y - all->radius_y; j <= (long)y + all->radius_y; j++) {
        for (long i = (long)x - all->radius_x; i <= (long)x + all->radius_x; i++) {
            ptrdiff_t at_x = edge_source(all->edge, (ptrdiff_t)plane->width, i);
            ptrdiff_t at_y = edge_source(all->edge, (ptrdiff_t)plane->height, j);
            struct entry entry = {all->plane > 0 ? 128 : 0, !image_pixel_has_alpha(all->image->model)};
            if (at_x != OUTSIDE && at_y != OUTSIDE) {
                entry.weight = alpha_at(all->image, (uint32_t)at_x, (uint32_t)at_y);
                entry.key = test_sample(all->image, all->plane, (uint32_t)at_x, (uint32_t)at_y, c);
                entry.key *= multiplied ? entry.weight : 1;
            }
            window->entry[window->count++] = entry;
        }
    }
    qsort(window->entry, window->count, sizeof window->entry[0], compare);
}

static uint64_t extreme(const struct window *window, bool largest) {
    return window->entry[largest ? window->count - 1 : 0].key;
}

static void morphology_pixel(const struct windows *all, bool largest, const struct image *target, uint32_t x,
                             uint32_t y) {
    static struct window window;
    unsigned last = all->image->plane[0].channels - 1u;
    bool alpha = image_pixel_has_alpha(all->image->model);
    gather(&window, all, x, y, last, false);
    uint64_t of_last = extreme(&window, largest);
    test_put(target, 0, x, y, last, (unsigned)of_last);
    for (unsigned c = 0; c < last; c++) {
        gather(&window, all, x, y, c, alpha);
        uint64_t value = extreme(&window, largest);
        if (alpha) {
            value = of_last ? (value + of_last / 2) / of_last : 0;
        }
        test_put(target, 0, x, y, c, (unsigned)value);
    }
}

static void morphology(const struct morphology_plan *plan, bool largest, const struct image *source,
                       const struct image *target) {
    struct windows all = {source, 0, plan->edge, plan->radius, plan->radius};
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width; x++) {
            morphology_pixel(&all, largest, target, x, y);
        }
    }
}

/* The least sample up to which at least half of the weights lie. */
static uint64_t weighted_median(const struct window *window) {
    uint64_t total = 0, sum = 0;
    for (unsigned i = 0; i < window->count; i++) {
        total += window->entry[i].weight;
    }
    for (unsigned i = 0; i < window->count && total > 0; i++) {
        sum += window->entry[i].weight;
        if (2 * sum >= total) {
            return window->entry[i].key;
        }
    }
    return 0;
}

static void median_pixel(const struct windows *all, const struct image *target, uint32_t x, uint32_t y) {
    static struct window window;
    unsigned last = all->image->plane[all->plane].channels - 1u;
    bool alpha = image_pixel_has_alpha(all->image->model);
    gather(&window, all, x, y, last, false);
    uint64_t of_last = window.entry[window.count / 2].key;
    test_put(target, all->plane, x, y, last, (unsigned)of_last);
    for (unsigned c = 0; c < last; c++) {
        gather(&window, all, x, y, c, false);
        uint64_t value = alpha && of_last == 0 ? 0 : weighted_median(&window);
        test_put(target, all->plane, x, y, c, (unsigned)value);
    }
}

void reference_dilate(const struct morphology_plan *plan, const struct image *source,
                      const struct image *target) {
    morphology(plan, true, source, target);
}

void reference_erode(const struct morphology_plan *plan, const struct image *source,
                     const struct image *target) {
    morphology(plan, false, source, target);
}

void reference_median(const struct median_plan *plan, const struct image *source,
                      const struct image *target) {
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        struct windows all = {source, i, plan->edge, plan->radius >> plane->shift_x,
                              plan->radius >> plane->shift_y};
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                median_pixel(&all, target, x, y);
            }
        }
    }
}
