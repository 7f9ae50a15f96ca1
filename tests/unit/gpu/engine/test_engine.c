/* SPDX-License-Identifier: MIT
 * The engine in this process, on the fake driver: a request of a misbehaving front is refused before any of
 * it is used. */
#include "gpu/engine/engine.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/log.h"
#include "core/slot_file.h"
#include "filters/filter.h"
#include "gpu/cuda/driver.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SLOT_SIZE = 1 << 20, PATTERN = 0x5a };

static struct engine *engine;
static struct engine_session *lane;
static int slot; /* the memfd */
static uint8_t *memory;
static char library[PATH_MAX + 40];
static const struct engine_options options = {.gpus = "all", .library = library, .program.cache_folder = ""};

static const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 40, .height = 30};

static int open_engine(void **state) {
    (void)state;
    char program[PATH_MAX] = "";
    struct wire_ready ready;
    struct error err = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    snprintf(library, sizeof library, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    slot = slot_file(SLOT_SIZE);
    if (slot < 0) {
        return -1;
    }
    memory = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slot, 0);
    if (memory == MAP_FAILED || engine_open(&engine, &options, &ready, &err) != ST_OK ||
        engine_session_create(&lane, engine, &err) != ST_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static int close_engine(void **state) {
    (void)state;
    engine_session_destroy(lane);
    engine_close(engine);
    munmap(memory, SLOT_SIZE);
    close(slot);
    return 0;
}

static struct wire_run good_run(void) {
    struct blur_arguments arguments;
    struct error err = {0};
    struct wire_run run = {.slot_serial = 1,
                           .slot_span = SLOT_SIZE,
                           .target = SLOT_SIZE / 2,
                           .mask = WIRE_NO_MASK,
                           .shape = shape};
    const struct filter *filter = filter_get(FILTER_BLUR);
    arguments_default(filter->arguments, &arguments);
    assert_int_equal(chain_append(&run.chain, filter, &arguments, &shape, &err), ST_OK);
    return run;
}

static enum status run_on(const struct wire_run *run, int fd) {
    struct wire_done done;
    assert_true(fd >= 0);
    assert_true(engine_run(lane, run, fd, &done)); /* the engine itself is sound */
    assert_int_equal(fcntl(fd, F_GETFD), -1);      /* it took the descriptor over */
    assert_true(done.error.status == ST_OK || done.error.text[0]);
    return done.error.status;
}

static void assert_untouched(void) {
    for (size_t i = 0; i < SLOT_SIZE; i++) {
        assert_int_equal(memory[i], PATTERN);
    }
}

static void assert_refused(const struct wire_run *run) {
    memset(memory, PATTERN, SLOT_SIZE);
    assert_int_equal(run_on(run, dup(slot)), ST_INTERNAL);
    assert_untouched();
}

/* A picture of one colour stays one, and only the target is written. `at`: the slot's bytes. */
static void assert_runs(const struct wire_run *run, int fd, uint8_t *at) {
    struct image image;
    size_t size = image_layout(&image, &shape);
    memset(at, PATTERN, SLOT_SIZE);
    memset(at + run->target, 0, size);
    assert_int_equal(run_on(run, dup(fd)), ST_OK);
    image_place(&image, at + run->target);
    for (uint32_t y = 0; y < shape.height; y++) {
        uint8_t *row = plane_row(&image.plane[0], y);
        for (uint32_t x = 0; x < shape.width * 3; x++) {
            assert_int_equal(row[x], PATTERN);
        }
    }
    for (size_t i = 0; i < SLOT_SIZE; i++) {
        assert_true(at[i] == PATTERN || (i >= run->target && i < run->target + size));
    }
}

static void test_good(void **state) {
    (void)state;
    struct wire_run run = good_run();
    assert_runs(&run, slot, memory);
}

static void test_offsets(void **state) {
    (void)state;
    struct image image;
    uint64_t size = image_layout(&image, &shape);
    const uint64_t pairs[][2] = {
        {0, SLOT_SIZE - size + 64}, /* ends behind the slot */
        {SLOT_SIZE - size + 64, 0},
        {0, SLOT_SIZE},
        {0, UINT64_MAX - 63},
        {UINT64_MAX - 63, 0},
        {UINT64_MAX - 63, UINT64_MAX - 63},
        {0, 1ull << 63},
        {0, 0}, /* the same */
        {0, size - 64},
        {size - 64, 0},
        {4096, 4096 + 64},
        {1, SLOT_SIZE / 2}, /* unaligned */
        {0, SLOT_SIZE / 2 + 32},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct wire_run run = good_run();
        run.source = pairs[i][0];
        run.target = pairs[i][1];
        assert_refused(&run);
    }
    struct wire_run run = good_run();
    run.target = size; /* side by side is right */
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    run.source = SLOT_SIZE - size;
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
}

/* Coverage of 0 everywhere: the result is the source, and that comes from the mask. */
static struct wire_run masked_run(void) {
    struct wire_run run = good_run();
    run.mask = SLOT_SIZE / 4 * 3;
    return run;
}

static void test_mask(void **state) {
    (void)state;
    struct wire_run run = masked_run();
    struct image image;
    uint64_t size = image_layout(&image, &shape);
    memset(memory, 0, SLOT_SIZE);
    for (uint64_t i = 0; i < size; i++) {
        memory[i] = (uint8_t)(i * 31 >> 3);
    }
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    for (uint32_t y = 0; y < shape.height; y++) {
        const uint8_t *row = memory + y * image.plane[0].stride;
        assert_memory_equal(row + run.target, row, shape.width * 3);
    }
    memset(memory + run.mask, 255, SLOT_SIZE - run.mask); /* and of all: the blurred picture */
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    assert_memory_not_equal(memory + run.target, memory, shape.width * 3);
}

static void test_mask_offsets(void **state) {
    (void)state;
    const struct image_shape coverage = {.model = PIXEL_GRAY, .depth = 8, .width = 40, .height = 30};
    struct image image;
    uint64_t size = image_layout(&image, &coverage);
    uint64_t picture = image_layout(&image, &shape);
    const uint64_t offsets[] = {
        0, /* that of the source */
        SLOT_SIZE / 2,
        picture - 64, /* reaches into one of them */
        SLOT_SIZE / 2 + picture - 64,
        SLOT_SIZE / 2 - size + 64,
        SLOT_SIZE / 4 * 3 + 1, /* unaligned */
        SLOT_SIZE / 4 * 3 + 32,
        SLOT_SIZE - size + 64, /* ends behind the slot */
        SLOT_SIZE,
        1ull << 63,
        UINT64_MAX - 63,
        UINT64_MAX - 1, /* but not WIRE_NO_MASK */
    };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct wire_run run = masked_run();
        run.mask = offsets[i];
        assert_refused(&run);
    }
    const uint64_t right[] = {picture, SLOT_SIZE / 2 - size, SLOT_SIZE / 2 + picture, SLOT_SIZE - size};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct wire_run run = masked_run();
        run.mask = right[i];
        assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    }
}

