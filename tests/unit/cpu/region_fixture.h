/* SPDX-License-Identifier: MIT
 * Regions for tests: made by chance, decided point by point, and drawn with a look at the bytes around. */
#ifndef BLURD_TESTS_REGION_FIXTURE_H
#define BLURD_TESTS_REGION_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/mask/mask.h"
#include "filters/argument/region.h"
#include "tests/filters/filter_image.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* A picture of one channel, all bytes GUARD_BYTE. */
static inline struct test_image gray_image(uint32_t width, uint32_t height) {
    return test_image_make(&(struct image_shape){PIXEL_GRAY, 8, 0, 0, width, height});
}

/* Ends the program with the error where there is one. */
static inline void region_must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(2);
    }
}

/* Appends a region that must be right. */
static inline void add_region(struct region_set *set, const char *format, ...) {
    char text[1000];
    struct error err = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    region_must(region_parse(set, text, &err), &err);
}

/* A multiple of 1/16 below `limit`, so that crossings of random edges seldom hit a centre exactly. */
static inline double random_place(uint64_t *random, unsigned limit) {
    return (double)(test_random(random) % (16u * limit)) / 16;
}

/* A shape of any form, part of it perhaps off a picture of that size. */
static inline void add_random_region(struct region_set *set, uint64_t *random, unsigned width,
                                     unsigned height) {
    unsigned form = (unsigned)(test_random(random) % 3);
    if (form < 2) {
        add_region(set, "%s%g,%g,%g,%g", form ? "ellipse:" : "", random_place(random, width),
                   random_place(random, height), random_place(random, width) + 0.0625,
                   random_place(random, height) + 0.0625);
        return;
    }
    struct error err = {0};
    enum status status;
    do { /* once more where all points lie on one line */
        char text[1000] = "polygon:";
        size_t used = strlen(text);
        unsigned points = 3 + (unsigned)(test_random(random) % 6);
        for (unsigned i = 0; i < points; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%g,%g", i ? "," : "",
                                     random_place(random, width + 9), random_place(random, height + 9));
        }
        status = region_parse(set, text, &err);
    } while (status != ST_OK && strstr(err.text, "it is empty"));
    region_must(status, &err);
}

/* ---- point by point ---- */

/* Above 0: (x, y) lies right of the line from a to b, seen with y downward. */
static inline double side_of(struct region_point a, struct region_point b, double x, double y) {
    return (b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y);
}

static inline bool polygon_has(const struct region_point *point, unsigned count, double x, double y) {
    int winding = 0;
    for (unsigned i = 0; i < count; i++) {
        struct region_point a = point[i], b = point[(i + 1) % count];
        if (a.y <= y && b.y > y && side_of(a, b, x, y) <= 0) {
            winding++;
        } else if (b.y <= y && a.y > y && side_of(a, b, x, y) >= 0) {
            winding--;
        }
    }
    return winding != 0;
}

/* Whether region `index` of a width x height picture has the point (x, y). */
static inline bool region_has(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                              double x, double y) {
    struct region_box box = region_box(set, index, width, height);
    if (set->region[index].form == REGION_POLYGON) {
        struct region_point point[REGION_POINTS_MAX];
        unsigned count = region_points(set, index, width, height, point);
        return polygon_has(point, count, x, y);
    }
    if (set->region[index].form == REGION_RECTANGLE) {
        return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1;
    }
    double u = (2 * x - box.x0 - box.x1) / (box.x1 - box.x0);
    double v = (2 * y - box.y0 - box.y1) / (box.y1 - box.y0);
    return u * u + v * v < 1;
}

/* Whether (x, y) lies so near the border that rounding decides. */
static inline bool region_near(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                               double x, double y) {
    struct region_point point[REGION_POINTS_MAX];
    if (set->region[index].form != REGION_POLYGON) {
        bool few = region_has(set, index, width, height, x - 1e-9, y) +
                       region_has(set, index, width, height, x + 1e-9, y) ==
                   1;
        return few && set->region[index].form == REGION_ELLIPSE;
    }
    unsigned count = region_points(set, index, width, height, point);
    for (unsigned i = 0; i < count; i++) {
        if (fabs(side_of(point[i], point[(i + 1) % count], x, y)) < 1e-9) {
            return true;
        }
    }
    return false;
}

/* ---- masks ---- */

static inline uint8_t mask_at(const struct test_image *mask, uint32_t x, uint32_t y) {
    return plane_row(&mask->image.plane[0], y)[x];
}

/* The memory around the picture's rows still holds guard bytes. */
static inline void assert_guarded(const struct test_image *mask) {
    const struct plane *plane = &mask->image.plane[0];
    size_t start = GUARD_BYTES, rows = start + plane->height * plane->stride;
    for (size_t i = 0; i < mask->size; i++) {
        bool picture = i >= start && i < rows && (i - start) % plane->stride < plane->width;
        if (!picture && mask->memory[i] != GUARD_BYTE) {
            fail_msg("byte %zu was written", i);
        }
    }
}

static inline void draw_mask(struct test_image *mask, const struct region_set *set,
                             struct mask_options options, struct mask_report *report) {
    struct mask_report unused;
    mask_draw(&mask->image, set, &options, report ? report : &unused, NULL);
    assert_guarded(mask);
}

#endif
