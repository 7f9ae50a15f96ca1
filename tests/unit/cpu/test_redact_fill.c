/* SPDX-License-Identifier: MIT
 * Redaction with a colour and with the ring around a region: beside a plain implementation, and the guarantee
 * that no pixel of any region shows in the result. */
#include <string.h>

#include "filters/argument/colour.h"
#include "tests/unit/cpu/redact_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { REGIONS = 6, RING = 8 };

static const struct fill colours[] = {{FILL_COLOUR, {0, 0, 0, 255}, 0}, {FILL_COLOUR, {250, 120, 7, 90}, 0}};
static const struct fill ring = {FILL_RING, {0, 0, 0, 255}, 0};

static uint64_t seed;

/* ---- the plain one ---- */

/* Columns left to right and rows top to bottom, the latter included; of no pixel right is below left. */
struct around {
    int64_t left, top, right, bottom;
};

static struct around box_around(const struct image *mask) {
    struct around box = {mask->width, mask->height, -1, -1};
    for (uint32_t i = 0; i < mask->width * mask->height; i++) {
        int64_t x = i % mask->width, y = i / mask->width;
        if (test_sample(mask, 0, (uint32_t)x, (uint32_t)y, 0)) {
            box.left = x < box.left ? x : box.left;
            box.right = x > box.right ? x : box.right;
            box.top = y < box.top ? y : box.top;
            box.bottom = y > box.bottom ? y : box.bottom;
        }
    }
    return box;
}

/* The mean of a channel around the box, without what is inside of `all`; -1: there is nothing. */
static int64_t plain_mean(const struct image *image, unsigned p, unsigned c, struct around box,
                          const struct image *all) {
    const struct plane *plane = &image->plane[p];
    bool weighted = image_pixel_has_alpha(image->model) && c + 1u < plane->channels;
    uint64_t total = 0, weights = 0;
    for (uint32_t i = 0; i < plane->width * plane->height && box.right >= box.left; i++) {
        uint32_t x = i % plane->width, y = i / plane->width;
        int64_t left = (int64_t)x << plane->shift_x, top = (int64_t)y << plane->shift_y;
        int64_t right = left + (1 << plane->shift_x) - 1, bottom = top + (1 << plane->shift_y) - 1;
        if (right >= box.left - RING && left <= box.right + RING && bottom >= box.top - RING &&
            top <= box.bottom + RING && !touched(all, plane, x, y)) {
            uint64_t weight = weighted ? test_sample(image, p, x, y, plane->channels - 1u) : 1;
            total += weight * test_sample(image, p, x, y, c);
            weights += weight;
        }
    }
    return weights ? (int64_t)((total + weights / 2) / weights) : -1;
}

/* Black, and opaque. */
static unsigned plain_black(const struct image *image, unsigned p, unsigned c) {
    bool alpha = image_pixel_has_alpha(image->model) && c == image->plane[p].channels - 1u;
    return alpha ? (1u << image->depth) - 1 : p > 0 ? 128 : 0;
}

static unsigned plain_value(const struct image *image, unsigned p, unsigned c, const struct fill *fill,
                            struct around box, const struct image *all) {
    if (fill->kind == FILL_RING) {
        int64_t own = plain_mean(image, p, c, box, all),
                common = plain_mean(image, p, c, box_around(all), all);
        return own >= 0 ? (unsigned)own : common >= 0 ? (unsigned)common : plain_black(image, p, c);
    }
    const struct image_shape shape = image_shape(image);
    uint16_t sample[4];
    colour_samples(fill->colour, &shape, sample);
    return sample[p + c];
}

static void plain_channel(const struct image *source, const struct image *result, unsigned p, unsigned c,
                          unsigned value, const struct image *mask) {
    const struct plane *plane = &source->plane[p];
    for (uint32_t i = 0; i < plane->width * plane->height; i++) {
        if (touched(mask, plane, i % plane->width, i / plane->width)) {
            test_put(result, p, i % plane->width, i / plane->width, c, value);
        }
    }
}

static void draw(const struct test_image *mask, const struct region_set *set,
                 const struct redact_options *options) {
    struct mask_report report;
    const struct mask_options drawing = {
        .invert = options->invert || set->count == 0, .outward = true, .grid = options->grid};
    mask_draw(&mask->image, set, &drawing, &report, NULL);
}