/* The output is smaller than the picture. */
static void test_stats(void **state) {
    (void)state;
    struct wire_run run = good_run();
    struct error err = {0};
    struct stats stats;
    struct image image;
    const struct image_shape result = stats_shape();
    uint64_t size = image_layout(&image, &result);
    run.chain = (struct chain){0};
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_STATS), NULL, &shape, &err), ST_OK);
    run.target = SLOT_SIZE - size;
    memset(memory, PATTERN, SLOT_SIZE);
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    memcpy(&stats, memory + run.target, sizeof stats);
    assert_int_equal(stats.pixels, 40 * 30);
    assert_int_equal(stats.channel[2].minimum, PATTERN);
    assert_int_equal(stats.channel[2].histogram[PATTERN], 40 * 30);
    assert_int_equal(stats.channel[3].maximum, 0);
    run.target += 64;
    assert_refused(&run);
    run.target = 0; /* the source's */
    assert_refused(&run);
    run = good_run();
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_STATS), NULL, &shape, &err), ST_OK);
    assert_refused(&run); /* not behind another filter */
}

static void test_shapes(void **state) {
    (void)state;
    const struct image_shape shapes[] = {
        {.model = PIXEL_YCBCR + 1, .depth = 8, .width = 40, .height = 30},
        {.model = (enum pixel_model) - 1, .depth = 8, .width = 40, .height = 30},
        {.model = PIXEL_RGB, .depth = 0, .width = 40, .height = 30},
        {.model = PIXEL_RGB, .depth = 9, .width = 40, .height = 30},
        {.model = PIXEL_RGB, .depth = 32, .width = 40, .height = 30},
        {.model = PIXEL_YCBCR, .depth = 16, .width = 40, .height = 30},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 3, .width = 40, .height = 30},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 255, .width = 40, .height = 30},
        {.model = PIXEL_RGB, .depth = 8, .width = 0, .height = 30},
        {.model = PIXEL_RGB, .depth = 8, .width = 40, .height = 0},
        {.model = PIXEL_RGB, .depth = 8, .width = 40, .height = 30000},
        {.model = PIXEL_RGBA, .depth = 16, .width = UINT32_MAX, .height = UINT32_MAX},
        {.model = PIXEL_GRAY, .depth = 8, .width = UINT32_MAX, .height = 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct wire_run run = good_run();
        run.shape = shapes[i];
        assert_refused(&run);
    }
}

