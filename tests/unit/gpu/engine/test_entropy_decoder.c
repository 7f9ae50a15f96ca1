/* SPDX-License-Identifier: MIT
 * The reader of scans, with the fake driver: many files at the same time, memory, and calls that fail. */
#include "gpu/engine/entropy_decoder.h"

#include <pthread.h>
#include <stdatomic.h>

#include "codecs/jpeg/jpeg_coefficients.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/core/coefficients_fixture.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* kernels on the host, fiber by fiber */

enum { READINGS = 8, THREADS = 24, ROUNDS = 6, SHAPES = 4 };
enum { EXECUTION_FAILED = 6, OUT_OF_MEMORY = 2 };

static struct entropy_decoder *reader;
static char fault_path[PATH_MAX];

/* A progressive file, and the coefficients that the CPU reads. */
static struct sample {
    struct image_shape shape;
    struct buf file;
    struct coefficients_layout layout;
    uint8_t *expected;
} samples[SHAPES];

static void make_sample(struct sample *sample, unsigned number) {
    static const uint8_t factors[SHAPES][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 2}};
    const struct codec_limits limits = {.max_scans = 20};
    struct error err = {0};
    struct jpeg_recipe recipe = {.luma = {factors[number][0], factors[number][1]},
                                 .progressive = true,
                                 .width = 61 + 16 * number,
                                 .height = 45};
    sample->shape = (struct image_shape){.model = PIXEL_YCBCR,
                                         .depth = 8,
                                         .chroma_shift_x = factors[number][0] / 2,
                                         .chroma_shift_y = factors[number][1] / 2,
                                         .width = recipe.width,
                                         .height = recipe.height};
    sample->file = recipe_file(&recipe);
    assert_true(coefficients_lay_out(&sample->shape, &sample->layout));
    size_t room = bytes_align_up(jpeg_coefficients_bytes(&sample->layout), IMAGE_ALIGNMENT);
    sample->expected = aligned_alloc(IMAGE_ALIGNMENT, room);
    assert_int_equal(jpeg_coefficients_read(buf_bytes(&sample->file), &limits, &sample->shape, false,
                                            sample->expected, &err),
                     ST_OK);
}

static int open_all(void **state) {
    (void)state;
    snprintf(fault_path, sizeof fault_path, "/tmp/blurd-test-scan-reader-%d", (int)getpid());
    setenv("FAKE_CUDA_FAULT_FILE", fault_path, 1);
    for (unsigned i = 0; i < SHAPES; i++) {
        make_sample(&samples[i], i);
    }
    return fixture_open_device();
}

static int close_all(void **state) {
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        buf_finish(&samples[i].file);
        free(samples[i].expected);
    }
    gpu_device_close(&device);
    unlink(fault_path);
    return 0;
}

static int open_reader(void **state) {
    (void)state;
    struct error err = {0};
    device.detector = (struct hang_detector){0};
    return entropy_decoder_create(&reader, &device, READINGS, &err) == ST_OK ? 0 : -1;
}

static int close_reader(void **state) {
    (void)state;
    size_t kept = atomic_load(&device.memory_kept);
    entropy_decoder_destroy(reader);
    reader = NULL;
    return atomic_load(&device.memory_kept) <= kept && atomic_load(&device.memory_kept) == 0 ? 0 : -1;
}

/* The values of the blocks that hold samples; device memory is this program's. */
static bool is_right(const struct sample *sample, const struct entropy_decode *reading) {
    const struct progressive_source *source = &reading->source;
    const struct coefficients_layout *layout = &source->layout;
    const int16_t *values = (const int16_t *)(uintptr_t)reading->memory.data;
    const struct jpeg_coefficients expected = jpeg_coefficients_in(sample->expected, layout);
    return memcmp(&source->head, expected.head, sizeof source->head) == 0 &&
           coefficients_are_same(layout, &sample->shape, values, expected.values);
}

