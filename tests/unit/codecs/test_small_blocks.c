/* SPDX-License-Identifier: MIT */
#include "codecs/small_blocks.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILL = 0x5A, MOST = SMALL_BLOCKS_LEAST + (SMALL_BLOCKS_SIZES - 1) * SMALL_BLOCKS_STEP };

/* Frees more blocks of each size than malloc keeps for the thread. */
static void leave_behind(void) {
    void *block[SMALL_BLOCKS_EACH - 2];
    for (size_t size = SMALL_BLOCKS_LEAST; size <= MOST; size += SMALL_BLOCKS_STEP) {
        for (size_t i = 0; i < sizeof block / sizeof *block; i++) {
            block[i] = malloc(size);
            assert_non_null(block[i]);
            memset(block[i], FILL, size);
        }
        for (size_t i = 0; i < sizeof block / sizeof *block; i++) {
            __asm__ volatile("" : : "r"(block[i]) : "memory"); /* else the compiler leaves out the filling */
            free(block[i]);
        }
    }
}

static size_t left_in_new_blocks(void) {
    size_t left = 0;
    for (size_t size = SMALL_BLOCKS_LEAST; size <= MOST; size += SMALL_BLOCKS_STEP) {
        uint8_t *block = malloc(size);
        assert_non_null(block);
        __asm__ volatile("" : : "r"(block) : "memory");
        for (size_t i = 0; i < size; i++) {
            left += block[i] == FILL;
        }
        free(block);
    }
    return left;
}

static void test_new_blocks_have_nothing_of_earlier_ones(void **state) {
    (void)state;
    struct small_blocks small;
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xFF);
#endif
    leave_behind();
    small_blocks_take(&small);
    assert_int_equal(left_in_new_blocks(), 0);
    small_blocks_give(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_new_blocks_have_nothing_of_earlier_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
