/* SPDX-License-Identifier: MIT
 * The engine refuses what a front that is going wrong asks for before it uses anything of it. */
#include "tests/unit/gpu/engine/engine_jpeg_fixture.h"

static void test_offsets(void **state) {
    (void)state;
    const uint64_t size = file.size;
    const struct {
        uint64_t source, target, size, room;
    } cases[] = {
        {SLOT_SIZE - size + 1, TARGET, size, ROOM}, /* ends behind the slot */
        {SLOT_SIZE, TARGET, size, ROOM},
        {UINT64_MAX, TARGET, size, ROOM},
        {UINT64_MAX - size + 1, TARGET, size, ROOM},
        {1ull << 63, TARGET, size, ROOM},
        {SOURCE, TARGET, SLOT_SIZE, ROOM},
        {SOURCE, TARGET, UINT64_MAX, ROOM},
        {SOURCE, TARGET, 1ull << 63, ROOM},
        {SOURCE, SLOT_SIZE - ROOM + 1, size, ROOM},
        {SOURCE, SLOT_SIZE, size, ROOM},
        {SOURCE, UINT64_MAX, size, ROOM},
        {SOURCE, UINT64_MAX - ROOM + 1, size, ROOM},
        {SOURCE, TARGET, size, 0},
        {SOURCE, TARGET, size, SLOT_SIZE},
        {SOURCE, TARGET, size, UINT64_MAX},
        {SOURCE, TARGET, size, UINT64_MAX - TARGET + 1},
        {SOURCE, SOURCE, size, ROOM}, /* the same */
        {SOURCE, SOURCE + size - 1, size, ROOM},
        {SOURCE, SOURCE + 5, size, 1},
        {SOURCE, 0, size, SOURCE + 1},
        {TARGET, TARGET - ROOM + 1, size, ROOM},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wire_run run = good_run();
        run.source = cases[i].source;
        run.target = cases[i].target;
        run.jpeg.size = cases[i].size;
        run.jpeg.room = cases[i].room;
        assert_refused(&run);
    }
}

static void test_numbers(void **state) {
    (void)state;
    static const uint8_t orientations[] = {0, 9, 255}, qualities[] = {0, 101, 255};
    static const struct image_shape shapes[] = {
        {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_RGBA, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR + 1, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_GRAY, .depth = 16, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 16, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 0, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 8, .width = 0, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 8, .width = WIDTH, .height = 0},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 3, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 255, .width = WIDTH, .height = HEIGHT},
    };
    for (size_t i = 0; i < COUNT(orientations); i++) {
        struct wire_run run = good_run();
        run.jpeg.orientation = orientations[i];
        assert_refused(&run);
        run = good_run();
        run.jpeg.quality = qualities[i];
        assert_refused(&run);
    }
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct wire_run run = good_run();
        run.shape = shapes[i];
        assert_refused(&run);
    }
}

static void test_chains(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, CHAIN_STEPS_MAX, CHAIN_STEPS_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct wire_run run = good_run();
        run.chain.count = counts[i];
        run.chain.step[CHAIN_STEPS_MAX - 1].filter = FILTER_BLUR; /* without a plan */
        assert_refused(&run);
    }
    struct wire_run run = good_run();
    run.chain.step[0].filter = FILTER_COUNT;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].blur.axis[0].radius = BLUR_RADIUS_MAX + 1;
    assert_refused(&run);
}

/* The engine checks the size and the alignment of coefficients, and not their values. A quantisation step of
 * 0, as here, leaves the picture to the CPU. */
static void test_coefficients(void **state) {
    (void)state;
    const uint64_t wanted = 384 + 3 * 2 * 6 * 128,
                   others[] = {1, wanted - 128, wanted - 1, wanted + 1, wanted + 128};
    struct wire_run run = good_run();
    run.jpeg.form = TRANSCODE_COEFFICIENTS;
    assert_refused(&run);
    for (size_t i = 0; i < COUNT(others); i++) {
        run.source = IMAGE_ALIGNMENT * 2;
        run.jpeg.size = others[i];
        assert_refused(&run);
    }
    run.jpeg.size = wanted;
    run.source += 2;
    assert_refused(&run);
    run = good_run();
    run.jpeg.form = TRANSCODE_COEFFICIENTS + 1;
    assert_refused(&run);
    run = good_run();
    run.jpeg.form = TRANSCODE_COEFFICIENTS;
    run.jpeg.size = wanted;
    run.source = SLOT_SIZE / 4;
    memset(memory, 0, SLOT_SIZE);
    struct wire_done done;
    assert_true(engine_run(lane, &run, dup(slot), &done));
    assert_int_equal(done.error.status, ST_UNSUPPORTED);
}

