/* SPDX-License-Identifier: MIT
 * Blending against the formula, sample by sample. */
#include "cpu/blend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "cpu/mask/mask_plane.h"
#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static uint64_t seed;

static const struct image_shape shapes[] = {
    {PIXEL_GRAY, 8, 0, 0, 61, 9},        {PIXEL_GRAY, 16, 0, 0, 61, 9},  {PIXEL_GRAY_ALPHA, 8, 0, 0, 33, 9},
    {PIXEL_GRAY_ALPHA, 16, 0, 0, 33, 9}, {PIXEL_RGB, 8, 0, 0, 40, 7},    {PIXEL_RGB, 16, 0, 0, 40, 7},
    {PIXEL_RGBA, 8, 0, 0, 29, 11},       {PIXEL_RGBA, 16, 0, 0, 29, 11}, {PIXEL_YCBCR, 8, 0, 0, 37, 13},
    {PIXEL_YCBCR, 8, 1, 0, 37, 13},      {PIXEL_YCBCR, 8, 1, 1, 37, 13}, {PIXEL_YCBCR, 8, 0, 1, 37, 13},
    {PIXEL_YCBCR, 8, 2, 0, 37, 13},      {PIXEL_YCBCR, 8, 2, 2, 37, 13}, {PIXEL_YCBCR, 8, 1, 1, 1, 1},
    {PIXEL_YCBCR, 8, 1, 1, 2500, 3},     {PIXEL_RGBA, 8, 0, 0, 2100, 2},
};

/* Long runs of 0 and 255, and soft edges. */
static void fill_mask(struct test_image *mask, uint64_t *random) {
    unsigned value = 0, left = 0;
    for (uint32_t y = 0; y < mask->image.height; y++) {
        for (uint32_t x = 0; x < mask->image.width; x++, left--) {
            if (left == 0) {
                static const unsigned values[] = {0, 255, 0, 255, 1, 254, 128};
                unsigned pick = (unsigned)(test_random(random) % 8);
                value = pick < 7 ? values[pick] : (unsigned)(test_random(random) % 256);
                left = 1 + (unsigned)(test_random(random) % (pick < 4 ? 40 : 3));
            }
            test_put(&mask->image, 0, x, y, 0, value);
        }
    }
}

static unsigned coverage(const struct image *mask, const struct plane *plane, uint32_t x, uint32_t y) {
    unsigned sum = 0, count = 0;
    for (uint32_t v = y << plane->shift_y; v < (y + 1) << plane->shift_y && v < mask->height; v++) {
        for (uint32_t u = x << plane->shift_x; u < (x + 1) << plane->shift_x && u < mask->width; u++) {
            sum += test_sample(mask, 0, u, v, 0);
            count++;
        }
    }
    return (sum + count / 2) / count;
}

static uint64_t expected(const struct image *source, const struct image *filtered, unsigned plane, uint32_t x,
                         uint32_t y, unsigned channel, uint64_t m) {
    uint64_t s = test_sample(source, plane, x, y, channel), f = test_sample(filtered, plane, x, y, channel);
    if (m == 0 || m == 255) {
        return m ? f : s;
    }
    if (!image_pixel_has_alpha(source->model)) {
        return (s * (255 - m) + f * m + 127) / 255;
    }
    unsigned last = source->plane[0].channels - 1u;
    uint64_t sa = test_sample(source, 0, x, y, last), fa = test_sample(filtered, 0, x, y, last);
    uint64_t a = sa * (255 - m) + fa * m;
    return channel == last ? (a + 127) / 255 : a ? (s * sa * (255 - m) + f * fa * m + a / 2) / a : 0;
}

static void compare(const struct image *source, const struct image *filtered, const struct image *result,
                    const struct image *mask) {
    for (unsigned p = 0; p < source->plane_count; p++) {
        const struct plane *plane = &source->plane[p];
        for (uint32_t i = 0; i < plane->width * plane->height; i++) {
            uint32_t x = i % plane->width, y = i / plane->width;
            unsigned m = coverage(mask, plane, x, y);
            for (unsigned c = 0; c < plane->channels; c++) {
                assert_int_equal(test_sample(result, p, x, y, c), expected(source, filtered, p, x, y, c, m));
            }
        }
    }
}

