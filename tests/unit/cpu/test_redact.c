/* SPDX-License-Identifier: MIT
 * Compares redaction with a plain implementation, and tests the guarantee: the output depends on the content
 * of a region only through its levels. */
#include "cpu/mask/redact.h"

#include <string.h>

#include "tests/unit/cpu/redact_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static uint64_t seed;

/* ---- the plain one ---- */

static unsigned plain_level(const struct image *image, unsigned plane, unsigned channel, unsigned mean) {
    unsigned wide = image->depth == 8 ? 1 : 257, bin = image->depth == 8 ? 16 : 4096;
    if (image_pixel_has_alpha(image->model) && channel == image->plane[0].channels - 1u) {
        unsigned best = 0;
        for (unsigned i = 1; i < 16; i++) {
            int64_t before = (int64_t)mean - best * 17 * wide, now = (int64_t)mean - i * 17 * wide;
            best = now * now <= before * before ? i : best;
        }
        return best * 17 * wide;
    }
    if (plane > 0) {
        return mean >= 248 ? 240 : (mean + 8) / 16 * 16;
    }
    return mean / bin * bin + bin / 2;
}

/* Replaces the pixels of a channel of `result` that `mask` touches by the level of their mean in `source`. */
static void plain_channel(const struct image *source, const struct image *result, unsigned p, unsigned c,
                          const struct image *mask) {
    const struct plane *plane = &source->plane[p];
    uint64_t total = 0, weights = 0;
    bool weighted = image_pixel_has_alpha(source->model) && c + 1u < plane->channels;
    for (uint32_t i = 0; i < plane->width * plane->height; i++) {
        uint32_t x = i % plane->width, y = i / plane->width;
        if (touched(mask, plane, x, y)) {
            uint64_t weight = weighted ? test_sample(source, p, x, y, plane->channels - 1u) : 1;
            total += weight * test_sample(source, p, x, y, c);
            weights += weight;
        }
    }
    unsigned mean = weights ? (unsigned)((total + weights / 2) / weights) : 0;
    for (uint32_t i = 0; i < plane->width * plane->height; i++) {
        if (touched(mask, plane, i % plane->width, i / plane->width)) {
            test_put(result, p, i % plane->width, i / plane->width, c, plain_level(source, p, c, mean));
        }
    }
}

static void plain_redact(const struct test_image *source, struct test_image *result,
                         const struct region_set *set, const struct redact_options *options) {
    struct test_image mask = gray_image(source->image.width, source->image.height);
    bool invert = options->invert || set->count == 0;
    for (uint32_t i = 0; i < (invert ? 1 : set->count); i++) {
        struct region_set part = part_of(set, i, invert);
        struct mask_report report;
        struct mask_options drawing = {.invert = invert, .outward = true, .grid = options->grid};
        mask_draw(&mask.image, &part, &drawing, &report, NULL);
        for (unsigned p = 0; p < source->image.plane_count; p++) {
            for (unsigned c = 0; c < source->image.plane[p].channels; c++) {
                plain_channel(&source->image, &result->image, p, c, &mask.image);
            }
        }
    }
    test_image_free(&mask);
}

/* All models, overlapping regions, some of them partly outside; compares the padding, too. */
static void test_plain(void **state) {
    (void)state;
    uint64_t random = seed;
    for (int round = 0; round < 4 * REDACT_SHAPES; round++) {
        const struct image_shape *shape = &redact_shapes[round % REDACT_SHAPES];
        struct region_set set = {0};
        struct redact_options options = {.invert = test_random(&random) % 3 == 0};
        if (test_random(&random) % 2) {
            options.grid =
                (struct mask_grid){8, 16, (uint32_t)(test_random(&random) % 8), 3, (uint32_t)round % 2, 1};
        }
        for (unsigned i = (unsigned)(test_random(&random) % 5); i > 0; i--) {
            add_random_region(&set, &random, shape->width, 30);
        }
        struct test_image image = test_image_make(shape), expected = test_image_make(shape),
                          source = test_image_make(shape);
        test_image_fill(&source, round % 2 ? CONTENT_NOISE : CONTENT_PHOTO, &random);
        memcpy(image.memory, source.memory, source.size);
        memcpy(expected.memory, source.memory, source.size);
        plain_redact(&source, &expected, &set, &options);
        redact(&image, &set, options);
        assert_memory_equal(image.memory, expected.memory, expected.size);
        test_image_free(&image);
        test_image_free(&expected);
        test_image_free(&source);
    }
}

/* ---- the guarantee ---- */