static enum status read_sample(const struct sample *sample, struct error *err) {
    struct entropy_decode *reading = NULL;
    *err = (struct error){0};
    enum status status = entropy_decoder_run(reader, buf_bytes(&sample->file), &sample->shape, &reading, err);
    if (status == ST_OK) {
        assert_true(is_right(sample, reading));
        entropy_decoder_give_back(reader, reading);
    } else {
        assert_true(err->text[0]);
    }
    return status;
}

/* --- many files ---------------------------------------------------------------------------------- */
static _Atomic unsigned wrong;

static void *read_many(void *argument) {
    unsigned first = *(unsigned *)argument;
    struct error err = {0};
    if (gpu_device_enter(&device, &err) != ST_OK) {
        atomic_fetch_add(&wrong, 1);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct sample *sample = &samples[(first + i) % SHAPES];
        struct entropy_decode *reading = NULL;
        if (entropy_decoder_run(reader, buf_bytes(&sample->file), &sample->shape, &reading, &err) != ST_OK ||
            !is_right(sample, reading)) {
            atomic_fetch_add(&wrong, 1);
        }
        if (reading) {
            entropy_decoder_give_back(reader, reading);
        }
    }
    return NULL;
}

/* More threads than readings, and more files than one launch takes. */
static void test_many(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    wrong = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, read_many, &number[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    assert_int_equal(wrong, 0);
}

/* --- files that it does not take ------------------------------------------------------------------- */
static void test_refusals(void **state) {
    (void)state;
    struct error err;
    struct sample other = samples[0];
    const struct jpeg_recipe baseline = {.luma = {2, 2}, .width = 61, .height = 45};
    other.file = recipe_file(&baseline);
    assert_int_equal(read_sample(&other, &err), ST_UNSUPPORTED);
    buf_finish(&other.file);
    other.file = samples[1].file; /* of another shape */
    assert_int_equal(read_sample(&other, &err), ST_UNSUPPORTED);
    assert_int_equal(read_sample(&samples[0], &err), ST_OK);
}

/* The kernel finds the damage; the next file on the same reading is read. */
static void test_damage(void **state) {
    (void)state;
    unsigned refused = 0;
    struct error err;
    for (size_t at = samples[0].file.size / 4; at + 2 < samples[0].file.size; at += 97) {
        struct sample damaged = samples[0];
        damaged.file.data = malloc(samples[0].file.size);
        assert_non_null(damaged.file.data);
        memcpy(damaged.file.data, samples[0].file.data, samples[0].file.size);
        damaged.file.data[at] ^= 0x24;
        struct entropy_decode *reading = NULL;
        err = (struct error){0};
        enum status status =
            entropy_decoder_run(reader, buf_bytes(&damaged.file), &damaged.shape, &reading, &err);
        assert_true(status == ST_OK || status == ST_UNSUPPORTED);
        refused += status != ST_OK;
        if (reading) {
            entropy_decoder_give_back(reader, reading);
        }
        free(damaged.file.data);
        assert_int_equal(read_sample(&samples[0], &err), ST_OK);
    }
    assert_true(refused > 0);
}

/* Small files of pictures that are too large: nothing is taken for them. */
static void test_too_large(void **state) {
    (void)state;
    enum { SIDE = 4900 };
    struct error err;
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = SIDE, .height = SIDE};
    struct image image;
    struct sample large = {.shape = shape};
    const struct encode_options options = {.quality = 50, .progressive = true};
    uint8_t *pixels = calloc(1, image_layout(&image, &shape));
    assert_non_null(pixels);
    image_place(&image, pixels);
    buf_init(&large.file, 1 << 24);
    assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &large.file, &err), ST_OK);
    large.shape.model = PIXEL_YCBCR;
    size_t before = atomic_load(&device.memory_kept);
    enum status status = read_sample(&large, &err);
    if (status == ST_UNSUPPORTED && strstr(err.text, "shape")) { /* the encoder has reduced chroma */
        large.shape.chroma_shift_x = large.shape.chroma_shift_y = 1;
        status = read_sample(&large, &err);
    }
    assert_int_equal(status, ST_UNSUPPORTED);
    assert_int_equal(atomic_load(&device.memory_kept), before);
    buf_finish(&large.file);
    free(pixels);
}

