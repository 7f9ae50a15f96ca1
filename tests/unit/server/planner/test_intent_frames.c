/* SPDX-License-Identifier: MIT
 * The number of an animation's frames that a few of its bytes promise, and the time that is predicted by it.
 */
#include "codecs/frames.h"
#include "server/planner/cost.h"
#include "server/planner/intent.h"
#include "tests/unit/codecs/picture_fixture.h"

enum { SIDE = 64, FRAMES = 120 };

/* An animation of noise, or of one colour if the mask is 0. Of noise it is several times as large as what is
 * looked at. */
static struct buf animation(enum codec_id id, uint32_t frames, uint32_t mask) {
    const struct image_shape shape = fixture_shape(PIXEL_RGB, 8, SIDE, SIDE);
    const struct animation all = {.width = SIDE, .height = SIDE, .frames = frames};
    const struct frame frame = {.width = SIDE, .height = SIDE, .delay = 1, .scale = 10};
    const struct encode_options options = fixture_options();
    struct image image = fixture_image(shape);
    struct frames_writer writer = {0};
    struct buf file;
    struct error err;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, frames_writer_bytes(id, &shape));
    uint32_t random = 1;
    buf_init(&file, 64 << 20);
    frames_writer_open(&writer, id, &shape, &all, &options, NULL, &file, memory);
    for (uint32_t i = 0; i < frames; i++) {
        for (uint32_t y = 0; y < SIDE; y++) {
            for (uint32_t x = 0; x < 3 * SIDE; x++) {
                random = random * 1664525 + 1013904223;
                plane_row(&image.plane[0], y)[x] = (uint8_t)(random >> 24 & mask);
            }
        }
        assert_int_equal(frames_writer_add(&writer, &image, &frame, &err), ST_OK);
    }
    assert_int_equal(frames_writer_end(&writer, &err), ST_OK);
    frames_writer_close(&writer);
    fixture_image_free(&image);
    free(memory);
    return file;
}

static void test_estimates(void **state) {
    static const enum codec_id ids[] = {CODEC_GIF, CODEC_PNG, CODEC_WEBP};
    (void)state;
    for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (!frames_writes(ids[i])) {
            continue; /* a build without libwebp */
        }
        struct buf file = animation(ids[i], FRAMES, 255);
        assert_true(file.size > FRAMES_ESTIMATED_FROM);
        assert_in_range(frames_estimate(ids[i], buf_bytes(&file)), FRAMES * 9 / 10, FRAMES * 11 / 10);
        assert_int_equal(frames_estimate(ids[i], (struct bytes){file.data, 40}), 1);
        buf_finish(&file);
        file = animation(ids[i], 3, 255);
        assert_int_equal(frames_estimate(ids[i], buf_bytes(&file)), 3);
        buf_finish(&file);
        file = animation(ids[i], 1, 255);
        assert_int_equal(frames_estimate(ids[i], buf_bytes(&file)), 1);
        buf_finish(&file);
    }
}

static int64_t predicted(struct bytes body, const char *name, const char *value) {
    static const struct cost_model nothing_learnt;
    const struct codec_limits limits = fixture_limits();
    struct parameters parameters;
    struct intent intent = {0};
    parameters_init(&parameters, filter_get(FILTER_BLUR));
    if (name) {
        assert_int_equal(parameters_set(&parameters, name, value, NULL), ST_OK);
    }
    intent_make(&intent, body, "", "", &parameters, &limits);
    return cost_predict(&nothing_learnt, &intent, NULL, false).ways[WAY_CPU].ns;
}

static void test_all_frames_count(void **state) {
    (void)state;
    struct buf file = animation(CODEC_GIF, FRAMES, 0);
    const struct bytes body = buf_bytes(&file);
    const int64_t one = predicted(body, "page", "0");
    assert_true(predicted(body, NULL, NULL) > 20 * one);
    assert_true(predicted(body, "frames", "0-9") < predicted(body, NULL, NULL) / 4);
    assert_true(predicted(body, "frames", "7") <= one);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_all_frames_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