/* Exchanges whole pixels of a plane inside the mask at random: every mean stays. */
static void shuffle(struct test_image *image, const struct image *mask, uint64_t *random) {
    for (unsigned p = 0; p < image->image.plane_count; p++) {
        const struct plane *plane = &image->image.plane[p];
        for (uint32_t i = 0; i < plane->width * plane->height; i++) {
            uint32_t j = (uint32_t)(test_random(random) % (plane->width * plane->height));
            uint32_t x = i % plane->width, y = i / plane->width, u = j % plane->width, v = j / plane->width;
            for (unsigned c = 0;
                 c < plane->channels && touched(mask, plane, x, y) && touched(mask, plane, u, v); c++) {
                unsigned kept = test_sample(&image->image, p, x, y, c);
                test_put(&image->image, p, x, y, c, test_sample(&image->image, p, u, v, c));
                test_put(&image->image, p, u, v, c, kept);
            }
        }
    }
}

static void check_guarantee(const struct image_shape *shape, bool invert, uint32_t block, uint64_t *random) {
    struct test_image source = test_image_make(shape), mask = gray_image(shape->width, shape->height);
    struct region_set set = {0};
    struct redact_options options = {.invert = invert, .block = block, .grid = {8, 8, 0, 0, 1, 1}};
    struct mask_options drawing = {.invert = invert, .outward = true, .grid = options.grid};
    struct mask_report report;
    add_region(&set, "ellipse:3.3,2.1,14.5,9.2");
    mask_draw(&mask.image, &set, &drawing, &report, NULL);
    test_image_fill(&source, CONTENT_NOISE, random);
    struct test_image one = test_image_make(shape), other = test_image_make(shape);
    memcpy(one.memory, source.memory, source.size);
    memcpy(other.memory, source.memory, source.size);
    shuffle(&other, &mask.image, random);
    assert_memory_not_equal(one.memory, other.memory, one.size);
    redact(&one, &set, options);
    redact(&other, &set, options);
    assert_memory_equal(one.memory, other.memory, one.size);
    memcpy(other.memory, source.memory, source.size);
    scramble(&other, &mask.image, random);
    redact(&other, &set, options);
    assert_outside(&one, &source, &mask.image);
    assert_outside(&other, &source, &mask.image);
    test_image_free(&source);
    test_image_free(&mask);
    test_image_free(&one);
    test_image_free(&other);
}

static void test_guarantee(void **state) {
    (void)state;
    uint64_t random = seed;
    for (size_t i = 0; i < REDACT_SHAPES_SMALL; i++) {
        for (int round = 0; round < 8; round++) {
            check_guarantee(&redact_shapes[i], round & 1, round & 2 ? 5 : 0, &random);
        }
    }
}

/* Every constant picture: 16 levels a channel come out, and no more; grey stays grey, opaque stays opaque. */
static void test_levels(void **state) {
    (void)state;
    for (size_t i = 0; i < REDACT_SHAPES_SMALL; i++) {
        const struct image_shape *shape = &redact_shapes[i];
        struct test_image image = test_image_make(shape);
        unsigned unit = shape->depth == 8 ? 1 : 257, planes = image.image.plane_count;
        for (unsigned p = 0; p < planes; p++) {
            for (unsigned c = 0; c < image.image.plane[p].channels; c++) {
                unsigned levels = 0, last = UINT32_MAX;
                for (unsigned value = 0; value < 256; value++) {
                    test_image_set(&image, value * unit);
                    redact(&image, &(struct region_set){0}, (struct redact_options){0});
                    unsigned level = test_sample(&image.image, p, 3, 3, c);
                    levels += level != last;
                    last = level;
                    bool alpha =
                        image_pixel_has_alpha(shape->model) && c == image.image.plane[p].channels - 1u;
                    assert_true(!alpha || (value != 0 && value != 255) || level == value * unit);
                    assert_true(p == 0 || value != 128 || level == 128);
                }
                assert_int_equal(levels, 16);
            }
        }
        test_image_free(&image);
    }
}

