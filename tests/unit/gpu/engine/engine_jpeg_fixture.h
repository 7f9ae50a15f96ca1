/* SPDX-License-Identifier: MIT
 * JPEG to JPEG by the engine in this process, on the fake driver. It has two GPUs; one does no JPEGs. */
#ifndef BLURD_TESTS_ENGINE_JPEG_FIXTURE_H
#define BLURD_TESTS_ENGINE_JPEG_FIXTURE_H

#include "gpu/engine/engine.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/log.h"
#include "core/slot_file.h"
#include "cpu/cpu.h"
#include "cpu/orient.h"
#include "filters/filter.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

enum { SLOT_SIZE = 1 << 18, PATTERN = 0x5a, WIDTH = 48, HEIGHT = 32, SOURCE = 1, TARGET = SLOT_SIZE / 2 + 3 };
enum { ROOM = 1 << 15, PICTURES = 3 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct engine *engine;
static struct engine_session *lane;
static struct backend *cpu; /* computes the expected results */
static struct lane *cpu_lane;
static int slot; /* the memfd */
static uint8_t *memory;
static struct buf file;
static uint64_t file_at = SOURCE; /* where it lies in the slot */

static const struct codec_limits limits = {
    .max_pixels = 1 << 20, .max_side = 1 << 12, .max_scans = 10, .max_memory = 1 << 26};
static const struct image_shape shape = {.model = PIXEL_YCBCR,
                                         .depth = 8,
                                         .chroma_shift_x = 1,
                                         .chroma_shift_y = 1,
                                         .width = WIDTH,
                                         .height = HEIGHT};

static char driver[PATH_MAX + 40];
static const struct engine_options options = {
    .gpus = "all", .library = driver, .jpeg = true, .pictures = PICTURES, .program.cache_folder = ""};

static inline int open_engine(void **state) {
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

static inline int close_engine(void **state) {
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

static inline struct chain blur(const struct image_shape *upright) {
    struct chain chain = {0};
    const struct blur_arguments arguments = {.sigma = 1.5};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, upright, NULL), ST_OK);
    return chain;
}

static inline struct wire_run good_run(void) {
    return (struct wire_run){.slot_serial = 1,
                             .slot_span = SLOT_SIZE,
                             .source = SOURCE,
                             .target = TARGET,
                             .mask = WIRE_NO_MASK,
                             .shape = shape,
                             .jpeg = {.size = file.size, .room = ROOM, .orientation = 1, .quality = 85},
                             .chain = blur(&shape)};
}

static inline void fill_slot(void) {
    memset(memory, PATTERN, SLOT_SIZE);
    memcpy(memory + file_at, file.data, file.size);
}

/* Only that piece has been written to. */
static inline void assert_written(uint64_t at, uint64_t size) {
    for (uint64_t i = 0; i < SLOT_SIZE; i++) {
        bool input = i >= file_at && i < file_at + file.size;
        if (i < at || i >= at + size) {
            assert_int_equal(memory[i], input ? file.data[i - file_at] : PATTERN);
        }
    }
}

static inline struct wire_done run_on(const struct wire_run *run) {
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

static inline void assert_refused(const struct wire_run *run) {
    assert_int_equal(run_on(run).error.status, ST_INTERNAL);
    assert_written(0, 0);
}

static inline void lay_out(struct image *image, const struct image_shape *of) {
    uint8_t *pixels = aligned_alloc(IMAGE_ALIGNMENT, image_layout(image, of));
    assert_non_null(pixels);
    image_place(image, pixels);
}

/* The file that the codecs and the filters of the CPU make. */
static inline struct buf by_cpu(const struct wire_run *run, const struct image_shape *result) {
    const struct encode_options how = {.quality = run->jpeg.quality};
    const struct image_shape upright = orient_shape(&run->shape, run->jpeg.orientation);
    struct image stored, source, target;
    struct picture picture;
    struct buf made;
    lay_out(&stored, &run->shape);
    lay_out(&source, &upright);
    lay_out(&target, result);
    const struct chain_run work = {.chain = &run->chain, .source = &source, .target = &target};
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

static inline void assert_done(const struct wire_run *run, const struct image_shape *result) {
    struct wire_done done = run_on(run);
    struct buf expected = by_cpu(run, result);
    assert_int_equal(done.error.status, ST_OK);
    assert_int_equal(done.timing.unit, 1); /* the one that does JPEGs */
    assert_int_equal(done.size, expected.size);
    assert_memory_equal(memory + run->target, expected.data, expected.size);
    assert_written(run->target, done.size);
    buf_finish(&expected);
}

#endif
