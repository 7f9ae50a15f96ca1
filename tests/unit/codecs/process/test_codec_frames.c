/* SPDX-License-Identifier: MIT
 * A decoder of frames stays in the process of its codec: between calls, within one limit of memory, and no
 * longer than the request. */
#include "codecs/frames.h"
#include "tests/unit/codecs/process/codec_link_fixture.h"

static enum status next(struct lab *lab, bool first, struct frame *frame) {
    const struct codec_limits limits = fixture_limits();
    const struct codec_frame_call call = {.codec = CODEC_WEBP, .first = first, .memory = 4 * MIB};
    return codec_link_frame(lab->link, &call, lab->file, &limits, &lab->image, frame, &lab->err);
}

static void assert_frame(struct lab *lab, uint32_t index) {
    struct frame frame = {0};
    if (next(lab, index == 0, &frame) != ST_OK) {
        fail_msg("frame %u: %s", index, lab->err.text);
    }
    assert_int_equal(frame.delay, index + 1);
    assert_int_equal(frame.scale, 10);
    const struct plane *plane = &lab->image.plane[0];
    assert_int_equal(plane_row(plane, lab->image.height - 1)[3 * lab->image.width - 1], 7 + index);
}

/* The file is needed with the first frame alone, and encoders use the exchange meanwhile. */
static void test_frames_follow_each_other(void **state) {
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    assert_int_equal(probe(&lab), ST_OK);
    assert_int_equal(lab.picture.frames, 5);
    assert_int_equal(lab.picture.plays, 3);
    for (uint32_t i = 0; i < 5; i++) {
        assert_frame(&lab, i);
        memset(lab.body->memory + (lab.file.data - lab.body->memory), 0, lab.file.size);
        assert_int_equal(encode(&lab, FAKE_WORKS, OUTPUT_MAX, &output), ST_OK);
        buf_finish(&output);
    }
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

/* A decoder holds what it has seen of a client's picture. */
static void test_the_decoder_ends_with_the_request(void **state) {
    struct lab lab;
    struct frame frame;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    assert_frame(&lab, 0);
    assert_int_equal(count_processes(), 1);
    codec_link_clear(lab.link);
    assert_int_equal(count_processes(), 0);
    assert_int_equal(slot_pool_held(pool, SLOT_EXCHANGE), 0);
    assert_int_equal(next(&lab, false, &frame), ST_BUSY);
    assert_frame(&lab, 0);
    assert_works(&lab); /* another picture ends the decoder */
    assert_int_equal(next(&lab, false, &frame), ST_INTERNAL);
    close_lab(&lab);
}

static void test_memory_of_all_frames_is_limited(void **state) {
    struct lab lab;
    struct frame frame;
    (void)state;
    if (SANITIZED) {
        skip();
    }
    open_lab(&lab);
    load(&lab, FAKE_GROWS, 3 * MIB);
    enum status status = next(&lab, true, &frame);
    unsigned count = 0;
    for (; status == ST_OK && count < 40; count++) {
        status = next(&lab, false, &frame);
    }
    assert_int_equal(status, ST_LIMIT);
    assert_in_range(count, 4, 12); /* of 20 MiB */
    load(&lab, FAKE_WORKS, 0);
    assert_frame(&lab, 0);
    assert_frame(&lab, 1);
    close_lab(&lab);
}

static void test_faults_between_frames(void **state) {
    static const struct {
        enum fake_order order;
        enum status status;
    } rows[] = {{FAKE_CRASHES, ST_CORRUPT}, {FAKE_IS_DAMAGED, ST_CORRUPT}, {FAKE_ENDS, ST_CORRUPT}};
    struct lab lab;
    struct frame frame;
    (void)state;
    open_lab(&lab);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        load(&lab, rows[i].order, 0);
        assert_frame(&lab, 0);
        assert_int_equal(next(&lab, false, &frame), rows[i].status);
        assert_true(next(&lab, false, &frame) != ST_OK); /* never with another picture's decoder */
        load(&lab, FAKE_WORKS, 0);
        assert_frame(&lab, 0);
        assert_frame(&lab, 1);
        codec_link_clear(lab.link);
    }
    close_lab(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_follow_each_other),
        cmocka_unit_test(test_the_decoder_ends_with_the_request),
        cmocka_unit_test(test_memory_of_all_frames_is_limited),
        cmocka_unit_test(test_faults_between_frames),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
