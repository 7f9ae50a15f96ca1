/* SPDX-License-Identifier: MIT
 * The Huffman tables that the encoder on the GPU makes of counts, with the fake driver: they equal those of
 * core/jpeg/huffman.h. */
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/encode_head.h"
#include "gpu/stream/launch.h"

#include "core/sanitizers.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 600; /* kernels on the host, fiber by fiber */

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
    uint8_t segments[JPEG_CODE_TABLES * JPEG_WRITE_CODES], *to = segments;
    assert_true(make_tables(counts, planes, &tables));
    for (unsigned table = 0; table < (planes > 1 ? 4 : 2); table++) {
        struct jpeg_huffman codes;
        uint32_t code[JPEG_SYMBOLS];
        bool dc = table % 2 == 0;
        uint32_t size = dc ? KERNEL_ENCODE_SIZES : JPEG_SYMBOLS;
        jpeg_huffman_optimal(table, counts->of[table], &codes);
        jpeg_huffman_number(&codes, code, size);
        assert_memory_equal(dc ? tables.dc[table / 2] : tables.ac[table / 2], code, size * sizeof *code);
        to = jpeg_write_codes(to, &codes);
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
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_of_any_counts),
        cmocka_unit_test(test_counts_of_no_picture),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
