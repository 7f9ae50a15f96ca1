/* SPDX-License-Identifier: MIT
 * The encoder of JPEGs on the GPU, with the fake driver: its bytes equal those of codec_encode. */
#include "gpu/jpeg/encode.h"

#include <math.h>

#include "core/sanitizers.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 600; /* kernels on the host, fiber by fiber */

enum { ROOM = 1 << 22 };

/* --- pictures ---------------------------------------------------------------------------------- */
enum content { NOISE, SMOOTH, FLAT, MIXED, EXTREMES, CHESS, CONTENTS };

static const struct image_shape models[] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 2},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 2},
};

/* EXTREMES: blocks all black or all white, or one of the transform's own patterns at full swing. */
static uint8_t sample(enum content content, uint32_t x, uint32_t y, unsigned plane) {
    static const uint8_t signs[] = {0x00, 0xf0, 0xc3, 0x99, 0x66, 0xb5, 0xad, 0xaa};
    uint32_t block = (x / 8 * 7 + y / 8 * 13 + plane) * 2654435761u >> 16;
    uint32_t pattern =
        (uint32_t)signs[block % 8] >> (x % 8) ^ (uint32_t)signs[block / 8 % 8] >> (y % 8) ^ block >> 6;
    switch (content) {
    case NOISE:
        return (uint8_t)below(256);
    case SMOOTH:
        return (uint8_t)(40 + (x * (2 + plane) / 3 + y) % 160);
    case FLAT:
        return (uint8_t)(200 + 20 * plane);
    case EXTREMES:
        return pattern & 1 ? 255 : 0;
    case CHESS:
        return (x / 8 + y / 8) % 2 ? 255 : 0;
    default:
        return sample((x / 48 + y / 32) % 3, x, y, plane);
    }
}

