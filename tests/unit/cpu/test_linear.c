/* SPDX-License-Identifier: MIT
 * Linear light against the curve, and there and back. */
#include "cpu/linear.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "filters/colour/light.h"
#include "tests/filters/filter_image.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* Long doubles, so that an entry differs from these by rounding only at a tie. */
static long double to_light(long double v) {
    return v <= 0.04045L ? v / 12.92L : powl((v + 0.055L) / 1.055L, 2.4L);
}

static long double to_code(long double light) {
    return light <= 0.0031308L ? 12.92L * light : 1.055L * powl(light, 1 / 2.4L) - 0.055L;
}

/* A picture whose samples are 0, 1, 2, ... in the order of memory. */
static struct test_image counting(const struct image_shape *shape) {
    struct test_image image = test_image_make(shape);
    unsigned channels = image.image.plane[0].channels, next = 0;
    for (uint32_t i = 0; i < shape->width * shape->height; i++) {
        for (unsigned c = 0; c < channels; c++, next++) {
            unsigned value = shape->depth == 8 ? next & 0xff : next & 0xffff;
            test_put(&image.image, 0, i % shape->width, i / shape->width, c, value);
        }
    }
    return image;
}

static void check_shape(enum pixel_model model, uint8_t depth) {
    struct image_shape shape = {model, depth, 0, 0, 257, 256}, wide = shape;
    wide.depth = 16;
    unsigned channels = image_pixel_channels(model);
    long double max = depth == 8 ? 255 : 65535;
    struct test_image source = counting(&shape), linear = test_image_make(&wide),
                      back = test_image_make(&shape);
    assert_int_equal(linear_from(NULL, 0, &source.image, &linear.image, NULL), ST_OK);
    assert_int_equal(linear_to(NULL, 0, &linear.image, &back.image, NULL), ST_OK);
    for (uint32_t i = 0; i < shape.width * shape.height; i++) {
        for (unsigned c = 0; c < channels; c++) {
            uint32_t x = i % shape.width, y = i / shape.width;
            int v = (int)test_sample(&source.image, 0, x, y, c);
            int l = (int)test_sample(&linear.image, 0, x, y, c);
            int b = (int)test_sample(&back.image, 0, x, y, c);
            if (image_pixel_has_alpha(model) && c == channels - 1) {
                assert_int_equal(l, depth == 8 ? v * 257 : v);
                assert_int_equal(b, v);
                continue;
            }
            assert_int_equal(l, (int)floorl(65535 * to_light(v / max) + 0.5L));
            assert_int_equal(b, (int)floorl(max * to_code(l / 65535.0L) + 0.5L));
            assert_true(depth == 8 ? b == v : abs(b - v) <= 6);
        }
    }
    test_image_free(&source);
    test_image_free(&linear);
    test_image_free(&back);
}

static void test_there_and_back(void **state) {
    (void)state;
    for (enum pixel_model model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        check_shape(model, 8);
        check_shape(model, 16);
    }
}

/* Every 16-bit value, also those that no code yields, goes to the nearest 8-bit code. */
static void check_nearest(enum pixel_model model, unsigned channel) {
    struct image_shape wide = {model, 16, 0, 0, 256, 256}, narrow = wide;
    narrow.depth = 8;
    struct test_image linear = test_image_make(&wide), back = test_image_make(&narrow);
    test_image_set(&linear, 0);
    for (unsigned l = 0; l < 65536; l++) {
        test_put(&linear.image, 0, l % 256, l / 256, channel, l);
    }
    assert_int_equal(linear_to(NULL, 0, &linear.image, &back.image, NULL), ST_OK);
    for (unsigned l = 0; l < 65536; l++) {
        bool alpha = image_pixel_has_alpha(model) && channel == image_pixel_channels(model) - 1;
        long double exact = 255 * (alpha ? l / 65535.0L : to_code(l / 65535.0L));
        unsigned b = test_sample(&back.image, 0, l % 256, l / 256, channel);
        assert_int_equal(b, (unsigned)floorl(exact + 0.5L));
    }
    test_image_free(&linear);
    test_image_free(&back);
}

static void test_nearest(void **state) {
    (void)state;
    check_nearest(PIXEL_GRAY, 0);
    check_nearest(PIXEL_RGBA, 1);
    check_nearest(PIXEL_RGBA, 3);
    check_nearest(PIXEL_GRAY_ALPHA, 1);
}

/* The table for devices says the same of every value. */
static void test_table(void **state) {
    (void)state;
    const struct light_table *table = light_table();
    unsigned sample = 0;
    assert_int_equal(table->least[0], 0);
    for (unsigned l = 0; l < LIGHT_LEVELS; l++) {
        sample += sample + 1 < LIGHT_SAMPLES && table->least[sample + 1] <= l;
        assert_int_equal(sample, (unsigned)floorl(255 * to_code(l / 65535.0L) + 0.5L));
    }
    for (unsigned c = 0; c < LIGHT_SAMPLES; c++) {
        assert_int_equal(table->light[c], (unsigned)floorl(65535 * to_light(c / 255.0L) + 0.5L));
    }
}

/* Nothing beside the picture is written. */
static void test_padding(void **state) {
    (void)state;
    struct image_shape shape = {PIXEL_RGBA, 8, 0, 0, 5, 3}, wide = shape;
    wide.depth = 16;
    struct test_image source = test_image_make(&shape), linear = test_image_make(&wide);
    test_image_set(&source, 255);
    assert_int_equal(linear_from(NULL, 0, &source.image, &linear.image, NULL), ST_OK);
    assert_int_equal(linear_to(NULL, 0, &linear.image, &source.image, NULL), ST_OK);
    test_image_set(&source, 0xa5);
    test_image_set(&linear, 0xa5a5);
    for (size_t i = 0; i < source.size; i++) {
        assert_int_equal(source.memory[i], GUARD_BYTE);
    }
    for (size_t i = 0; i < linear.size; i++) {
        assert_int_equal(linear.memory[i], GUARD_BYTE);
    }
    test_image_free(&source);
    test_image_free(&linear);
}

static void *convert(void *result) {
    struct image_shape shape = {PIXEL_GRAY, 8, 0, 0, 16, 16}, wide = shape;
    wide.depth = 16;
    struct test_image source = counting(&shape), linear = test_image_make(&wide);
    assert_int_equal(linear_from(NULL, 0, &source.image, &linear.image, NULL), ST_OK);
    *(unsigned *)result = test_sample(&linear.image, 0, 15, 15, 0) + test_sample(&linear.image, 0, 1, 0, 0);
    test_image_free(&source);
    test_image_free(&linear);
    return NULL;
}

/* First of all tests: several threads find the tables not made yet. */
static void test_threads(void **state) {
    (void)state;
    pthread_t thread[4];
    unsigned result[4] = {0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, convert, &result[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(result[i], 65535 + 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_table),   cmocka_unit_test(test_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
