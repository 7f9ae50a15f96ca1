/* SPDX-License-Identifier: MIT
 * The encoder of JPEGs on the GPU, with the fake driver: its bytes equal those of codec_encode. */
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/encode_head.h"
#include "gpu/stream/launch.h"

#include "core/sanitizers.h"
#include "tests/unit/lane_fixture.h"

enum { ROOM = 1 << 22, HANGS_AFTER_S = 600 };

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

/* --- codes for counts ---------------------------------------------------------------------------- */
/* The kernel that makes the tables, for counts that no picture has given. Returns whether it takes them. */
static bool make_tables(const struct encode_counts *counts, unsigned planes, struct encode_tables *tables) {
    static struct encode_state state;
    static struct encode_outcome outcome;
    static struct encode_counts given, none;
    struct error err = {0};
    struct encode_pass pass = {.tables = (uint64_t)(uintptr_t)tables,
                               .counts = (uint64_t)(uintptr_t)&given,
                               .state = (uint64_t)(uintptr_t)&state,
                               .outcome = (uint64_t)(uintptr_t)&outcome,
                               .components = planes};
    const struct gpu_blocks blocks = {1, KERNEL_THREADS_Y, sizeof(struct encode_symbols_shared)};
    memset(tables, 0x5a, sizeof *tables);
    state = (struct encode_state){0};
    outcome = (struct encode_outcome){0};
    given = *counts;
    assert_int_equal(gpu_launch(&lane.stream, KERNEL_encode_symbols, &pass, blocks, &err), ST_OK);
    assert_int_equal(cuda.cuStreamSynchronize(lane.stream.handle), CUDA_SUCCESS);
    for (unsigned table = 0; table < (planes > 1 ? 4 : 2); table++) {
        assert_memory_equal(given.of[table], none.of[table], sizeof none.of[table]);
    }
    return outcome.refused == 0;
}

static void compare_codes(const struct encode_counts *counts, unsigned planes) {
    static struct encode_tables tables;
    uint8_t segments[JPEG_CODE_TABLES * JPEG_HEAD_CODES], *to = segments;
    assert_true(make_tables(counts, planes, &tables));
    for (unsigned table = 0; table < (planes > 1 ? 4 : 2); table++) {
        struct jpeg_codes codes;
        uint32_t code[JPEG_SYMBOLS];
        bool dc = table % 2 == 0;
        uint32_t size = dc ? KERNEL_ENCODE_SIZES : JPEG_SYMBOLS;
        jpeg_codes_optimal(table, counts->of[table], &codes);
        jpeg_codes_number(&codes, code, size);
        assert_memory_equal(dc ? tables.dc[table / 2] : tables.ac[table / 2], code, size * sizeof *code);
        to = jpeg_head_put_codes(to, &codes);
        if (!dc) {
            assert_int_equal(tables.end[table / 2], to - segments);
        }
    }
    assert_memory_equal(tables.segments, segments, (size_t)(to - segments));
}

static bool is_known(unsigned table, unsigned symbol) {
    unsigned size = symbol % 16;
    return table % 2 == 0 ? symbol < 12 : (size >= 1 && size <= 10) || symbol == 0 || symbol == 0xf0;
}

/* The kinds have many symbols of the same count, any counts, and counts with codes as long as can be. */
static uint64_t count_of(unsigned kind, unsigned number) {
    uint64_t fibonacci[2] = {1, 1};
    switch (kind % 4) {
    case 0:
        return 1 + below(3);
    case 1:
        return 1 + below((size_t)1 << below(30));
    case 2:
        for (unsigned i = 0; i < number % 50; i++) {
            fibonacci[i % 2] += fibonacci[(i + 1) % 2];
        }
        return fibonacci[number % 2];
    default:
        return (uint64_t)1 << number % 40;
    }
}

static void test_codes_of_any_counts(void **state) {
    (void)state;
    static struct encode_counts counts;
    for (unsigned kind = 0; kind < (SANITIZED ? 40 : 400); kind++) {
        unsigned some = 1 + below(4);
        memset(&counts, 0, sizeof counts);
        for (unsigned table = 0; table < JPEG_CODE_TABLES; table++) {
            unsigned number = 0;
            for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
                if (is_known(table, symbol) && (number == 0 || below(4) < some)) {
                    counts.of[table][symbol] = count_of(kind, number++);
                }
            }
        }
        compare_codes(&counts, kind % 3 == 0 ? 1 : 3);
    }
}

/* As a GPU that goes wrong may count them, or as a file has them whose coefficients are too large. */
static void test_counts_of_no_picture(void **state) {
    (void)state;
    static struct encode_counts counts;
    static struct encode_tables tables;
    assert_false(make_tables(&counts, 1, &tables));
    counts.of[0][3] = counts.of[1][0] = 1;
    assert_true(make_tables(&counts, 1, &tables));
    assert_false(make_tables(&counts, 3, &tables));
    for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
        for (unsigned table = 0; table < 2; table++) {
            uint64_t before = counts.of[table][symbol];
            counts.of[table][symbol] = 1;
            assert_int_equal(make_tables(&counts, 1, &tables), is_known(table, symbol));
            counts.of[table][symbol] = before;
        }
    }
    memset(&counts, 0xff, sizeof counts);
    assert_false(make_tables(&counts, 3, &tables));
}

/* --- set-up ------------------------------------------------------------------------------------ */
static int open_lane(void **state) {
    (void)state;
    return fixture_open_lane(HANGS_AFTER_S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_qualities),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_codes_of_any_counts),
        cmocka_unit_test(test_counts_of_no_picture),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
