/* SPDX-License-Identifier: MIT
 * Canvases of animations, the times of frames, and the limits of their number. */
#include "codecs/frames.h"
#include "tests/unit/codecs/picture_fixture.h"

static struct image canvas_of(unsigned depth) {
    struct image canvas = fixture_image(fixture_shape(PIXEL_RGBA, depth, 4, 3));
    const struct frame all = {.width = 4, .height = 3};
    frames_clear(&canvas, &all);
    return canvas;
}

static const uint8_t *at(const struct image *image, uint32_t x, uint32_t y) {
    return plane_row(&image->plane[0], y) + (size_t)x * image->plane[0].channels * (image->depth / 8u);
}

static void draw(const struct image *canvas, const struct frame *frame, const uint8_t rgba[4]) {
    struct image pixels = fixture_image(fixture_shape(PIXEL_RGBA, 8, frame->width, frame->height));
    for (uint32_t y = 0; y < frame->height; y++) {
        for (uint32_t x = 0; x < frame->width; x++) {
            memcpy(plane_row(&pixels.plane[0], y) + (size_t)4 * x, rgba, 4);
        }
    }
    frames_draw(canvas, frame, &pixels);
    fixture_image_free(&pixels);
}

static void test_blending_is_exact(void **state) {
    (void)state;
    struct image canvas = canvas_of(8);
    struct frame frame = {.width = 4, .height = 3, .blends = true};
    const uint8_t below[4] = {200, 100, 50, 255}, above[4] = {0, 255, 51, 51};
    const uint8_t wanted[4] = {160, 131, 50, 255}; /* a fifth of the one, four of the other */
    draw(&canvas, &frame, below);
    draw(&canvas, &frame, above);
    assert_memory_equal(at(&canvas, 3, 2), wanted, 4);
    frame.blends = false;
    draw(&canvas, &frame, above);
    assert_memory_equal(at(&canvas, 3, 2), above, 4);
    frame.blends = true;
    draw(&canvas, &frame, above); /* 51 over 51: 91.8; equal colours stay */
    assert_memory_equal(at(&canvas, 0, 0), ((uint8_t[]){0, 255, 51, 92}), 4);
    fixture_image_free(&canvas);
}

static void test_frames_are_cut_to_the_canvas(void **state) {
    static const uint8_t none[4], red[4] = {255, 0, 0, 255};
    (void)state;
    struct image canvas = canvas_of(8), saved = canvas_of(8);
    const struct frame cut = {.left = 3, .top = 2, .width = 9, .height = 9};
    const struct frame right = {.left = 4, .width = 2, .height = 2},
                       low = {.top = 3, .width = 2, .height = 2};
    const struct frame far = {.left = UINT32_MAX, .top = UINT32_MAX, .width = 2, .height = 2};
    draw(&canvas, &right, red);
    draw(&canvas, &low, red);
    draw(&canvas, &far, red);
    draw(&canvas, &cut, red);
    assert_memory_equal(at(&canvas, 3, 2), red, 4);
    assert_memory_equal(at(&canvas, 2, 2), none, 4);
    assert_memory_equal(at(&canvas, 3, 1), none, 4);
    frames_copy(&saved, &cut, &canvas);
    frames_clear(&canvas, &cut);
    assert_memory_equal(at(&canvas, 3, 2), none, 4);
    assert_memory_equal(at(&saved, 3, 2), red, 4);
    fixture_image_free(&canvas);
    fixture_image_free(&saved);
}

static void test_models_of_the_picture(void **state) {
    static const uint8_t rgba[4] = {1, 2, 3, 4};
    static const struct {
        enum pixel_model model;
        uint8_t wanted[4];
        size_t size;
    } rows[] = {{PIXEL_GRAY, {1}, 1},
                {PIXEL_GRAY_ALPHA, {1, 4}, 2},
                {PIXEL_RGB, {1, 2, 3}, 3},
                {PIXEL_RGBA, {1, 2, 3, 4}, 4}};
    (void)state;
    struct image canvas = canvas_of(8);
    const struct frame all = {.width = 4, .height = 3};
    draw(&canvas, &all, rgba);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct image picture = fixture_image(fixture_shape(rows[i].model, 8, 4, 3));
        frames_show(&canvas, &picture);
        assert_memory_equal(at(&picture, 3, 2), rows[i].wanted, rows[i].size);
        fixture_image_free(&picture);
    }
    fixture_image_free(&canvas);
}

static void test_times(void **state) {
    (void)state;
    struct frames_writer writer = {0};
    const struct frame third = {.delay = 1, .scale = 3}, none = {.scale = 1},
                       long_one = {.delay = 65535, .scale = 1};
    uint32_t sum = 0;
    for (unsigned i = 0; i < 30; i++) {
        sum += frames_writer_time(&writer, &third, 100, 2, 65535);
    }
    assert_int_equal(sum, 1000);
    assert_int_equal(frames_writer_time(&writer, &none, 100, 2, 65535), 2);
    assert_int_equal(frames_writer_time(&writer, &none, 100, 2, 65535), 2);
    assert_int_equal(frames_writer_time(&writer, &long_one, 100, 2, 65535), 65535);
    assert_in_range(frames_writer_time(&writer, &third, 100, 2, 65535), 33, 34);
}

/* Parts that no number of nanoseconds is do not add up in any usual animation. */
static void test_exact_times(void **state) {
    (void)state;
    struct frames_writer writer = {0};
    const struct frame film = {.delay = 1001, .scale = 30000}, day = {.delay = 65535, .scale = 1};
    for (unsigned i = 0; i < 20000; i++) {
        assert_int_equal(frames_writer_time(&writer, &film, 30000, 1, UINT32_MAX), 1001);
    }
    writer = (struct frames_writer){0};
    assert_int_equal(frames_writer_time(&writer, &day, 60000, 1, UINT32_MAX), UINT32_C(65535) * 60000);
    writer = (struct frames_writer){0};
    assert_int_equal(frames_writer_time(&writer, &day, 1000000, 1, UINT32_MAX), UINT32_MAX);
    assert_int_equal(frames_writer_time(&writer, &film, 1000000, 1, UINT32_MAX), 33367);
}

static void test_limits(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct animation animation = {.width = 10, .height = 10};
    const struct frame frame = {.width = 10, .height = 10, .blends = true};
    struct error err = {0};
    limits.max_frames = 3;
    limits.max_animation = 1000;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(frames_note(&animation, &frame, i > 0, &limits, &err), ST_OK);
    }
    assert_false(animation.alpha); /* the first frame covers all, and others lie over it */
    assert_int_equal(frames_note(&animation, &frame, false, &limits, &err), ST_LIMIT);
    animation = (struct animation){.width = 10, .height = 10};
    limits.max_animation = 299;
    assert_int_equal(frames_note(&animation, &frame, true, &limits, &err), ST_OK);
    assert_true(animation.alpha);
    assert_int_equal(frames_note(&animation, &frame, true, &limits, &err), ST_OK);
    assert_int_equal(frames_note(&animation, &frame, true, &limits, &err), ST_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blending_is_exact),     cmocka_unit_test(test_frames_are_cut_to_the_canvas),
        cmocka_unit_test(test_models_of_the_picture), cmocka_unit_test(test_times),
        cmocka_unit_test(test_exact_times),           cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