static void plain_redact(const struct test_image *source, struct test_image *result,
                         const struct region_set *set, const struct redact_options *options) {
    struct test_image mask = gray_image(source->image.width, source->image.height);
    struct test_image all = gray_image(source->image.width, source->image.height);
    bool single = options->invert || set->count == 0;
    draw(&all, set, options);
    for (uint32_t i = 0; i < (single ? 1 : set->count); i++) {
        struct region_set part = part_of(set, i, single);
        draw(&mask, &part, options);
        const struct around box = box_around(&mask.image);
        for (unsigned p = 0; p < source->image.plane_count; p++) {
            for (unsigned c = 0; c < source->image.plane[p].channels; c++) {
                unsigned value = plain_value(&source->image, p, c, &options->fill, box, &all.image);
                plain_channel(&source->image, &result->image, p, c, value, &mask.image);
            }
        }
    }
    test_image_free(&mask);
    test_image_free(&all);
}

/* ---- pictures and regions by chance ---- */

struct trial {
    struct test_image source, image, other;
    struct region_set set;
    struct redact_options options;
};

static struct trial trial_make(int round, const struct fill *fill, uint64_t *random) {
    const struct image_shape *shape = &redact_shapes[round % REDACT_SHAPES];
    struct trial trial = {.source = test_image_make(shape),
                          .image = test_image_make(shape),
                          .other = test_image_make(shape),
                          .options = {.fill = *fill, .invert = test_random(random) % 4 == 0}};
    if (test_random(random) % 2) {
        trial.options.grid =
            (struct mask_grid){8, 16, (uint32_t)(test_random(random) % 8), 3, (uint32_t)round % 2, 1};
    }
    for (unsigned i = (unsigned)(test_random(random) % REGIONS); i > 0; i--) {
        if (test_random(random) % 2) {
            add_random_region(&trial.set, random, shape->width, 30);
        } else { /* small ones, which leave rings */
            add_region(&trial.set, "%g,%g,%u,%u", random_place(random, shape->width - 4),
                       random_place(random, 16), 1 + (unsigned)(test_random(random) % 6),
                       1 + (unsigned)(test_random(random) % 6));
        }
    }
    test_image_fill(&trial.source, round % 2 ? CONTENT_NOISE : CONTENT_PHOTO, random);
    memcpy(trial.image.memory, trial.source.memory, trial.source.size);
    memcpy(trial.other.memory, trial.source.memory, trial.source.size);
    return trial;
}

static void trial_free(struct trial *trial) {
    test_image_free(&trial->source);
    test_image_free(&trial->image);
    test_image_free(&trial->other);
}

static const struct fill *fill_of(int round) {
    return round % 4 == 0 ? &colours[round / 4 % 2] : &ring;
}

/* All models, overlapping regions, some of them partly outside; compares the padding, too. */
static void test_plain(void **state) {
    (void)state;
    uint64_t random = seed;
    for (int round = 0; round < 16 * REDACT_SHAPES; round++) {
        struct trial trial = trial_make(round, fill_of(round), &random);
        plain_redact(&trial.source, &trial.other, &trial.set, &trial.options);
        redact(&trial.image, &trial.set, trial.options);
        assert_memory_equal(trial.image.memory, trial.other.memory, trial.other.size);
        trial_free(&trial);
    }
}

/* Noise in place of all that is inside of any region: the same result. */
static void test_guarantee(void **state) {
    (void)state;
    uint64_t random = seed + 1;
    for (int round = 0; round < 16 * REDACT_SHAPES; round++) {
        struct trial trial = trial_make(round, fill_of(round), &random);
        struct test_image mask = gray_image(trial.source.image.width, trial.source.image.height);
        draw(&mask, &trial.set, &trial.options);
        trial.options.block = round % 3 ? 0 : 5;
        scramble(&trial.other, &mask.image, &random);
        redact(&trial.image, &trial.set, trial.options);
        redact(&trial.other, &trial.set, trial.options);
        assert_memory_equal(trial.image.memory, trial.other.memory, trial.other.size);
        assert_outside(&trial.image, &trial.source, &mask.image);
        test_image_free(&mask);
        trial_free(&trial);
    }
}

