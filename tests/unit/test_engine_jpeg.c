/* SPDX-License-Identifier: MIT
 * JPEG to JPEG by the engine in this process, on the fake driver with two GPUs, of which one does no JPEGs:
 * what a front that is going wrong asks for is refused before anything of it is used. */
#include "gpu/engine/engine.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/log.h"
#include "core/slot.h"
#include "cpu/cpu.h"
#include "cpu/orient.h"
#include "filters/filter.h"

#include "tests/unit/jpeg_fixture.h"

enum { SLOT_SIZE = 1 << 18, PATTERN = 0x5a, WIDTH = 48, HEIGHT = 32, SOURCE = 1, TARGET = SLOT_SIZE / 2 + 3 };
enum { ROOM = 1 << 15, PICTURES = 3, THREADS = 5, ROUNDS = 6 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct engine *engine;
static struct engine_session *lane;
static struct backend *cpu; /* what the results must be like */
static struct lane *cpu_lane;
static int slot; /* the memfd */
static uint8_t *memory;
static struct buf file;

static const struct codec_limits limits = {
    .max_pixels = 1 << 20, .max_side = 1 << 12, .max_scans = 10, .max_memory = 1 << 26};
static const struct image_shape shape = {.model = PIXEL_YCBCR,
                                         .depth = 8,
                                         .chroma_shift_x = 1,
                                         .chroma_shift_y = 1,
                                         .width = WIDTH,
                                         .height = HEIGHT};

/* --- engine, slot, requests ------------------------------------------------------------------ */
static char driver[PATH_MAX + 40];
static const struct engine_options options = {
    .gpus = "all", .library = driver, .jpeg = true, .pictures = PICTURES, .program.cache_folder = ""};

static int open_engine(void **state) {
    (void)state;
    char program[PATH_MAX] = "";
    struct wire_ready ready;
    struct error err = {0};
    const struct jpeg_recipe recipe = {.luma = {2, 2}, .width = WIDTH, .height = HEIGHT};
    log_init(LOG_ERROR, LOG_TEXT);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("FAKE_CUDA_FAULT", "cuMemHostAlloc:1:2", 1);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    const char *folder = dirname(program);
    snprintf(driver, sizeof driver, "%s/../fake_cuda/libfakecuda.so", folder);
    file = recipe_file(&recipe);
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
    if (cpu_backend_open("auto", &cpu, &err) != ST_OK || lane_create(cpu, &cpu_lane, &err) != ST_OK) {
        return -1;
    }
    return ready.device_count == 2 && ready.pictures == (PICTURES + 1) / 2 ? 0 : -1; /* the share of one */
}

static int close_engine(void **state) {
    (void)state;
    lane_destroy(cpu_lane);
    backend_close(cpu);
    engine_session_destroy(lane);
    engine_close(engine);
    munmap(memory, SLOT_SIZE);
    close(slot);
    buf_finish(&file);
    return 0;
}

static struct chain blur(const struct image_shape *upright) {
    struct chain chain = {0};
    const struct blur_arguments arguments = {.sigma = 1.5};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, upright, NULL), ST_OK);
    return chain;
}

static struct wire_run good_run(void) {
    return (struct wire_run){.slot_serial = 1,
                             .slot_span = SLOT_SIZE,
                             .source = SOURCE,
                             .target = TARGET,
                             .mask = WIRE_NO_MASK,
                             .shape = shape,
                             .jpeg = {file.size, ROOM, 1, 85},
                             .chain = blur(&shape)};
}

static void fill_slot(void) {
    memset(memory, PATTERN, SLOT_SIZE);
    memcpy(memory + SOURCE, file.data, file.size);
}

/* Nothing but that piece has been written to. */
static void assert_written(uint64_t at, uint64_t size) {
    for (uint64_t i = 0; i < SLOT_SIZE; i++) {
        bool input = i >= SOURCE && i < SOURCE + file.size;
        if (i < at || i >= at + size) {
            assert_int_equal(memory[i], input ? file.data[i - SOURCE] : PATTERN);
        }
    }
}

static struct wire_done run_on(const struct wire_run *run) {
    struct wire_done done;
    int fd = dup(slot);
    fill_slot();
    assert_true(engine_run(lane, run, fd, &done)); /* the engine itself is sound */
    assert_int_equal(fcntl(fd, F_GETFD), -1);      /* it took the descriptor over */
    assert_true(done.error.status == ST_OK || done.error.text[0]);
    assert_true(done.error.status == ST_OK || done.size == 0);
    assert_true(done.size <= run->jpeg.room);
    return done;
}

static void assert_refused(const struct wire_run *run) {
    assert_int_equal(run_on(run).error.status, ST_INTERNAL);
    assert_written(0, 0);
}

static void lay_out(struct image *image, const struct image_shape *of) {
    uint8_t *pixels = aligned_alloc(IMAGE_ALIGNMENT, image_layout(image, of));
    assert_non_null(pixels);
    image_place(image, pixels);
}

/* The file that the codecs and the filters of the CPU make. */
static struct buf by_cpu(const struct wire_run *run, const struct image_shape *result) {
    const struct encode_options how = {.quality = run->jpeg.quality};
    const struct image_shape upright = orient_shape(&run->shape, run->jpeg.orientation);
    struct image stored, source, target;
    struct picture picture;
    struct buf made;
    lay_out(&stored, &run->shape);
    lay_out(&source, &upright);
    lay_out(&target, result);
    const struct run work = {.chain = &run->chain, .source = &source, .target = &target};
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, NULL), ST_OK);
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &stored, NULL), ST_OK);
    orient_image(&stored, run->jpeg.orientation, &source, 0, NULL);
    assert_int_equal(lane_run(cpu_lane, &work, NULL, NULL), ST_OK);
    buf_init(&made, ROOM);
    assert_int_equal(codec_encode(CODEC_JPEG, &target, &how, NULL, &made, NULL), ST_OK);
    free(stored.plane[0].data - stored.plane[0].offset);
    free(source.plane[0].data - source.plane[0].offset);
    free(target.plane[0].data - target.plane[0].offset);
    return made;
}

static void assert_done(const struct wire_run *run, const struct image_shape *result) {
    struct wire_done done = run_on(run);
    struct buf expected = by_cpu(run, result);
    assert_int_equal(done.error.status, ST_OK);
    assert_int_equal(done.timing.unit, 1); /* the one that does JPEGs */
    assert_int_equal(done.size, expected.size);
    assert_memory_equal(memory + run->target, expected.data, expected.size);
    assert_written(run->target, done.size);
    buf_finish(&expected);
}

/* --- tests ----------------------------------------------------------------------------------- */
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

static void test_side_by_side(void **state) {
    (void)state;
    struct wire_run run = good_run();
    run.target = SOURCE + file.size;
    assert_done(&run, &shape);
    run.target = SLOT_SIZE - ROOM;
    assert_done(&run, &shape);
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
        assert_refused(&run);
    }
    struct wire_run run = good_run();
    run.chain.step[0].filter = FILTER_COUNT;
    assert_refused(&run);
    run = good_run();
    run.chain.step[0].blur.axis[0].radius = BLUR_RADIUS_MAX + 1;
    assert_refused(&run);
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

/* Of the result. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_wanted),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_a_chain_without_a_picture),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_slot_shorter_than_claimed),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
