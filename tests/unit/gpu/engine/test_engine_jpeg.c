/* SPDX-License-Identifier: MIT
 * JPEG to JPEG by the engine: results are the CPU's, byte by byte, and files that are not what the front says
 * are left to it. */
#include "tests/unit/gpu/engine/engine_jpeg_fixture.h"

#include <pthread.h>

#include "codecs/jpeg/jpeg_coefficients.h"

enum { THREADS = 5, ROUNDS = 6 };

static void test_none_wanted(void **state) {
    (void)state;
    struct engine *usual = engine;
    struct engine_session *its = lane;
    struct engine_options without = options;
    struct wire_ready ready;
    struct error err = {0};
    struct wire_run run = good_run();
    without.jpeg = false;
    assert_int_equal(engine_open(&engine, &without, &ready, &err), ST_OK);
    assert_int_equal(ready.pictures, 0);
    assert_int_equal(engine_session_create(&lane, engine, &err), ST_OK);
    assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
    assert_written(0, 0);
    engine_session_destroy(lane);
    engine_close(engine);
    engine = usual;
    lane = its;
}

static void test_good(void **state) {
    (void)state;
    struct wire_run run = good_run();
    assert_done(&run, &shape);
    run.mask = 7; /* there is none */
    assert_done(&run, &shape);
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct image_shape upright = orient_shape(&shape, orientation);
        run.jpeg.orientation = orientation;
        run.chain = blur(&upright);
        assert_done(&run, &upright);
    }
    for (uint8_t quality = 1; quality < 100; quality += 33) {
        run = good_run();
        run.jpeg.quality = quality;
        assert_done(&run, &shape);
    }
}

static void test_side_by_side(void **state) {
    (void)state;
    struct wire_run run = good_run();
    run.target = SOURCE + file.size;
    assert_done(&run, &shape);
    run.target = SLOT_SIZE - ROOM;
    assert_done(&run, &shape);
}

/* The file is something else than the front says. */
static void test_files(void **state) {
    (void)state;
    struct wire_run run = good_run();
    run.source = SLOT_SIZE / 4; /* no JPEG */
    assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
    run = good_run();
    for (uint64_t size = 1; size < file.size; size += size / 7 + 1) {
        run.jpeg.size = size;
        assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
        assert_written(0, 0);
    }
    static const struct image_shape others[] = {
        {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .width = WIDTH, .height = HEIGHT},
        {PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = WIDTH - 1,
         .height = HEIGHT},
        {PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = WIDTH, .height = 16},
        {PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = 2048, .height = 1024},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        run = good_run();
        run.shape = others[i];
        run.chain = blur(&others[i]);
        assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
        assert_written(0, 0);
    }
    run = good_run();
    assert_done(&run, &shape);
}

/* A result that is larger than its room is left to the front. */
static void test_room(void **state) {
    (void)state;
    struct wire_run run = good_run();
    uint64_t size = run_on(&run).size;
    run.jpeg.room = size;
    assert_done(&run, &shape);
    for (run.jpeg.room = size - 1; run.jpeg.room > 0; run.jpeg.room /= 5) {
        assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
        assert_written(0, 0);
    }
}

/* Threads with lanes of their own, more of them than places. */
static void *work(void *argument) {
    struct engine_session *own;
    struct error err;
    struct wire_run run = good_run();
    run.target = TARGET + ROOM / 4 * *(unsigned *)argument;
    run.jpeg.room = ROOM / 4;
    run.slot_serial =
        500 + *(unsigned *)argument; /* a slot has one user; these happen to be the same memory */
    bool fine = engine_session_create(&own, engine, &err) == ST_OK;
    for (unsigned i = 0; i < ROUNDS && fine; i++) {
        struct wire_done done;
        fine = engine_run(own, &run, dup(slot), &done) && done.error.status == ST_OK;
    }
    engine_session_destroy(own);
    return fine ? argument : NULL;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    void *result;
    struct wire_run run = good_run();
    uint64_t size = run_on(&run).size;
    for (unsigned i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_non_null(result);
    }
    for (unsigned i = 1; i < THREADS; i++) {
        assert_memory_equal(memory + TARGET, memory + TARGET + ROOM / 4 * i, size);
    }
}

/* The same picture as coefficients, aligned. */
static void test_coefficients(void **state) {
    (void)state;
    const struct codec_limits usual = {.max_scans = 10};
    const struct jpeg_recipe recipe = {.luma = {2, 2}, .progressive = true, .width = WIDTH, .height = HEIGHT};
    struct buf baseline = file;
    struct coefficients_layout layout;
    struct error err = {0};
    assert_true(coefficients_lay_out(&shape, &layout));
    size_t size = coefficients_size(&layout), room = jpeg_coefficients_bytes(&layout);
    uint8_t *made = aligned_alloc(IMAGE_ALIGNMENT, bytes_align_up(room, IMAGE_ALIGNMENT));
    struct buf progressive = recipe_file(&recipe);
    assert_int_equal(jpeg_coefficients_read(buf_bytes(&progressive), &usual, &shape, true, made, &err),
                     ST_OK);
    file = (struct buf){.data = made, .size = size};
    struct wire_run run = good_run();
    run.source = IMAGE_ALIGNMENT;
    run.jpeg.form = TRANSCODE_COEFFICIENTS;
    file_at = IMAGE_ALIGNMENT;
    struct wire_done done = run_on(&run);
    file_at = SOURCE;
    assert_int_equal(done.error.status, ST_OK);
    file = progressive; /* libjpeg-turbo decodes that */
    run.jpeg.form = TRANSCODE_SCAN;
    struct buf expected = by_cpu(&run, &shape);
    assert_int_equal(done.size, expected.size);
    assert_memory_equal(memory + run.target, expected.data, expected.size);
    buf_finish(&expected);
    buf_finish(&progressive);
    free(made);
    file = baseline;
}

/* A progressive file, whose scans the device reads. */
static void test_scans(void **state) {
    (void)state;
    const struct jpeg_recipe recipe = {.luma = {2, 2}, .progressive = true, .width = WIDTH, .height = HEIGHT};
    struct buf baseline = file;
    file = recipe_file(&recipe);
    struct wire_run run = good_run();
    run.jpeg.form = TRANSCODE_SCANS;
    assert_done(&run, &shape);
    assert_int_equal(run_on(&run).error.status, ST_OK);
    run.jpeg.size -= 2; /* without the end marker */
    assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
    assert_written(0, 0);
    buf_finish(&file);
    file = baseline;
    run = good_run();
    run.jpeg.form = TRANSCODE_SCANS;
    assert_int_equal(run_on(&run).error.status, ST_UNSUPPORTED);
    assert_written(0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_wanted),  cmocka_unit_test(test_good),
        cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_files),
        cmocka_unit_test(test_room),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_coefficients), cmocka_unit_test(test_scans),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
