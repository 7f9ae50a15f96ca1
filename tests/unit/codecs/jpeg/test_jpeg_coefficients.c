/* SPDX-License-Identifier: MIT
 * Compares the own reader of coefficients with libjpeg: both read the same values, whatever the scans are,
 * and the own reader refuses damaged and incomplete files. */
#include "codecs/jpeg/jpeg_coefficients.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "codecs/jpeg/jpeg_reader.h"
#include "core/processor.h"
#include "core/sanitizers.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* many pictures */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct codec_limits limits = {
    .max_pixels = 1 << 24, .max_side = 1 << 14, .max_scans = 100, .max_memory = 1 << 28};

static const struct jpeg_recipe recipes[] = {
    {.name = "4:2:0", .luma = {2, 2}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:2:2", .luma = {2, 1}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:4:0", .luma = {1, 2}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:1:1", .luma = {4, 1}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:4:4", .progressive = true, .width = 75, .height = 61},
    {.name = "1:4", .luma = {2, 4}, .progressive = true, .width = 75, .height = 61},
    {.name = "grey", .space = JCS_GRAYSCALE, .progressive = true, .width = 75, .height = 61},
    {.name = "grey, 2x2",
     .space = JCS_GRAYSCALE,
     .luma = {2, 2},
     .progressive = true,
     .width = 75,
     .height = 61},
    {.name = "4:4:4, 2x1", .luma = {2, 1}, .chroma = {2, 1}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:4:4, 1x2", .luma = {1, 2}, .chroma = {1, 2}, .progressive = true, .width = 75, .height = 61},
    {.name = "4:2:0, small", .luma = {2, 2}, .progressive = true, .width = 1, .height = 1},
    {.name = "4:2:0, wide", .luma = {2, 2}, .progressive = true, .width = 1033, .height = 9},
    {.name = "4:2:0, restarts", .luma = {2, 2}, .progressive = true, .restart = 1, .width = 75, .height = 61},
    {.name = "4:2:2, restarts", .luma = {2, 1}, .progressive = true, .restart = 7, .width = 75, .height = 61},
    {.name = "odd tables",
     .luma = {2, 2},
     .progressive = true,
     .odd_tables = true,
     .width = 75,
     .height = 61},
    {.name = "three scans", .luma = {2, 2}, .separate = true, .width = 75, .height = 61},
    {.name = "three scans, restarts",
     .luma = {2, 1},
     .separate = true,
     .restart = 5,
     .width = 75,
     .height = 61},
    {.name = "large", .luma = {2, 2}, .progressive = true, .width = 700, .height = 500},
};

static bool quick; /* by instructions that not every processor has */

static struct image_shape shape_of(struct bytes file) {
    struct picture picture;
    struct error err = {0};
    assert_int_equal(codec_probe(file, &limits, &picture, &err), ST_OK);
    codec_picture_finish(&picture);
    return picture.native;
}

static uint8_t *take_memory(const struct image_shape *shape, struct coefficients_layout *layout) {
    assert_true(coefficients_lay_out(shape, layout));
    uint8_t *memory =
        aligned_alloc(IMAGE_ALIGNMENT, bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT));
    assert_non_null(memory);
    memset(memory, 0xA5, jpeg_coefficients_bytes(layout));
    return memory;
}

/* The number of a block in the memory. */
static size_t number_of(const struct coefficients_layout *layout, unsigned plane, uint32_t x, uint32_t y) {
    uint32_t h = plane ? 1 : layout->h, v = plane ? 1 : layout->v;
    size_t mcu = (size_t)(y / v) * layout->mcus_x + x / h;
    return mcu * layout->in_mcu + (plane ? (size_t)layout->h * layout->v + plane - 1 : 0) + y % v * h + x % h;
}