static void test_chains(void **state) {
    (void)state;
    struct wire_run run = good_run();
    const uint32_t counts[] = {0, CHAIN_STEPS_MAX, CHAIN_STEPS_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run = good_run();
        run.chain.count = counts[i];
        run.chain.step[CHAIN_STEPS_MAX - 1].filter = FILTER_BLUR; /* without a plan */
        assert_refused(&run);
    }
    run = good_run();
    run.chain.step[0].filter = FILTER_COUNT;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].filter = (enum filter_id) - 1;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].filter = FILTER_CONVOLVE; /* a blur's plan */
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].blur.edge = 200;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].blur.axis[0].radius = BLUR_RADIUS_MAX + 1;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].blur.axis[0].levels = BLUR_LEVELS_MAX + 1;
    assert_refused(&run);
}

/* A file that is shorter than the front says would end the process at the first touch. */
static void test_slot_shorter_than_claimed(void **state) {
    (void)state;
    const uint64_t claims[] = {SLOT_SIZE + 1, 1ull << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct wire_run run = good_run();
        run.slot_serial = 100 + i;
        run.slot_span = claims[i];
        assert_refused(&run);
        run.slot_serial = 1; /* one that is mapped already, but not so much of it */
        assert_refused(&run);
    }
    struct wire_run run = good_run();
    run.slot_serial = 200;
    int fd = memfd_create("empty", MFD_CLOEXEC);
    assert_int_equal(run_on(&run, fd), ST_INTERNAL);
    assert_int_equal(run_on(&run, open("/dev/null", O_RDWR | O_CLOEXEC)), ST_INTERNAL);
    int unsealed = memfd_create("long enough, as yet", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(unsealed, SLOT_SIZE), 0);
    assert_int_equal(run_on(&run, unsealed), ST_INTERNAL);
    assert_int_equal(run_on(&run, dup(slot)), ST_OK); /* and the real one after those */
}

static void test_slot_that_cannot_be_mapped(void **state) {
    (void)state;
    int pipes[2];
    struct wire_run run = good_run();
    run.slot_serial = 300;
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_not_equal(run_on(&run, pipes[0]), ST_OK);
    close(pipes[1]);
}

/* More of the slot than was mapped before, then less, then as little of other pages. */
static void test_a_slot_that_grows(void **state) {
    (void)state;
    int other = slot_file(SLOT_SIZE);
    uint8_t *other_memory = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
    assert_ptr_not_equal(other_memory, MAP_FAILED);
    struct wire_run run = good_run();
    run.slot_serial = 400;
    for (unsigned i = 0; i < 3; i++) {
        run.target = i == 1 ? SLOT_SIZE - SLOT_SIZE / 4 : SLOT_SIZE / 4;
        run.slot_span = run.target + SLOT_SIZE / 4;
        assert_runs(&run, slot, memory);
    }
    run.slot_generation++;
    assert_runs(&run, other, other_memory);
    munmap(other_memory, SLOT_SIZE);
    close(other);
}

/* An engine whose device is so small that no lane may keep the memory of a picture. */
static void test_memory_goes_back(void **state) {
    (void)state;
    struct engine_session *usual = lane;
    struct engine *small;
    struct wire_ready ready;
    struct error err = {0};
    struct cuda cuda;
    size_t available, all;
    setenv("FAKE_CUDA_MEMORY", "4194304", 1);
    assert_int_equal(engine_open(&small, &options, &ready, &err), ST_OK);
    assert_int_equal(cuda_open(&cuda, options.library, &err), ST_OK);
    assert_int_equal(engine_session_create(&lane, small, &err), ST_OK);
    engine_session_destroy(usual); /* memory that it holds counts, too */
    struct wire_run run = good_run();
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(run_on(&run, dup(slot)), ST_OK);
        assert_int_equal(cuda.cuMemGetInfo(&available, &all), CUDA_SUCCESS);
        assert_int_equal(available, all);
    }
    engine_session_destroy(lane);
    engine_close(small);
    unsetenv("FAKE_CUDA_MEMORY");
    assert_int_equal(engine_session_create(&lane, engine, &err), ST_OK);
    assert_int_equal(run_on(&run, dup(slot)), ST_OK);
    cuda.cuMemGetInfo(&available, &all);
    assert_true(available < all); /* kept for the next one */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_mask_offsets),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_slot_shorter_than_claimed),
        cmocka_unit_test(test_slot_that_cannot_be_mapped),
        cmocka_unit_test(test_a_slot_that_grows),
        cmocka_unit_test(test_memory_goes_back),
        cmocka_unit_test(test_good),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