/* Transparent pixels, some with the same alpha in both, are among them. */
static void sprinkle_alpha(struct test_image *image, uint64_t *random) {
    unsigned last = image->image.plane[0].channels - 1u;
    for (uint32_t i = 0; image_pixel_has_alpha(image->image.model) && i < image->image.width * 2; i++) {
        unsigned alpha = test_random(random) % 2 ? 0 : image->image.depth == 8 ? 255 : 65535;
        test_put(&image->image, 0, i % image->image.width, i / image->image.width, last, alpha);
    }
}

static void test_formula(void **state) {
    (void)state;
    uint64_t random = seed;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct test_image source = test_image_make(&shapes[i]), filtered = test_image_make(&shapes[i]),
                          result = test_image_make(&shapes[i]),
                          mask = gray_image(shapes[i].width, shapes[i].height);
        for (enum content content = 0; content <= CONTENT_MAX; content++) {
            fill_mask(&mask, &random);
            test_image_fill(&source, content, &random);
            test_image_fill(&filtered, content == CONTENT_MAX ? CONTENT_ZERO : CONTENT_NOISE, &random);
            sprinkle_alpha(&source, &random);
            sprinkle_alpha(&filtered, &random);
            memcpy(result.memory, filtered.memory, result.size);
            assert_int_equal(blend(NULL, 0, &source.image, &result.image, &mask.image, NULL), ST_OK);
            compare(&source.image, &filtered.image, &result.image, &mask.image);
        }
        test_image_free(&source);
        test_image_free(&filtered);
        test_image_free(&result);
        test_image_free(&mask);
    }
}

/* Coverage 0 gives the source, full coverage leaves the result, and neither touches the padding. */
static void test_extremes(void **state) {
    (void)state;
    uint64_t random = seed;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct test_image source = test_image_make(&shapes[i]), result = test_image_make(&shapes[i]),
                          before = test_image_make(&shapes[i]),
                          mask = gray_image(shapes[i].width, shapes[i].height);
        test_image_fill(&source, CONTENT_NOISE, &random);
        test_image_fill(&result, CONTENT_NOISE, &random);
        memcpy(before.memory, result.memory, result.size);
        test_image_set(&mask, 255);
        assert_int_equal(blend(NULL, 0, &source.image, &result.image, &mask.image, NULL), ST_OK);
        assert_memory_equal(result.memory, before.memory, result.size);
        test_image_set(&mask, 0);
        assert_int_equal(blend(NULL, 0, &source.image, &result.image, &mask.image, NULL), ST_OK);
        assert_memory_equal(result.memory, source.memory, result.size);
        /* Blending a picture with itself changes nothing where there is no alpha to lose colour to. */
        fill_mask(&mask, &random);
        if (!image_pixel_has_alpha(shapes[i].model)) {
            assert_int_equal(blend(NULL, 0, &source.image, &result.image, &mask.image, NULL), ST_OK);
            assert_memory_equal(result.memory, source.memory, result.size);
        }
        test_image_free(&source);
        test_image_free(&result);
        test_image_free(&before);
        test_image_free(&mask);
    }
}

/* A sample that covers any pixel of the mask counts, and no other one. */
static void test_any(void **state) {
    (void)state;
    uint64_t random = seed;
    for (size_t i = 8; i < 15; i++) {
        struct test_image image = test_image_make(&shapes[i]),
                          mask = gray_image(shapes[i].width, shapes[i].height);
        const struct plane *plane = &image.image.plane[1];
        for (int round = 0; round < 50; round++) {
            uint8_t buffer[MASK_CHUNK];
            uint32_t x = (uint32_t)(test_random(&random) % mask.image.width);
            uint32_t y = (uint32_t)(test_random(&random) % mask.image.height);
            test_image_set(&mask, 0);
            test_put(&mask.image, 0, x, y, 0, 1 + (unsigned)(test_random(&random) % 255));
            for (uint32_t v = 0; v < plane->height && (plane->shift_x || plane->shift_y); v++) {
                uint32_t from = plane->width / 3, count = plane->width - from;
                const uint8_t *m = mask_samples(&mask.image, plane, v, from, count, MASK_ANY, buffer);
                for (uint32_t u = from; u < plane->width; u++) {
                    bool covers = u == x >> plane->shift_x && v == y >> plane->shift_y;
                    assert_int_equal(m[u - from], covers ? 255 : 0);
                }
            }
        }
        test_image_free(&image);
        test_image_free(&mask);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_any),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