static void assert_plane(const uint8_t *memory, const struct coefficients_layout *layout, unsigned plane,
                         const struct coefficients *expected) {
    const struct coefficients_head *head = (const void *)memory;
    const int16_t *values = (const void *)(memory + sizeof *head);
    assert_memory_equal(head->quantiser[plane], expected->steps, sizeof expected->steps);
    for (uint32_t y = 0; y < expected->height; y++) {
        for (uint32_t x = 0; x < expected->width; x++) {
            const int16_t *block = values + number_of(layout, plane, x, y) * COEFFICIENTS_BLOCK;
            const int16_t *from = expected->blocks[(size_t)y * expected->width + x];
            for (unsigned k = 0; k < COEFFICIENTS_BLOCK; k++) {
                assert_int_equal(block[k % 8 * 8 + k / 8], from[k]);
            }
        }
    }
}

static enum status read(struct bytes file, bool plain, uint8_t *memory, const struct image_shape *shape) {
    const struct jpeg_coefficients_way way = {.quick = quick, .plain = plain};
    struct error err = {0};
    enum status status = jpeg_coefficients_read_by(&way, file, &limits, shape, memory, &err);
    assert_true(status == ST_OK || (status == ST_UNSUPPORTED && err.text[0]));
    return status;
}

/* Reads a file that is read, with the values of libjpeg. */
static void assert_same(struct bytes file, const struct image_shape *shape, uint8_t *memory) {
    struct coefficients_layout layout;
    assert_true(coefficients_lay_out(shape, &layout));
    long warnings; /* the codec tells the harmless ones apart */
    struct coefficient_file expected = coefficients_read_noting(file, &warnings);
    assert_int_equal(expected.count, layout.planes);
    for (unsigned i = 0; i < layout.planes; i++) {
        assert_plane(memory, &layout, i, &expected.component[i]);
    }
    coefficients_free(&expected);
}

static void test_values(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct buf file = recipe_file(&recipes[i]);
        struct image_shape shape = shape_of(buf_bytes(&file));
        struct coefficients_layout layout;
        uint8_t *memory = take_memory(&shape, &layout);
        if (read(buf_bytes(&file), false, memory, &shape) != ST_OK) {
            fail_msg("%s: refused", recipes[i].name);
        }
        assert_same(buf_bytes(&file), &shape, memory);
        free(memory);
        buf_finish(&file);
    }
}

/* Our encoders write no frame with these factors, and no file a part of which can be kept. */
static void test_plain_frames(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        const struct jpeg_recipe *recipe = &recipes[i];
        struct buf file = recipe_file(recipe);
        struct image_shape shape = shape_of(buf_bytes(&file));
        struct coefficients_layout layout;
        uint8_t *memory = take_memory(&shape, &layout);
        bool plain = recipe->chroma[0] == 0 && (recipe->space != JCS_GRAYSCALE || recipe->luma[0] == 0);
        assert_int_equal(read(buf_bytes(&file), true, memory, &shape), plain ? ST_OK : ST_UNSUPPORTED);
        free(memory);
        buf_finish(&file);
    }
}

/* No part of a file is enough, even with an end marker. */
static void test_cut_files(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i += 3) {
        struct buf file = recipe_file(&recipes[i]);
        struct image_shape shape = shape_of(buf_bytes(&file));
        struct coefficients_layout layout;
        uint8_t *memory = take_memory(&shape, &layout);
        for (size_t size = 0; size + 2 < file.size; size += 1 + size / 61) {
            struct buf cut;
            buf_init(&cut, file.size + 2);
            assert_int_equal(buf_append(&cut, file.data, size, NULL), ST_OK);
            assert_int_equal(read(buf_bytes(&cut), false, memory, &shape), ST_UNSUPPORTED);
            assert_int_equal(buf_append(&cut, "\xff\xd9", 2, NULL), ST_OK);
            assert_int_equal(read(buf_bytes(&cut), false, memory, &shape), ST_UNSUPPORTED);
            buf_finish(&cut);
        }
        free(memory);
        buf_finish(&file);
    }
}

