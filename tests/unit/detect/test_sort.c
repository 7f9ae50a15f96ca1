/* SPDX-License-Identifier: MIT
 * Sorting gives what qsort() gives, for items of all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "detect/sort.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { ITEMS = 300 };

static size_t size; /* of an item, whose bytes are its order */

static int compare(const void *a, const void *b) {
    return memcmp(a, b, size);
}

static void test_all_sizes(void **state) {
    (void)state;
    static uint8_t items[ITEMS * SORT_ITEM_MAX], expected[ITEMS * SORT_ITEM_MAX];
    uint32_t random = 1;
    for (size = 1; size <= SORT_ITEM_MAX; size++) {
        for (size_t count = 0; count < ITEMS; count = 2 * count + 1) {
            for (size_t i = 0; i < count * size; i++) {
                random = random * 1664525 + 1013904223;
                items[i] = expected[i] = (uint8_t)((random >> 24) % (size % 3 == 0 ? 3 : 255));
            }
            sort_items(items, count, size, compare);
            qsort(expected, count, size, compare);
            assert_memory_equal(items, expected, count * size);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
