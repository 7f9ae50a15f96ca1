/* SPDX-License-Identifier: MIT
 * Pictures for tests of redaction, and what is inside of a mask. */
#ifndef BLURD_TESTS_REDACT_FIXTURE_H
#define BLURD_TESTS_REDACT_FIXTURE_H

#include "cpu/mask/redact.h"
#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const struct image_shape redact_shapes[] = {
    {PIXEL_GRAY, 8, 0, 0, 61, 33},  {PIXEL_GRAY, 16, 0, 0, 61, 33},       {PIXEL_GRAY_ALPHA, 8, 0, 0, 33, 40},
    {PIXEL_RGB, 8, 0, 0, 40, 37},   {PIXEL_GRAY_ALPHA, 16, 0, 0, 33, 40}, {PIXEL_RGB, 16, 0, 0, 40, 37},
    {PIXEL_RGBA, 8, 0, 0, 29, 41},  {PIXEL_RGBA, 16, 0, 0, 29, 41},       {PIXEL_YCBCR, 8, 0, 0, 37, 43},
    {PIXEL_YCBCR, 8, 1, 0, 37, 43}, {PIXEL_YCBCR, 8, 1, 1, 37, 43},       {PIXEL_YCBCR, 8, 0, 1, 37, 43},
    {PIXEL_YCBCR, 8, 2, 2, 37, 43}, {PIXEL_YCBCR, 8, 1, 1, 2600, 20},     {PIXEL_RGB, 8, 0, 0, 1100, 20},
};
enum {
    REDACT_SHAPES = sizeof redact_shapes / sizeof *redact_shapes,
    REDACT_SHAPES_SMALL = REDACT_SHAPES - 2, /* the first ones */
};

static inline void redact(struct test_image *image, const struct region_set *set,
                          struct redact_options options) {
    struct error err = {0};
    struct test_image mask = gray_image(image->image.width, image->image.height);
    assert_int_equal(redact_image(&image->image, set, &options, &mask.image, &err), ST_OK);
    assert_guarded(&mask);
    test_image_free(&mask);
}

static inline bool touched(const struct image *mask, const struct plane *plane, uint32_t x, uint32_t y) {
    for (uint32_t v = y << plane->shift_y; v < (y + 1) << plane->shift_y && v < mask->height; v++) {
        for (uint32_t u = x << plane->shift_x; u < (x + 1) << plane->shift_x && u < mask->width; u++) {
            if (test_sample(mask, 0, u, v, 0)) {
                return true;
            }
        }
    }
    return false;
}

/* A set of region i alone; inverted sets and empty ones stay as they are. */
static inline struct region_set part_of(const struct region_set *set, uint32_t i, bool invert) {
    struct region_set part = *set;
    if (set->count > 0 && !invert) {
        part.region[0] = set->region[i];
        part.count = 1;
    }
    return part;
}

/* Puts noise everywhere inside the mask. */
static inline void scramble(struct test_image *image, const struct image *mask, uint64_t *random) {
    for (unsigned p = 0; p < image->image.plane_count; p++) {
        const struct plane *plane = &image->image.plane[p];
        for (uint32_t i = 0; i < plane->width * plane->height; i++) {
            for (unsigned c = 0;
                 c < plane->channels && touched(mask, plane, i % plane->width, i / plane->width); c++) {
                test_put(&image->image, p, i % plane->width, i / plane->width, c,
                         (unsigned)(test_random(random) % 256));
            }
        }
    }
}

/* Everything outside the mask is as in `source`. */
static inline void assert_outside(const struct test_image *image, const struct test_image *source,
                                  const struct image *mask) {
    for (unsigned p = 0; p < image->image.plane_count; p++) {
        const struct plane *plane = &image->image.plane[p];
        for (uint32_t i = 0; i < plane->width * plane->height; i++) {
            uint32_t x = i % plane->width, y = i / plane->width;
            for (unsigned c = 0; c < plane->channels && !touched(mask, plane, x, y); c++) {
                assert_int_equal(test_sample(&image->image, p, x, y, c),
                                 test_sample(&source->image, p, x, y, c));
            }
        }
    }
}

#endif