/* Whether libjpeg-turbo reads all of it, as the codec asks it to. */
static bool is_read(struct bytes file) {
    struct jpeg_guard guard;
    struct jpeg_reader reader;
    struct error err;
    jpeg_guard_init(&guard, ST_CORRUPT, &err);
    jpeg_reader_init(&reader, &guard, &limits);
    volatile bool good = false;
    if (!setjmp(guard.jump)) {
        jpeg_reader_open(&reader, file);
        jpeg_read_coefficients(&reader.cinfo);
        good = true;
    }
    jpeg_destroy_decompress(&reader.cinfo);
    return good;
}

/* A file with a bit changed is refused, or libjpeg reads the same from it. */
static void test_changed_bits(void **state) {
    enum {
        START = 20, /* behind the JFIF header, whose version libjpeg warns of */
        ROUNDS = SANITIZED ? 100 : 400
    };
    (void)state;
    uint32_t random = 1;
    unsigned taken = 0;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct buf file = recipe_file(&recipes[i]);
        struct image_shape shape = shape_of(buf_bytes(&file));
        struct coefficients_layout layout;
        uint8_t *memory = take_memory(&shape, &layout);
        for (unsigned round = 0; round < ROUNDS; round++) {
            random = random * 1664525u + 1013904223u;
            uint8_t *byte = &file.data[START + (random >> 4) % (file.size - START)], before = *byte;
            *byte = (uint8_t)(before ^ 1u << (random & 7));
            if (read(buf_bytes(&file), false, memory, &shape) == ST_OK) {
                assert_true(is_read(buf_bytes(&file)));
                assert_same(buf_bytes(&file), &shape, memory);
                taken++;
            }
            *byte = before;
        }
        free(memory);
        buf_finish(&file);
    }
    assert_true(taken > ROUNDS / 4);
}

static void test_other_shapes(void **state) {
    (void)state;
    struct buf file = recipe_file(&recipes[0]);
    struct image_shape shape = shape_of(buf_bytes(&file)), other;
    struct coefficients_layout layout;
    uint8_t *memory = take_memory(&shape, &layout);
    for (unsigned i = 0; i < 6; i++) {
        other = shape;
        other.width -= i == 0;
        other.height -= i == 1;
        other.chroma_shift_x ^= i == 2;
        other.chroma_shift_y ^= i == 3;
        other.model = i == 4 ? PIXEL_GRAY : i == 5 ? PIXEL_RGB : other.model;
        assert_int_equal(read(buf_bytes(&file), false, memory, &other), ST_UNSUPPORTED);
    }
    free(memory);
    buf_finish(&file);
}

/* libjpeg refuses a scan whose components are not in the order of the frame. */
static void test_order_of_components(void **state) {
    (void)state;
    struct buf file = recipe_file(&recipes[0]);
    struct image_shape shape = shape_of(buf_bytes(&file));
    struct coefficients_layout layout;
    uint8_t *memory = take_memory(&shape, &layout);
    uint8_t *scan = memmem(file.data, file.size, "\xff\xda\x00\x0c\x03", 5);
    assert_non_null(scan);
    uint8_t first = scan[5];
    scan[5] = scan[7];
    scan[7] = first;
    assert_false(is_read(buf_bytes(&file)));
    assert_int_equal(read(buf_bytes(&file), false, memory, &shape), ST_UNSUPPORTED);
    free(memory);
    buf_finish(&file);
}

static void test_limits(void **state) {
    (void)state;
    struct buf file = recipe_file(&recipes[0]);
    struct image_shape shape = shape_of(buf_bytes(&file));
    struct coefficients_layout layout;
    uint8_t *memory = take_memory(&shape, &layout);
    struct codec_limits few = limits;
    struct error err = {0};
    few.max_scans = 9; /* of 10 */
    assert_int_equal(jpeg_coefficients_read(buf_bytes(&file), &few, &shape, false, memory, &err),
                     ST_UNSUPPORTED);
    few.max_scans = 10;
    assert_int_equal(jpeg_coefficients_read(buf_bytes(&file), &few, &shape, false, memory, &err), ST_OK);
    few.deadline_ns = 1;
    assert_int_equal(jpeg_coefficients_read(buf_bytes(&file), &few, &shape, false, memory, &err), ST_LIMIT);
    free(memory);
    buf_finish(&file);
}

