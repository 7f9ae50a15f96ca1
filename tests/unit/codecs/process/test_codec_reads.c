/* SPDX-License-Identifier: MIT
 * The reader of codes in the process of isolated codecs. The caller gets what it finds, and every fault fails
 * the call: no fault looks like a picture without codes. */
#include "tests/unit/codecs/process/codec_link_fixture.h"

#include "codecs/process/codec_wire.h"
#include "core/sanitizers.h"

enum { SIDE = 40, FOUND_MAX = 64 };

/* The first pixel is an order (enum fake_order), the second how many bytes are found. */
static enum status fake_read_marks(const struct image *grey, struct buf *found, struct error *err) {
    uint8_t *pixel = grey->plane[0].data;
    enum status status = fake_obey(pixel[0], 8 << 20, err);
    for (unsigned i = 0; i < pixel[1] && status == ST_OK; i++) {
        const uint8_t byte = (uint8_t)(pixel[2] + i);
        status = buf_append(found, &byte, 1, err);
    }
    pixel[0] = 99; /* it may change the picture, which is a copy */
    return status;
}

static enum status fake_open(const char *path, struct error *err) {
    (void)err;
    assert_string_equal(path, "there");
    return ST_OK;
}

static int start_reader(void **state) {
    static const struct codec_reader reader = {
        .title = "marks", .path = "there", .open = fake_open, .read = fake_read_marks};
    const struct codec_process_options options = {
        .codec = fake_table, .reader = &reader, .sandbox.wanted = true};
    struct error err = {0};
    (void)state;
    log_init(LOG_ERROR, LOG_TEXT);
    assert_int_equal(codec_spawner_fork(&spawner, &options, &err), ST_OK);
    pool = make_pool(64 * MIB);
    return 0;
}

static enum status read_until(struct lab *lab, enum fake_order order, uint8_t count, int64_t deadline_ns,
                              struct buf *found) {
    static uint8_t pixels[SIDE * SIDE];
    const struct image grey = {
        .model = PIXEL_GRAY,
        .depth = 8,
        .plane_count = 1,
        .width = SIDE,
        .height = SIDE,
        .plane[0] = {.data = pixels, .width = SIDE, .height = SIDE, .stride = SIDE, .channels = 1}};
    pixels[0] = (uint8_t)order;
    pixels[1] = count;
    pixels[2] = 5;
    buf_init(found, FOUND_MAX);
    enum status status = codec_link_read(lab->link, &grey, deadline_ns, 4 * MIB, found, &lab->err);
    assert_int_equal(pixels[0], order);
    return status;
}

static void assert_reads(struct lab *lab) {
    static const uint8_t wanted[3] = {5, 6, 7};
    struct buf found;
    if (read_until(lab, FAKE_WORKS, sizeof wanted, 0, &found) != ST_OK) {
        fail_msg("a usual picture: %s", lab->err.text);
    }
    assert_int_equal(found.size, sizeof wanted);
    assert_memory_equal(found.data, wanted, sizeof wanted);
    buf_finish(&found);
}

static void test_found(void **state) {
    struct lab lab;
    struct buf found;
    (void)state;
    open_lab(&lab);
    assert_reads(&lab);
    assert_int_equal(read_until(&lab, FAKE_WORKS, 0, 0, &found), ST_OK);
    assert_int_equal(found.size, 0);
    assert_int_equal(read_until(&lab, FAKE_WORKS, FOUND_MAX, 0, &found), ST_OK);
    assert_int_equal(found.size, FOUND_MAX);
    buf_finish(&found);
    assert_works(&lab); /* the codec in the same process */
    assert_reads(&lab);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

static void test_death(void **state) {
    static const enum fake_order deaths[] = {FAKE_CRASHES, FAKE_ABORTS, FAKE_ENDS};
    struct lab lab;
    struct buf found;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < 3; i++) {
        assert_reads(&lab);
        assert_int_equal(read_until(&lab, deaths[i], 1, 0, &found), ST_INTERNAL);
        assert_string_equal(lab.err.text, "the library that reads marks failed on this picture");
        assert_int_equal(found.size, 0);
        buf_finish(&found);
        assert_int_equal(count_processes(), 0);
    }
    assert_int_equal(codec_link_faults(lab.link),
                     6); /* each in a process of an earlier call, and in a new one */
    assert_reads(&lab);
    close_lab(&lab);
}

static void test_limits(void **state) {
    struct lab lab;
    struct buf found;
    (void)state;
    open_lab(&lab);
    assert_int_equal(read_until(&lab, FAKE_LOOPS, 1, clock_ns() + 200 * MS, &found), ST_LIMIT);
    assert_int_equal(read_until(&lab, FAKE_LOOPS_DEAF, 1, clock_ns() + 200 * MS, &found), ST_LIMIT);
    if (!SANITIZED) {
        assert_int_equal(read_until(&lab, FAKE_HOARDS, 1, 0, &found), ST_LIMIT);
    }
    assert_int_equal(read_until(&lab, FAKE_WORKS, FOUND_MAX + 1, 0, &found), ST_LIMIT);
    assert_int_equal(found.size, 0);
    buf_finish(&found);
    assert_int_equal(read_until(&lab, FAKE_IS_DAMAGED, 0, 0, &found), ST_INTERNAL); /* not quoted */
    assert_reads(&lab);
    close_lab(&lab);
}

/* A process that was taken over says that it found more than there is room for. */
static void say_too_much(uint32_t detail) {
    struct codec_answer answer = {.size = FOUND_MAX + 1};
    struct error err;
    (void)detail;
    (void)channel_send(FAKE_SOCKET, &answer, sizeof answer, CODEC_ANSWER, -1, &err);
}

static void test_too_much(void **state) {
    struct lab lab;
    struct buf found;
    (void)state;
    open_lab(&lab);
    assert_int_equal(read_until(&lab, FAKE_IS_HOSTILE_LATE, 0, 0, &found), ST_INTERNAL);
    assert_int_equal(found.size, 0);
    assert_reads(&lab);
    close_lab(&lab);
}

static int start_all(void **state) {
    fake_attack = say_too_much;
    return start_reader(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_death),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_too_much)};
    return cmocka_run_group_tests(tests, start_all, stop);
}