/* The padding beside the pixels has no effect. */
static uint8_t *paint(struct image *image, const struct image_shape *shape, enum content content) {
    size_t size = image_layout(image, shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    memset(memory, 0x5a, size);
    image_place(image, memory);
    for (unsigned p = 0; p < image->plane_count; p++) {
        for (uint32_t y = 0; y < image->plane[p].height; y++) {
            for (uint32_t x = 0; x < image->plane[p].width; x++) {
                plane_row(&image->plane[p], y)[x] = sample(content, x, y, p);
            }
        }
    }
    return memory;
}

/* --- both encoders ----------------------------------------------------------------------------- */
static CUresult CUDAAPI not_known(CUdeviceptr *data, void *memory, unsigned flags) {
    (void)memory;
    (void)flags;
    *data = 1;
    return CUDA_ERROR_INVALID_VALUE;
}

/* Each second time to memory that the driver does not know. */
static size_t by_gpu(const struct image *image, const uint8_t *memory, size_t room, uint8_t quality,
                     bool optimal, uint8_t *output) {
    static unsigned turn;
    const __typeof__(cuda.cuMemHostGetDevicePointer) known = cuda.cuMemHostGetDevicePointer;
    struct image_shape shape = image_shape(image);
    struct image placed;
    struct error err = {0};
    CUdeviceptr data = 0;
    size_t bytes = image_layout(&placed, &shape);
    assert_int_equal(cuda.cuMemAlloc(&data, bytes), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyHtoDAsync(data, memory, bytes, lane.stream.handle), CUDA_SUCCESS);
    image_place(&placed, (uint8_t *)(uintptr_t)data);
    const struct gpu_encode_job job = {
        .image = &placed, .room = room, .quality = quality, .optimal = optimal};
    cuda.cuMemHostGetDevicePointer = ++turn % 2 ? known : not_known;
    assert_int_equal(gpu_encode_reserve(&lane.encode, &lane.stream, &placed, output, room, &err), ST_OK);
    cuda.cuMemHostGetDevicePointer = known;
    assert_int_equal(gpu_encode_is_direct(&lane.encode), turn % 2);
    assert_int_equal(gpu_encode_begin(&lane.encode, &lane.stream, &job, &err), ST_OK);
    assert_int_equal(cuda.cuStreamSynchronize(lane.stream.handle), CUDA_SUCCESS);
    size_t size;
    enum status status = gpu_encode_end(&lane.encode, room, &size, &err);
    assert_int_equal(status, size <= room ? ST_OK : ST_UNSUPPORTED);
    if (size <= room && !gpu_encode_is_direct(&lane.encode)) {
        assert_int_equal(gpu_encode_fetch(&lane.encode, &lane.stream, output, size, &err), ST_OK);
        assert_int_equal(cuda.cuStreamSynchronize(lane.stream.handle), CUDA_SUCCESS);
    }
    assert_int_equal(cuda.cuMemFree(data), CUDA_SUCCESS);
    return size;
}

static struct buf by_cpu(const struct image *image, uint8_t quality, bool optimal) {
    const struct encode_options options = {.quality = quality, .optimal = optimal};
    struct error err = {0};
    struct buf file;
    buf_init(&file, ROOM);
    assert_int_equal(codec_encode(CODEC_JPEG, image, &options, NULL, &file, &err), ST_OK);
    return file;
}

static void compare_tables(struct image_shape shape, uint32_t width, uint32_t height, enum content content,
                           uint8_t quality, bool optimal) {
    struct image image;
    shape.width = width;
    shape.height = height;
    uint8_t *memory = paint(&image, &shape, content), *output = malloc(ROOM);
    size_t size = by_gpu(&image, memory, ROOM, quality, optimal, output);
    struct buf file = by_cpu(&image, quality, optimal);
    if (size != file.size || memcmp(output, file.data, size) != 0) {
        size_t at = 0;
        while (at < size && at < file.size && output[at] == file.data[at]) {
            at++;
        }
        fail_msg("chroma %u %u (model %d), %ux%u, content %d, quality %u: %zu bytes, by the CPU %zu; byte "
                 "%zu differs",
                 shape.chroma_shift_x, shape.chroma_shift_y, shape.model, width, height, content, quality,
                 size, file.size, at);
    }
    buf_finish(&file);
    free(memory);
    free(output);
}

static void compare(struct image_shape shape, uint32_t width, uint32_t height, enum content content,
                    uint8_t quality) {
    compare_tables(shape, width, height, content, quality, false);
    compare_tables(shape, width, height, content, quality, true);
}

static void test_sizes(void **state) {
    (void)state;
    for (size_t m = 0; m < COUNT(models); m++) {
        for (uint32_t height = 1; height <= 35; height += height < 18 && !SANITIZED ? 1 : 5) {
            for (uint32_t width = 1; width <= 35; width += width < 18 ? 3 : 7) {
                compare(models[m], width, height, (width + height) % CONTENTS, 85);
            }
        }
    }
}

static void test_qualities(void **state) {
    (void)state;
    for (uint8_t quality = 1; quality <= 100; quality += SANITIZED ? 9 : 1) {
        for (enum content content = 0; content < CONTENTS; content++) {
            compare(models[quality % COUNT(models)], 61, 45, content, quality);
        }
    }
}

static void test_contents(void **state) {
    (void)state;
    static const uint8_t qualities[] = {1, 85, 100};
    for (size_t m = 0; m < 5; m++) {
        for (size_t q = 0; q < COUNT(qualities); q++) {
            for (enum content content = 0; content < CONTENTS; content++) {
                compare(models[m], 203, 131, content, qualities[q]);
            }
        }
    }
}

/* A picture so large that the sums over ranges and chunks take several rounds. */
static void test_large(void **state) {
    (void)state;
    for (enum content content = 0; content < CONTENTS; content += SANITIZED ? 3 : 1) {
        compare(models[1 + content % 4], 1280, 721, content, 90);
    }
    compare(models[0], 3000, 1500, SMOOTH, 85);
    compare(models[1], 16, 65500, SMOOTH, 85);
    compare(models[4], 4096, 3, NOISE, 100);
}

static void check_room(bool optimal) {
    struct image_shape shape = models[1];
    struct image image;
    shape.width = 150;
    shape.height = 90;
    uint8_t *memory = paint(&image, &shape, NOISE), *output = malloc(ROOM);
    size_t size = by_gpu(&image, memory, ROOM, 95, optimal, output);
    for (size_t room = 1; room < size + 40; room += room + 70 < size ? 61 : 1) {
        size_t found = by_gpu(&image, memory, room, 95, optimal, output);
        if (room >= size) {
            assert_int_equal(found, size);
        } else {
            assert_true(found > room && found <= size);
        }
    }
    struct buf file = by_cpu(&image, 95, optimal);
    assert_int_equal(file.size, size);
    assert_memory_equal(output, file.data, size);
    buf_finish(&file);
    free(memory);
    free(output);
}

static void test_room(void **state) {
    (void)state;
    check_room(false);
    check_room(true);
}

/* What kernels do in place of a division, for all values and divisors. */
static void test_reciprocals_are_exact(void **state) {
    (void)state;
    const float place = 12582912; /* 1.5 * 2^23 */
    for (int32_t divisor = 8; divisor <= 8 * 255; divisor += 8) {
        const float inverse = nextafterf(1 / (float)divisor, 1);
        for (int32_t value = INT16_MIN; value <= INT16_MAX; value++) {
            int32_t size = (abs(value) + divisor / 2) / divisor, wanted = value < 0 ? -size : size;
            float sum = fmaf((float)value, inverse, place);
            uint32_t bits;
            memcpy(&bits, &sum, sizeof bits);
            if ((int16_t)(uint16_t)bits != wanted) {
                fail_msg("%d / %d is %d, not %d", value, divisor, (int16_t)(uint16_t)bits, wanted);
            }
        }
    }
}

static struct {
    struct cuda driver;
    unsigned urgent, plain; /* launches */
} seen;

static CUresult CUDAAPI see_urgent(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                   void **extra) {
    seen.urgent += config->numAttrs == 1 && config->attrs[0].id == CU_LAUNCH_ATTRIBUTE_PRIORITY &&
                   config->attrs[0].value.priority == device.urgent;
    return seen.driver.cuLaunchKernelEx(config, function, parameters, extra);
}

static CUresult CUDAAPI see_plain(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                  CUstream stream, void **parameters, void **extra) {
    seen.plain++;
    return seen.driver.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                                      stream, parameters, extra);
}