/* A drawn mask is one region; what lies between its parts is around it. */
static void test_drawn(void **state) {
    (void)state;
    uint64_t random = seed + 2;
    for (int round = 0; round < 4 * REDACT_SHAPES; round++) {
        struct trial trial = trial_make(round, fill_of(round), &random);
        struct test_image mask = gray_image(trial.source.image.width, trial.source.image.height);
        struct test_image spare = gray_image(trial.source.image.width, trial.source.image.height);
        draw(&mask, &trial.set, &trial.options);
        const struct around box = box_around(&mask.image);
        for (unsigned p = 0; p < trial.source.image.plane_count; p++) {
            for (unsigned c = 0; c < trial.source.image.plane[p].channels; c++) {
                unsigned value =
                    plain_value(&trial.source.image, p, c, &trial.options.fill, box, &mask.image);
                plain_channel(&trial.source.image, &trial.other.image, p, c, value, &mask.image);
            }
        }
        trial.options.drawn = &mask.image;
        assert_int_equal(redact_image(&trial.image.image, &trial.set, &trial.options, &spare.image, NULL),
                         ST_OK);
        assert_memory_equal(trial.image.memory, trial.other.memory, trial.other.size);
        test_image_free(&mask);
        test_image_free(&spare);
        trial_free(&trial);
    }
}

/* ---- single cases ---- */

/* What the second region is filled with in a picture whose columns tell what was read. */
static unsigned fill_beside(const char *first, const char *second) {
    struct test_image image = test_image_make(&(struct image_shape){PIXEL_GRAY, 8, 0, 0, 96, 32});
    struct region_set set = {0};
    for (uint32_t i = 0; i < 96 * 32; i++) {
        uint32_t x = i % 96;
        test_put(&image.image, 0, x, i / 96, 0, x < 32 ? 40 : x < 48 ? 250 : x < 64 ? 0 : 90);
    }
    add_region(&set, "%s", first);
    add_region(&set, "%s", second);
    redact(&image, &set, (struct redact_options){.fill = ring});
    unsigned value = test_sample(&image.image, 0, 40, 16, 0);
    test_image_free(&image);
    return value;
}

static void test_neighbours(void **state) {
    (void)state;
    /* 8 columns of 40 on the left, none of 0 on the right. */
    assert_int_equal(fill_beside("48,0,16,32", "32,0,16,32"), 40);
    /* Enclosed from both sides: what is around both, 8 columns of 40 and 8 of 90. */
    assert_int_equal(fill_beside("24,0,40,32", "32,0,16,32"), 65);
    assert_int_equal(fill_beside("0,0,96,32", "32,0,16,32"), 0);
}

static void test_no_ring(void **state) {
    (void)state;
    static const unsigned black[] = {0, 128, 128};
    struct test_image image = test_image_make(&(struct image_shape){PIXEL_YCBCR, 8, 1, 1, 20, 20});
    test_image_set(&image, 77);
    redact(&image, &(struct region_set){0}, (struct redact_options){.fill = ring});
    for (unsigned p = 0; p < 3; p++) {
        assert_int_equal(test_sample(&image.image, p, 3, 3, 0), black[p]);
    }
    test_image_free(&image);
    image = test_image_make(&(struct image_shape){PIXEL_RGBA, 16, 0, 0, 20, 20});
    test_image_set(&image, 77);
    redact(&image, &(struct region_set){0}, (struct redact_options){.fill = ring});
    assert_int_equal(test_sample(&image.image, 0, 3, 3, 0), 0);
    assert_int_equal(test_sample(&image.image, 0, 3, 3, 3), 65535);
    test_image_free(&image);
}

/* ---- texts ---- */

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        struct fill fill;
    } good[] = {
        {"mean", {FILL_MEAN, {0}, 0}},
        {"ring", {FILL_RING, {0, 0, 0, 255}, 0}},
        {"tiles", {FILL_MEAN, {0}, 1}},
        {"000000", {FILL_COLOUR, {0, 0, 0, 255}, 0}},
        {"#fe810240", {FILL_COLOUR, {254, 129, 2, 64}, 0}},
        {"FE8102", {FILL_COLOUR, {254, 129, 2, 255}, 0}},
    };
    static const char *const wrong[] = {"",       "Mean",   "ring ",    "#",         "00000",    "0000000",
                                        "gggggg", "-10000", "#0000001", "000000000", "0x000000", "##000000"};
    struct error err = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct fill fill = {.colour = {9, 9, 9, 9}};
        assert_int_equal(fill_parse(&fill, "fill", good[i].text, &err), ST_OK);
        assert_memory_equal(&fill, &good[i].fill, sizeof fill);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fill fill = ring;
        assert_int_equal(fill_parse(&fill, "fill", wrong[i], &err), ST_ARGUMENT);
        assert_memory_equal(&fill, &ring, sizeof fill);
        assert_string_equal(err.parameter, "fill");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_guarantee), cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_no_ring),   cmocka_unit_test(test_parse),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
