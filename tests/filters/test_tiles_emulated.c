/* SPDX-License-Identifier: MIT
 * Emulated tiles do what plain loops do, and stop where a processor would fault. Where the processor has AMX,
 * its tiles do the same. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("amx-tile,amx-int8")
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/processor.h"
#include "tests/filters/random.h"
#include "tests/filters/tiles_emulated.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { ROUNDS = 300, STRIDE = 80, MEMORY = 16 * STRIDE, SUMS = 0, INPUTS = 3, WEIGHTS = 6 };

struct shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static struct shapes shapes_of(unsigned rows, unsigned parts, unsigned columns) {
    struct shapes shapes = {.palette = 1};
    shapes.rows[SUMS] = shapes.rows[INPUTS] = (uint8_t)rows;
    shapes.rows[WEIGHTS] = (uint8_t)parts;
    shapes.row_bytes[SUMS] = shapes.row_bytes[WEIGHTS] = (uint16_t)(4 * columns);
    shapes.row_bytes[INPUTS] = (uint16_t)(4 * parts);
    return shapes;
}

struct memory {
    uint8_t inputs[MEMORY];
    int8_t weights[MEMORY];
    int32_t sums[MEMORY / 4];
};

static void fill(struct memory *memory, uint64_t *random) {
    uint8_t *bytes = (uint8_t *)memory;
    for (size_t i = 0; i < sizeof *memory; i++) {
        bytes[i] = (uint8_t)test_random(random);
    }
}

/* The product of matrices, which wraps like the processor's. */
static void multiply(struct memory *memory, unsigned rows, unsigned parts, unsigned columns) {
    for (unsigned m = 0; m < rows; m++) {
        for (unsigned n = 0; n < columns; n++) {
            int64_t sum = memory->sums[m * STRIDE / 4 + n];
            for (unsigned k = 0; k < 4 * parts; k++) {
                sum += memory->inputs[m * STRIDE + k] * memory->weights[k / 4 * STRIDE + 4 * n + k % 4];
            }
            memory->sums[m * STRIDE / 4 + n] = (int32_t)(uint32_t)sum;
        }
    }
}

static void multiply_emulated(struct memory *memory, const struct shapes *shapes) {
    tiles_emulated_configure(shapes);
    tiles_emulated_load(SUMS, memory->sums, STRIDE);
    tiles_emulated_load(INPUTS, memory->inputs, STRIDE);
    tiles_emulated_load(WEIGHTS, memory->weights, STRIDE);
    tiles_emulated_dot(SUMS, INPUTS, WEIGHTS);
    tiles_emulated_store(SUMS, memory->sums, STRIDE);
    tiles_emulated_release();
    assert_null(tiles_emulated_fault());
}

#if PROCESSOR_TILES && !defined(__clang__)
#undef TILES_CONFIGURE
#undef TILES_RELEASE
#undef TILES_LOAD
#undef TILES_STORE
#undef TILES_DOT
#include "cpu/detect/simd/amx.h"

static void multiply_natively(struct memory *memory, const struct shapes *shapes) {
    TILES_CONFIGURE(shapes);
    TILES_LOAD(0, memory->sums, STRIDE);
    TILES_LOAD(3, memory->inputs, STRIDE);
    TILES_LOAD(6, memory->weights, STRIDE);
    TILES_DOT(0, 3, 6);
    TILES_STORE(0, memory->sums, STRIDE);
    TILES_RELEASE();
}
#else
#define multiply_natively multiply_emulated
#endif

static void test_products(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const bool native = processor_allows(PROCESSOR_AMX);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const unsigned rows = 1 + (unsigned)(test_random(&random) % 16),
                       parts = 1 + (unsigned)(test_random(&random) % 16),
                       columns = 1 + (unsigned)(test_random(&random) % 16);
        const struct shapes shapes = shapes_of(rows, parts, columns);
        struct memory memory, expected;
        fill(&memory, &random);
        expected = memory;
        struct memory natively = memory;
        multiply(&expected, rows, parts, columns);
        multiply_emulated(&memory, &shapes);
        assert_memory_equal(&memory, &expected, sizeof memory);
        if (native) {
            multiply_natively(&natively, &shapes);
            assert_memory_equal(&natively, &expected, sizeof memory);
        }
    }
}

/* A row that is loaded again and again, as biases are, and a shorter one after a longer one. */
static void test_loads(void **state) {
    (void)state;
    const struct shapes shapes = shapes_of(5, 16, 3);
    int32_t bias[3] = {1, -2, 3}, sums[5][3], zeros[5][3] = {{0}};
    tiles_emulated_configure(&shapes);
    assert_true(tiles_emulated_configured());
    tiles_emulated_load(SUMS, bias, 0);
    tiles_emulated_store(SUMS, sums, sizeof *sums);
    for (unsigned m = 0; m < 5; m++) {
        assert_memory_equal(sums[m], bias, sizeof bias);
    }
    tiles_emulated_zero(SUMS);
    tiles_emulated_store(SUMS, sums, sizeof *sums);
    assert_memory_equal(sums, zeros, sizeof sums);
    tiles_emulated_release();
    assert_false(tiles_emulated_configured());
    assert_null(tiles_emulated_fault());
}

static void refuse_shapes(struct shapes shapes) {
    tiles_emulated_configure(&shapes);
    assert_non_null(tiles_emulated_fault());
}

static void refuse_product(struct shapes shapes, unsigned sums, unsigned inputs, unsigned weights) {
    tiles_emulated_configure(&shapes);
    assert_null(tiles_emulated_fault());
    tiles_emulated_dot(sums, inputs, weights);
    assert_non_null(tiles_emulated_fault());
    assert_null(tiles_emulated_fault());
}

static void test_faults(void **state) {
    (void)state;
    uint8_t memory[MEMORY] = {0};
    const struct shapes good = shapes_of(16, 16, 16);
    struct shapes shapes = good;
    tiles_emulated_load(SUMS, memory, STRIDE);
    assert_non_null(tiles_emulated_fault());
    shapes.palette = 2, refuse_shapes(shapes), shapes = good;
    shapes.start_row = 1, refuse_shapes(shapes), shapes = good;
    shapes.reserved[13] = 1, refuse_shapes(shapes), shapes = good;
    shapes.rows[1] = 17, shapes.row_bytes[1] = 4, refuse_shapes(shapes), shapes = good;
    shapes.rows[1] = 1, shapes.row_bytes[1] = 65, refuse_shapes(shapes), shapes = good;
    shapes.rows[1] = 1, refuse_shapes(shapes), shapes = good;
    shapes.rows[8] = 1, shapes.row_bytes[8] = 4, refuse_shapes(shapes), shapes = good;
    refuse_product(good, SUMS, INPUTS, INPUTS);
    refuse_product(good, SUMS, INPUTS, 1);
    shapes.rows[SUMS] = 15, refuse_product(shapes, SUMS, INPUTS, WEIGHTS), shapes = good;
    shapes.rows[WEIGHTS] = 15, refuse_product(shapes, SUMS, INPUTS, WEIGHTS), shapes = good;
    shapes.row_bytes[INPUTS] = 62, refuse_product(shapes, SUMS, INPUTS, WEIGHTS), shapes = good;
    shapes.row_bytes[WEIGHTS] = 60, refuse_product(shapes, SUMS, INPUTS, WEIGHTS);
    tiles_emulated_release();
    tiles_emulated_store(SUMS, memory, STRIDE);
    assert_non_null(tiles_emulated_fault());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
