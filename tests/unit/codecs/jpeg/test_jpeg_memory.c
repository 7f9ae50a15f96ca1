/* SPDX-License-Identifier: MIT
 * The stated bounds of memory hold for JPEGs with several scans, and for JPEGs that become RGB: children that
 * may take no more decode them, by the own decoder and by libjpeg-turbo. */
#include "codecs/jpeg/jpeg_planes.h"
#include "codecs/jpeg/pixels/pixels_strip.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* many pictures */

struct jpeg_task {
    struct bytes file;
    struct picture picture;
    struct image image;
    struct codec_limits limits;
};

static enum status decode(void *context) {
    struct jpeg_task *task = context;
    limit_memory(codec_decode_bytes(&task->picture, task->file.size));
    return codec_decode(task->file, &task->picture, &task->limits, &task->image, NULL);
}

static const struct jpeg_recipe recipes[] = {
    {.name = "4:4:4", .width = 3001, .height = 1999},
    {.name = "4:2:0", .luma = {2, 2}, .width = 1501, .height = 999},
    {.name = "4:1:0", .luma = {4, 2}, .width = 1501, .height = 999},
    {.name = "2x4", .luma = {2, 4}, .width = 1501, .height = 999},
    {.name = "grey", .space = JCS_GRAYSCALE, .width = 1501, .height = 999},
    {.name = "column", .luma = {4, 2}, .width = 1, .height = 9000},
    {.name = "row", .luma = {2, 4}, .width = 9000, .height = 1},
    {.name = "pixel", .luma = {2, 4}, .width = 1, .height = 1},
};

static void check_bounds(const struct jpeg_recipe *recipe, bool pixels) {
    struct buf file = recipe_file(recipe);
    struct jpeg_task task = {.file = buf_bytes(&file), .limits = fixture_limits()};
    task.picture = fixture_probe(task.file);
    task.image = fixture_image(pixels ? task.picture.pixels : task.picture.native);
    for (int libjpeg = 0; libjpeg <= 1; libjpeg++) {
        task.limits.libjpeg = libjpeg;
        if (in_child(decode, &task) != ST_OK) {
            fail_msg("%s by %s", recipe->name, libjpeg ? "libjpeg-turbo" : "the own decoder");
        }
    }
    fixture_image_free(&task.image);
    buf_finish(&file);
}

static void test_bounds_hold(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct jpeg_recipe recipe = recipes[i];
        check_bounds(&recipe, true);
        recipe.progressive = true;
        check_bounds(&recipe, true);
        check_bounds(&recipe, false);
    }
}

/* The same by arithmetic, up to the largest pictures. */
static void test_bounds_of_all_shapes(void **state) {
    (void)state;
    static const uint32_t sides[] = {1, 7, 8, 9, 31, 33, 1000, 8191, 8192, 65500};
    enum { SIDES = sizeof sides / sizeof *sides, SHIFTS = 9 };
    for (unsigned i = 0; i < SIDES * SIDES * (SHIFTS + 1); i++) {
        unsigned shifts = i / (SIDES * SIDES);
        struct image_shape shape = fixture_shape(shifts == SHIFTS ? PIXEL_GRAY : PIXEL_YCBCR, 8,
                                                 sides[i % SIDES], sides[i / SIDES % SIDES]);
        shape.chroma_shift_x = shifts == SHIFTS ? 0 : (uint8_t)(shifts % 3);
        shape.chroma_shift_y = shifts == SHIFTS ? 0 : (uint8_t)(shifts / 3);
        struct picture picture = {.codec = CODEC_JPEG, .pixels = shape, .native = shape};
        const size_t strip = shape.model == PIXEL_YCBCR ? pixels_strip_bytes(&shape) : 0;
        assert_in_range(sequential_bytes() + strip, 0, codec_decode_bytes(&picture, 0));
        picture.progressive = true;
        assert_in_range(jpeg_planes_progressive_bytes(&shape) + strip, 0, codec_decode_bytes(&picture, 0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_of_all_shapes),
        cmocka_unit_test(test_bounds_hold),
    };
    return memory_is_limited() ? cmocka_run_group_tests(tests, NULL, NULL) : WITHOUT_SANITIZER;
}
