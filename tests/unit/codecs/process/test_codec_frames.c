/* SPDX-License-Identifier: MIT
 * A decoder and an encoder of frames stay in the process of their codec: between calls, within one limit of
 * memory, and no longer than the request. */
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

/* ---- encoders ---- */

static enum status add(struct lab *lab, bool first, enum fake_order order, unsigned detail,
                       const struct metadata *metadata) {
    unsigned losses = 0;
    const struct codec_add_call call = {.codec = CODEC_WEBP,
                                        .first = first,
                                        .time = first ? 30 : 40,
                                        .timescale = first ? 1000 : 7, /* the first one's counts */
                                        .plays = first ? 4 : 9,
                                        .memory = 4 * MIB};
    const struct encode_options options = {.quality = (uint8_t)order,
                                           .effort = (uint8_t)detail,
                                           .losses = &losses,
                                           .deadline_ns = clock_ns() + 10 * (int64_t)CLOCK_NS_PER_S};
    const enum status status = codec_link_add(lab->link, &call, &lab->image, &options, metadata, &lab->err);
    if (status == ST_OK) {
        assert_int_equal(losses, first ? 0x300 : 0);
    }
    return status;
}

static enum status complete(struct lab *lab, size_t most, struct buf *output) {
    buf_init(output, most);
    return codec_link_complete(lab->link, CODEC_WEBP, clock_ns() + 10 * (int64_t)CLOCK_NS_PER_S, output,
                               &lab->err);
}

static void paint(struct lab *lab, unsigned value) {
    for (uint32_t y = 0; y < lab->image.height; y++) {
        memset(plane_row(&lab->image.plane[0], y), (int)value, 3 * (size_t)lab->image.width);
    }
}

/* Frames are decoded in between, whole pictures too, by the same process. */
static void test_frames_are_encoded_one_after_the_other(void **state) {
    struct lab lab;
    struct buf output;
    static const uint8_t exif[] = {1, 2, 88};
    const struct metadata metadata = {.orientation = 1, .exif = {exif, sizeof exif}};
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    assert_int_equal(probe(&lab), ST_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_frame(&lab, i);
        assert_int_equal(decode(&lab), ST_OK);
        paint(&lab, 50 + i);
        assert_int_equal(add(&lab, i == 0, FAKE_WORKS, 0, i == 0 ? &metadata : NULL), ST_OK);
    }
    assert_int_equal(complete(&lab, OUTPUT_MAX, &output), ST_OK);
    assert_int_equal(output.size, 4 * sizeof(struct fake_frame));
    for (unsigned i = 0; i < 4; i++) {
        struct fake_frame frame;
        memcpy(&frame, output.data + i * sizeof frame, sizeof frame);
        assert_int_equal(frame.time, i == 0 ? 30 : 40);
        assert_int_equal(frame.timescale, 1000);
        assert_int_equal(frame.plays, 4);
        assert_int_equal(frame.first, 50 + i);
        assert_int_equal(frame.last, 50 + i);
        assert_int_equal(frame.exif, 88);
    }
    buf_finish(&output);
    assert_int_equal(count_processes(), 1);
    assert_frame(&lab, 4 - 4); /* the decoder begins again, in spite of what was written */
    close_lab(&lab);
}

static void test_the_encoder_ends_with_the_file_or_the_request(void **state) {
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    assert_int_equal(add(&lab, true, FAKE_WORKS, 0, NULL), ST_OK);
    assert_int_equal(complete(&lab, OUTPUT_MAX, &output), ST_OK);
    buf_finish(&output);
    assert_int_equal(add(&lab, false, FAKE_WORKS, 0, NULL), ST_BUSY);
    assert_int_equal(complete(&lab, OUTPUT_MAX, &output), ST_BUSY);
    assert_int_equal(add(&lab, true, FAKE_WORKS, 0, NULL), ST_OK);
    assert_int_equal(complete(&lab, sizeof(struct fake_frame) - 1, &output), ST_LIMIT);
    assert_int_equal(add(&lab, true, FAKE_WORKS, 0, NULL), ST_OK);
    assert_int_equal(count_processes(), 1);
    codec_link_clear(lab.link);
    assert_int_equal(count_processes(), 0);
    assert_int_equal(slot_pool_held(pool, SLOT_EXCHANGE), 0);
    assert_int_equal(add(&lab, false, FAKE_WORKS, 0, NULL), ST_BUSY);
    assert_int_equal(add(&lab, true, FAKE_WORKS, 0, NULL), ST_OK);
    assert_works(&lab); /* another picture is probed */
    assert_int_equal(add(&lab, false, FAKE_WORKS, 0, NULL), ST_INTERNAL);
    close_lab(&lab);
}