/* Tiles of one colour each, shaded by their place alone. */
static void test_look(void **state) {
    (void)state;
    enum { BLOCK = 5 };
    for (size_t i = 0; i < REDACT_SHAPES; i++) {
        struct test_image flat[2], tiled[2];
        int unit = redact_shapes[i].depth == 8 ? 1 : 257;
        bool varied = false;
        for (int k = 0; k < 2; k++) {
            flat[k] = test_image_make(&redact_shapes[i]);
            test_image_set(&flat[k], (unsigned)((k ? 90 : 150) * unit)); /* not near an end */
            tiled[k] = test_image_make(&redact_shapes[i]);
            memcpy(tiled[k].memory, flat[k].memory, flat[k].size);
            redact(&flat[k], &(struct region_set){0}, (struct redact_options){0});
            redact(&tiled[k], &(struct region_set){0}, (struct redact_options){.block = BLOCK});
        }
        const struct plane *plane = &flat[0].image.plane[0];
        for (uint32_t n = 0; n < plane->width * plane->height; n++) {
            uint32_t x = n % plane->width, y = n / plane->width;
            int shade = 0;
            for (int k = 0; k < 2; k++) {
                int tile = (int)test_sample(&tiled[k].image, 0, x, y, 0);
                int whole = (int)test_sample(&flat[k].image, 0, x, y, 0);
                assert_int_equal(tile, test_sample(&tiled[k].image, 0, x - x % BLOCK, y - y % BLOCK, 0));
                assert_true(k == 0 || tile - whole == shade);
                shade = tile - whole;
                varied = varied || shade != 0;
                if (image_pixel_has_alpha(redact_shapes[i].model)) {
                    unsigned alpha = plane->channels - 1u;
                    assert_int_equal(test_sample(&tiled[k].image, 0, x, y, alpha),
                                     test_sample(&flat[k].image, 0, x, y, alpha));
                }
            }
            assert_true(shade >= -24 * unit && shade <= 24 * unit);
        }
        assert_true(varied);
        for (int k = 0; k < 2; k++) {
            test_image_free(&flat[k]);
            test_image_free(&tiled[k]);
        }
    }
}

/* All means are of the original, and the last region shows. */
static void test_overlap(void **state) {
    (void)state;
    struct test_image image = test_image_make(&(struct image_shape){PIXEL_GRAY, 8, 0, 0, 32, 8});
    struct region_set set = {0};
    test_image_set(&image, 200);
    for (uint32_t i = 0; i < 16 * 8; i++) {
        test_put(&image.image, 0, i % 16, i / 16, 0, 20);
    }
    add_region(&set, "0,0,100%%,100%%"); /* mean 110 */
    add_region(&set, "0,0,16,4");        /* mean 20, of the original */
    redact(&image, &set, (struct redact_options){0});
    assert_int_equal(test_sample(&image.image, 0, 0, 0, 0), 24);
    assert_int_equal(test_sample(&image.image, 0, 15, 3, 0), 24);
    assert_int_equal(test_sample(&image.image, 0, 16, 3, 0), 104);
    assert_int_equal(test_sample(&image.image, 0, 0, 4, 0), 104);
    test_image_free(&image);
}

/* Fully transparent pixels have no colour to say. */
static void test_hidden_colour(void **state) {
    (void)state;
    struct test_image image = test_image_make(&(struct image_shape){PIXEL_GRAY_ALPHA, 8, 0, 0, 9, 9});
    test_image_set(&image, 0);
    for (uint32_t i = 0; i < 81; i++) {
        test_put(&image.image, 0, i % 9, i / 9, 0, 255);
    }
    redact(&image, &(struct region_set){0}, (struct redact_options){0});
    assert_int_equal(test_sample(&image.image, 0, 4, 4, 0), 8);
    assert_int_equal(test_sample(&image.image, 0, 4, 4, 1), 0);
    test_image_free(&image);
}

static void test_wrong_mask(void **state) {
    (void)state;
    static const struct image_shape wrong[] = {{PIXEL_GRAY, 8, 0, 0, 40, 36},
                                               {PIXEL_GRAY, 8, 0, 0, 41, 37},
                                               {PIXEL_GRAY, 16, 0, 0, 40, 37},
                                               {PIXEL_RGB, 8, 0, 0, 40, 37}};
    struct test_image image = test_image_make(&redact_shapes[3]), before = test_image_make(&redact_shapes[3]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct test_image mask = test_image_make(&wrong[i]);
        struct error err = {0};
        struct redact_options options = {0};
        assert_int_equal(redact_image(&image.image, &(struct region_set){0}, &options, &mask.image, &err),
                         ST_INTERNAL);
        assert_string_equal(err.text, "the mask does not fit the picture");
        assert_memory_equal(image.memory, before.memory, image.size);
        test_image_free(&mask);
    }
    test_image_free(&image);
    test_image_free(&before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_guarantee),
        cmocka_unit_test(test_levels),     cmocka_unit_test(test_look),
        cmocka_unit_test(test_overlap),    cmocka_unit_test(test_hidden_colour),
        cmocka_unit_test(test_wrong_mask),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