struct scribbler {
    uint8_t *memory;
    size_t size;
    atomic_bool over;
};

static void *scribble(void *argument) {
    struct scribbler *scribbler = argument;
    for (uint32_t chance = 1; !atomic_load(&scribbler->over);) {
        chance = chance * 1664525 + 1013904223;
        scribbler->memory[(uint64_t)chance * scribbler->size >> 32] = (uint8_t)(chance >> 11);
    }
    return NULL;
}

/* Another process changes the coefficients while they are read, but not the table. Nothing beside them is
 * touched. */
static void test_memory_that_changes(void **state) {
    (void)state;
    enum { ROUNDS = 60 };
    struct buf file = recipe_file(&recipes[COUNT(recipes) - 1]);
    struct image_shape shape = shape_of(buf_bytes(&file));
    struct coefficients_layout layout;
    assert_true(coefficients_lay_out(&shape, &layout));
    size_t table = jpeg_coefficients_table(&layout), size = jpeg_coefficients_bytes(&layout) - table;
    struct scribbler scribbler = {.memory = aligned_alloc(IMAGE_ALIGNMENT, size), .size = size};
    struct jpeg_coefficients_way way = {.quick = quick, .table = malloc(table)};
    assert_true(scribbler.memory && way.table);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, scribble, &scribbler), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct error err = {0};
        enum status status =
            jpeg_coefficients_read_by(&way, buf_bytes(&file), &limits, &shape, scribbler.memory, &err);
        assert_true(status == ST_OK || status == ST_UNSUPPORTED);
    }
    atomic_store(&scribbler.over, true);
    pthread_join(thread, NULL);
    free(scribbler.memory);
    free(way.table);
    buf_finish(&file);
}

static void test_layouts(void **state) {
    (void)state;
    struct coefficients_layout layout;
    struct image_shape shape = {.model = PIXEL_YCBCR,
                                .depth = 8,
                                .chroma_shift_x = 1,
                                .chroma_shift_y = 1,
                                .width = 1920,
                                .height = 1080};
    assert_true(coefficients_lay_out(&shape, &layout));
    assert_int_equal(layout.blocks, 120 * 68 * 6);
    assert_int_equal(coefficients_size(&layout), 384 + layout.blocks * 128);
    shape.width = shape.height = UINT32_MAX;
    assert_false(coefficients_lay_out(&shape, &layout));
    shape = (struct image_shape){.model = PIXEL_GRAY, .depth = 8, .width = 8192, .height = 8192};
    assert_true(coefficients_lay_out(&shape, &layout));
    shape.width++;
    assert_false(coefficients_lay_out(&shape, &layout));
    const struct image_shape others[] = {
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 2, .width = 9, .height = 9},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 3, .width = 9, .height = 9},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 255, .width = 9, .height = 9},
        {.model = PIXEL_YCBCR, .depth = 16, .width = 9, .height = 9},
        {.model = PIXEL_RGB, .depth = 8, .width = 9, .height = 9},
        {.model = PIXEL_GRAY, .depth = 8, .width = 0, .height = 9},
        {.model = PIXEL_GRAY, .depth = 8, .width = 9, .height = 0},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_false(coefficients_lay_out(&others[i], &layout));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_plain_frames),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_changed_bits),
        cmocka_unit_test(test_other_shapes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_memory_that_changes),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_order_of_components),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    quick = processor_extracts_bits();
    return failed + (quick ? cmocka_run_group_tests(tests, NULL, NULL) : 0);
}