/* One limit for all frames; a decoder that stands beside does not use it up, nor does it get more. */
static void test_memory_of_an_encoder_is_limited(void **state) {
    struct lab lab;
    struct frame frame;
    (void)state;
    if (SANITIZED) {
        skip();
    }
    open_lab(&lab);
    for (unsigned decodes = 0; decodes < 2; decodes++) {
        load(&lab, FAKE_GROWS, 3 * MIB);
        enum status status = ST_OK;
        unsigned count = 0;
        for (; status == ST_OK && count < 60; count++) {
            status = decodes && count < 5 ? next(&lab, count == 0, &frame) : ST_OK;
            status = status == ST_OK ? add(&lab, count == 0, FAKE_GROWS, 2, NULL) : status;
        }
        assert_int_equal(status, ST_LIMIT);
        /* of 4 MiB, and what a picture of any kind gets, and as much again for the decoder */
        assert_in_range(count, decodes ? 16 : 10, decodes ? 30 : 20);
        codec_link_clear(lab.link);
    }
    close_lab(&lab);
}

static void test_faults_of_an_encoder(void **state) {
    static const struct {
        enum fake_order order;
        enum status status;
    } rows[] = {{FAKE_CRASHES, ST_INTERNAL},
                {FAKE_ENDS, ST_INTERNAL},
                {FAKE_IS_DAMAGED, ST_CORRUPT},
                {FAKE_HOARDS, ST_LIMIT}};
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (SANITIZED && rows[i].order == FAKE_HOARDS) {
            continue;
        }
        load(&lab, FAKE_WORKS, 0);
        assert_int_equal(add(&lab, true, rows[i].order, 0, NULL), ST_OK);
        assert_int_equal(add(&lab, false, rows[i].order, 0, NULL), rows[i].status);
        assert_int_equal(add(&lab, false, FAKE_WORKS, 0, NULL), ST_BUSY); /* no other encoder goes on */
        assert_int_equal(complete(&lab, OUTPUT_MAX, &output), ST_BUSY);
        assert_int_equal(add(&lab, true, FAKE_WORKS, 0, NULL), ST_OK);
        assert_int_equal(complete(&lab, OUTPUT_MAX, &output), ST_OK);
        buf_finish(&output);
        codec_link_clear(lab.link);
    }
    close_lab(&lab);
}

static void test_a_deadline_ends_the_encoder(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    assert_int_equal(add(&lab, true, FAKE_LOOPS, 0, NULL), ST_OK);
    const struct codec_add_call call = {.codec = CODEC_WEBP, .time = 1, .memory = 4 * MIB};
    const struct encode_options options = {.deadline_ns = clock_ns() + CLOCK_NS_PER_S / 5};
    assert_int_equal(codec_link_add(lab.link, &call, &lab.image, &options, NULL, &lab.err), ST_LIMIT);
    assert_int_equal(add(&lab, false, FAKE_WORKS, 0, NULL), ST_BUSY);
    close_lab(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_follow_each_other),
        cmocka_unit_test(test_the_decoder_ends_with_the_request),
        cmocka_unit_test(test_memory_of_all_frames_is_limited),
        cmocka_unit_test(test_faults_between_frames),
        cmocka_unit_test(test_frames_are_encoded_one_after_the_other),
        cmocka_unit_test(test_the_encoder_ends_with_the_file_or_the_request),
        cmocka_unit_test(test_memory_of_an_encoder_is_limited),
        cmocka_unit_test(test_faults_of_an_encoder),
        cmocka_unit_test(test_a_deadline_ends_the_encoder),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
