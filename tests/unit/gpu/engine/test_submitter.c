/* SPDX-License-Identifier: MIT
 * JPEGs that the GPU accepts, and the statuses of the others, with the fake driver:
 * a status that sends the picture to the CPU, and the lane goes on. tests/gpu/jpeg.c looks at the pixels. */
#include "core/orient.h"
#include "tests/unit/gpu/engine/submitter_fixture.h"

enum { FLIPS = 300, FRAME_BEGIN = 0x9e, FRAME_END = 0xb1 }; /* the frame header that libjpeg writes */

static void assert_good(const struct image_shape *shape) {
    const struct codec_limits limits = {
        .max_pixels = 1 << 20, .max_side = 1 << 12, .max_scans = 10, .max_memory = 1 << 26};
    struct picture picture;
    assert_int_equal(codec_probe((struct bytes){desk.output, desk.size}, &limits, &picture, NULL), ST_OK);
    const struct image_shape *found = &picture.native;
    assert_true(found->model == shape->model && found->depth == shape->depth);
    assert_true(found->chroma_shift_x == shape->chroma_shift_x &&
                found->chroma_shift_y == shape->chroma_shift_y);
    assert_true(found->width == shape->width && found->height == shape->height);
}

/* Statuses to which a caller can react. */
static bool goes_to_cpu(enum status status) {
    return status == ST_UNSUPPORTED || status == ST_DEVICE || status == ST_BUSY;
}

static void test_what_is_taken(void **state) {
    (void)state;
    static const struct {
        struct jpeg_recipe recipe;
        uint8_t shift_x, shift_y;
    } cases[] = {
        {{.luma = {2, 2}}, 1, 1},
        {{.luma = {2, 1}}, 1, 0},
        {{.luma = {1, 2}}, 0, 1},
        {{.luma = {1, 1}}, 0, 0},
        {{.luma = {4, 1}}, 2, 0},
        {{.luma = {2, 2}, .restart = 3}, 1, 1},
        {{.luma = {2, 2}, .odd_tables = true}, 1, 1},
        {{.space = JCS_GRAYSCALE}, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct jpeg_recipe recipe = cases[i].recipe;
        struct image_shape shape = plain_shape;
        struct chain chain;
        struct error err;
        recipe.width = WIDTH;
        recipe.height = HEIGHT;
        shape.model = recipe.space == JCS_GRAYSCALE ? PIXEL_GRAY : PIXEL_YCBCR;
        shape.chroma_shift_x = cases[i].shift_x;
        shape.chroma_shift_y = cases[i].shift_y;
        struct buf file = recipe_file(&recipe);
        struct transcode job = make_job(&file, &shape, &chain);
        assert_int_equal(run_job(&job, &err), ST_OK);
        assert_good(&job.shape);
        buf_finish(&file);
    }
}

static void test_what_it_does_not(void **state) {
    (void)state;
    static const struct jpeg_recipe recipes[] = {
        {.name = "progressive", .luma = {2, 2}, .progressive = true},
        {.name = "arithmetic", .luma = {2, 2}, .arithmetic = true},
        {.name = "a scan for each component", .luma = {2, 2}, .separate = true},
        {.name = "CMYK", .space = JCS_CMYK},
    };
    struct buf good = recipe_file(&plain);
    struct chain chain;
    struct error err = {0};
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = WIDTH;
        recipe.height = HEIGHT;
        struct buf file = recipe_file(&recipe);
        struct transcode job = make_job(&file, &plain_shape, &chain);
        if (jpeg_stream_parse(&lane, &job, &err) != ST_UNSUPPORTED || run_job(&job, &err) != ST_UNSUPPORTED) {
            fail_msg("%s", recipe.name);
        }
        assert_int_equal(run(&good, QUALITY), ST_OK);
        buf_finish(&file);
    }
    buf_finish(&good);
}

static void test_cut_at_every_byte(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    size_t whole = file.size;
    for (file.size = 0; file.size < whole; file.size++) {
        assert_int_equal(run(&file, QUALITY), ST_UNSUPPORTED);
    }
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* In the tables, in the scan: each flip alone. Some pass, as they do for the CPU; none is the device's fault.
 */
static void test_damage(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    unsigned seen[ST_COUNT] = {0};
    for (size_t i = 0; i < FLIPS; i++) {
        size_t at = 2 + i * (file.size - 2) / FLIPS;
        if (at >= FRAME_BEGIN && at < FRAME_END) {
            continue; /* the frame's own size: the caller has read that before */
        }
        file.data[at] ^= 0x5a;
        enum status status = run(&file, QUALITY);
        assert_true(status == ST_OK || goes_to_cpu(status));
        seen[status]++;
        file.data[at] ^= 0x5a;
    }
    assert_int_equal(seen[ST_DEVICE], 0);
    assert_true(seen[ST_OK] > 0 && seen[ST_UNSUPPORTED] > 0);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* Restart markers' numbers, and one too many, which libjpeg lets pass. */
static void test_damage_that_only_the_walk_sees(void **state) {
    (void)state;
    struct jpeg_recipe recipe = plain;
    recipe.restart = 1;
    struct buf file = recipe_file(&recipe);
    struct chain chain;
    struct error err;
    struct transcode job = make_job(&file, &plain_shape, &chain);
    assert_int_equal(run_job(&job, &err), ST_OK);
    fixture_insert(&file, file.size - 2, "\xff\xd0", 2);
    job.input = buf_bytes(&file);
    assert_int_equal(run_job(&job, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "the JPEG's data is damaged");
    buf_finish(&file);
}

static void test_orientation(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    for (uint8_t orientation = 0; orientation <= 9; orientation++) {
        struct chain chain;
        struct error err;
        const struct image_shape upright = orient_shape(&plain_shape, orientation);
        struct transcode job = make_job(&file, &upright, &chain);
        job.shape = plain_shape;
        job.orientation = orientation;
        assert_int_equal(run_job(&job, &err), ST_OK);
        assert_good(&upright);
    }
    buf_finish(&file);
}

/* Chroma that would shift. */
static void test_orientation_for_the_cpu(void **state) {
    (void)state;
    const struct jpeg_recipe odd = {.luma = {2, 2}, .width = WIDTH - 1, .height = HEIGHT};
    struct image_shape shape = plain_shape;
    shape.width--;
    struct buf file = recipe_file(&odd);
    struct chain chain;
    struct error err;
    struct transcode job = make_job(&file, &shape, &chain);
    job.orientation = 2;
    assert_int_equal(run_job(&job, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "orientation 2"));
    job.orientation = 4;
    assert_int_equal(run_job(&job, &err), ST_OK);
    buf_finish(&file);
}

static void test_no_room(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    struct chain chain;
    struct error err;
    struct transcode job = make_job(&file, &plain_shape, &chain);
    assert_int_equal(run_job(&job, &err), ST_OK);
    job.room = desk.size - 1;
    assert_int_equal(run_job(&job, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "more than there is room for"));
    job.room++;
    assert_int_equal(run_job(&job, &err), ST_OK);
    assert_good(&job.shape);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_taken, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_what_it_does_not, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_damage, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_damage_that_only_the_walk_sees, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_orientation, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_orientation_for_the_cpu, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_no_room, open_test, close_test),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
