/* SPDX-License-Identifier: MIT
 * Threads of a crew read rows of a JPEG, and help to decode it, while it is being decoded. */
#include "codecs/codec.h"

#include <stdatomic.h>

#include "tests/filters/helpers.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

static const struct jpeg_recipe recipes[] = {
    {.name = "4:4:4"},
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:2:2, restarts", .luma = {2, 1}, .restart = 7},
    {.name = "grey", .space = JCS_GRAYSCALE},
    {.name = "separate, 4:2:0", .luma = {2, 2}, .separate = true},
    {.name = "progressive 4:2:0", .luma = {2, 2}, .progressive = true},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

/* Strips of rows that members read while the picture is decoded, with the help of the same crew. */
struct following {
    struct bytes file;
    const struct picture *picture;
    struct codec_limits limits;
    struct image image;
    const struct image *expected; /* NULL: the strips are only read */
    struct crew_gate *gate;
    atomic_uint sum; /* of samples of damaged pictures */
};
enum { STRIP = 50 };

static enum status read_strip(void *context, unsigned part, unsigned seat, struct error *err) {
    struct following *following = context;
    (void)seat, (void)err;
    for (uint32_t y = part * STRIP; y < (part + 1) * STRIP && y < following->image.height; y++) {
        const uint8_t *row = plane_row(&following->image.plane[0], y);
        const struct image *expected = following->expected;
        atomic_fetch_add(&following->sum, row[0] + row[following->image.width - 1]);
        assert_true(!expected || memcmp(row, plane_row(&expected->plane[0], y), expected->width) == 0);
    }
    return ST_OK;
}

static void open_strips(void *context, uint32_t rows) {
    struct following *following = context;
    crew_open(following->gate, rows / STRIP);
}

static enum status decode_in_feed(void *context, struct crew_gate *gate, struct error *err) {
    struct following *following = context;
    const struct progress progress = {open_strips, following};
    following->gate = gate;
    following->limits.progress = &progress;
    return codec_decode(following->file, following->picture, &following->limits, &following->image, err);
}

static enum status follow(struct helpers *helpers, struct bytes file, const struct picture *picture,
                          const struct image *expected) {
    struct following following = {
        .file = file, .picture = picture, .limits = fixture_limits(), .expected = expected};
    following.image = fixture_image(picture->native);
    following.limits.crew = helpers_crew(helpers);
    const struct crew_work work = {.part = read_strip,
                                   .context = &following,
                                   .parts = (following.image.height + STRIP - 1) / STRIP,
                                   .seats = 3,
                                   .feed = decode_in_feed};
    helpers_await(helpers);
    enum status status = crew_run(helpers_crew(helpers), &work, NULL);
    fixture_image_free(&following.image);
    return status;
}

static void test_readers_follow(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(2, 1, false);
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = 999;
        recipe.height = 801;
        struct buf file = recipe_file(&recipe);
        struct picture picture = fixture_probe(buf_bytes(&file));
        struct image expected = fixture_image(picture.native);
        struct codec_limits limits = fixture_limits();
        assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &expected, NULL), ST_OK);
        assert_int_equal(follow(helpers, buf_bytes(&file), &picture, &expected), ST_OK);
        for (size_t size = file.size / 3; size + 9 < file.size; size += file.size / 7) {
            assert_int_equal(follow(helpers, (struct bytes){file.data, size}, &picture, NULL), ST_CORRUPT);
        }
        fixture_image_free(&expected);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
    helpers_stop(helpers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