/* RGB is made of YCbCr alone, without a mask. */
static void test_colours(void **state) {
    (void)state;
    const struct image_shape gray = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT},
                             rgb = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct wire_run run = good_run();
    run.jpeg.colours = TRANSCODE_LINEAR_444 + 1;
    assert_refused(&run);
    run = good_run();
    run.jpeg.colours = TRANSCODE_RGB_420;
    run.shape = gray;
    assert_refused(&run);
    run = good_run();
    run.jpeg.colours = TRANSCODE_RGB_420;
    run.chain = blur(&rgb);
    run.jpeg.masked = 1;
    assert_refused(&run);
    run.jpeg.masked = 0;
    struct wire_done done;
    assert_true(engine_run(lane, &run, dup(slot), &done));
    assert_int_equal(done.error.status, ST_OK);
}

/* A picture as the source is grey or RGB, and all there; one as the result has room of just its size. */
static void test_pixels(void **state) {
    (void)state;
    const struct image_shape rgb = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct image layout;
    struct wire_run good = good_run();
    good.source = 0;
    good.target = SLOT_SIZE / 2;
    good.shape = rgb;
    good.chain = blur(&rgb);
    good.jpeg.size = image_layout(&layout, &rgb);
    good.jpeg.form = TRANSCODE_PIXELS;
    good.jpeg.colours = TRANSCODE_RGB_420;
    struct wire_done done;
    assert_true(engine_run(lane, &good, dup(slot), &done));
    assert_int_equal(done.error.status, ST_OK);
    for (unsigned i = 0; i < 8; i++) {
        struct wire_run run = good;
        run.jpeg.size += i == 0;
        run.source += i == 1;
        run.jpeg.orientation = i == 2 ? 2 : 1;
        run.jpeg.masked = i == 3;
        run.jpeg.colours = i == 4 ? TRANSCODE_LINEAR_420 : i == 5 ? TRANSCODE_PLANES : run.jpeg.colours;
        run.jpeg.pixels = i == 6;
        run.shape.model = i == 7 ? PIXEL_RGBA : run.shape.model;
        assert_refused(&run);
    }
    struct wire_run made = good_run();
    made.target = SLOT_SIZE / 2;
    made.jpeg.pixels = 1;
    made.jpeg.room = image_layout(&layout, &shape);
    assert_true(engine_run(lane, &made, dup(slot), &done));
    assert_int_equal(done.error.status, ST_OK);
    assert_int_equal(done.size, made.jpeg.room);
    made.jpeg.room--;
    assert_refused(&made);
    made.jpeg.room++;
    made.target++;
    assert_refused(&made);
}

/* Statistics are no picture. */
static void test_a_chain_without_a_picture(void **state) {
    (void)state;
    const struct jpeg_recipe recipe = {.space = JCS_GRAYSCALE, .width = WIDTH, .height = HEIGHT};
    const struct image_shape gray = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct buf colour = file;
    file = recipe_file(&recipe);
    struct wire_run run = good_run();
    run.shape = gray;
    run.chain = blur(&gray);
    assert_done(&run, &gray);
    run.chain = (struct chain){0};
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_STATS), NULL, &gray, NULL), ST_OK);
    assert_refused(&run);
    buf_finish(&file);
    file = colour;
}

static void test_slot_shorter_than_claimed(void **state) {
    (void)state;
    static const uint64_t claims[] = {SLOT_SIZE + 1, 1ull << 40, UINT64_MAX};
    for (size_t i = 0; i < COUNT(claims); i++) {
        struct wire_run run = good_run();
        run.slot_span = claims[i];
        assert_refused(&run);
        run.slot_serial = 100 + i;
        run.target = claims[i] - ROOM;
        assert_refused(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_a_chain_without_a_picture),
        cmocka_unit_test(test_slot_shorter_than_claimed),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