/* --- memory ------------------------------------------------------------------------------------------ */
static void test_memory(void **state) {
    (void)state;
    struct error err;
    size_t share = device.memory_share;
    device.memory_share = 1 << 10;
    assert_int_equal(read_sample(&samples[0], &err), ST_BUSY);
    device.memory_share = share;
    assert_int_equal(read_sample(&samples[0], &err), ST_OK);
    assert_true(atomic_load(&device.memory_kept) > 0);
    struct entropy_decode *reading = NULL;
    assert_int_equal(
        entropy_decoder_run(reader, buf_bytes(&samples[1].file), &samples[1].shape, &reading, &err), ST_OK);
    device.memory_share = 1 << 10;
    entropy_decoder_give_back(reader, reading);
    assert_int_equal(atomic_load(&device.memory_kept), 0); /* the one reading that was used */
    device.memory_share = share;
    assert_int_equal(read_sample(&samples[2], &err), ST_OK);
}

/* --- calls that fail ----------------------------------------------------------------------------------- */
/* The next such call gives that result, once. */
static void arm(const char *call, int result) {
    FILE *file = fopen(fault_path, "w");
    assert_non_null(file);
    fprintf(file, "%s:1:%d", call, result);
    fclose(file);
}

static void test_each_call(void **state) {
    static const char *const calls[] = {"cuStreamCreate",  "cuMemHostAlloc",  "cuMemHostGetDevicePointer",
                                        "cuMemAllocAsync", "cuMemsetD8Async", "cuLaunchKernel"};
    struct error err;
    for (unsigned i = 0; i < COUNT(calls); i++) {
        for (unsigned busy = 0; busy < 2; busy++) {
            size_t before, after, total;
            close_reader(state);
            gpu_buffer_empty_pool(&device);
            cuda.cuMemGetInfo(&before, &total);
            assert_int_equal(open_reader(state), 0);
            arm(calls[i], busy ? OUT_OF_MEMORY : EXECUTION_FAILED);
            enum status status = read_sample(&samples[0], &err);
            if (status != (busy ? ST_BUSY : ST_DEVICE) || access(fault_path, F_OK) == 0) {
                fail_msg("%s, %u: %s, %s", calls[i], busy, status_name(status), err.text);
            }
            /* After a failure no reading is used again: the engine ends. */
            assert_int_equal(read_sample(&samples[0], &err), busy ? ST_OK : ST_DEVICE);
            close_reader(state);
            gpu_buffer_empty_pool(&device);
            cuda.cuMemGetInfo(&after, &total);
            assert_int_equal(before, after);
            assert_int_equal(open_reader(state), 0);
        }
    }
}

/* A kernel that never writes a verdict: the driver knows why, in the end. */
static void test_a_lost_device(void **state) {
    (void)state;
    struct error err;
    __typeof__(cuda.cuStreamQuery) real = cuda.cuStreamQuery;
    setenv("FAKE_CUDA_IDLE", "read_scans", 1);
    asked = 0;
    cuda.cuStreamQuery = knows_later;
    assert_int_equal(read_sample(&samples[0], &err), ST_DEVICE);
    assert_true(asked > ASKED_IN_VAIN);
    cuda.cuStreamQuery = real;
    unsetenv("FAKE_CUDA_IDLE");
    assert_int_equal(read_sample(&samples[0], &err), ST_DEVICE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_refusals, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_damage, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_too_large, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_memory, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_each_call, open_reader, close_reader),
        cmocka_unit_test_setup_teardown(test_a_lost_device, open_reader, close_reader),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