/* Kernels of few blocks go first, where the driver has priorities, and the file is the same without. */
static void test_priorities(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1,
                                      .width = 70,
                                      .height = 50};
    static uint8_t first[ROOM], second[ROOM];
    struct image image;
    uint8_t *memory = paint(&image, &shape, MIXED);
    const int urgent = device.urgent;
    seen.driver = cuda;
    cuda.cuLaunchKernelEx = see_urgent;
    cuda.cuLaunchKernel = see_plain;
    assert_true(urgent < 0);
    seen.urgent = seen.plain = 0;
    size_t size = by_gpu(&image, memory, ROOM, 85, true, first);
    assert_int_equal(seen.urgent, 4);
    assert_int_equal(seen.plain, 2);
    device.urgent = 0;
    assert_int_equal(by_gpu(&image, memory, ROOM, 85, true, second), size);
    assert_int_equal(seen.plain, 8);
    assert_memory_equal(first, second, size);
    device.urgent = urgent;
    cuda = seen.driver;
    free(memory);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        struct image_shape shape;
        const char *text;
    } cases[] = {
        {{.model = PIXEL_GRAY, .depth = 8, .width = 65501, .height = 8},
         "picture is 65501 x 8 pixels; a JPEG has at most 65500 a side"},
        {{.model = PIXEL_GRAY, .depth = 8, .width = 8, .height = 65501},
         "picture is 8 x 65501 pixels; a JPEG has at most 65500 a side"},
        {{.model = PIXEL_YCBCR,
          .depth = 8,
          .chroma_shift_x = 2,
          .chroma_shift_y = 2,
          .width = 8,
          .height = 8},
         "a JPEG has at most 10 blocks in an MCU, this one would have 18"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct image layout;
        struct error err = {0};
        image_layout(&layout, &cases[i].shape);
        assert_int_equal(gpu_encode_reserve(&lane.encode, &lane.stream, &layout, NULL, ROOM, &err),
                         ST_UNSUPPORTED);
        assert_string_equal(err.text, cases[i].text);
    }
}

/* --- set-up ------------------------------------------------------------------------------------ */
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_qualities),
        cmocka_unit_test(test_contents),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_room),       cmocka_unit_test(test_reciprocals_are_exact),
        cmocka_unit_test(test_priorities), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
