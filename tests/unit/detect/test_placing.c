/* SPDX-License-Identifier: MIT
 * Pieces of memory of the same time do not overlap, and others share it. */
#include "detect/placing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { PIECES = 40 };

static void test_a_chain_needs_two(void **state) {
    (void)state;
    struct placing_piece chain[] = {{64, 0, 1, 0}, {64, 1, 2, 0}, {64, 2, 3, 0}, {64, 3, 4, 0}};
    assert_int_equal(placing_fill(chain, 4), 128);
    assert_int_equal(placing_fill(chain, 0), 0);
}

static void test_what_stays_is_apart(void **state) {
    (void)state;
    struct placing_piece pieces[] = {{64, 0, 3, 0}, {32, 1, 2, 0}, {32, 2, 3, 0}, {32, 3, 4, 0}};
    assert_int_equal(placing_fill(pieces, 4), 128);
    assert_int_equal(pieces[0].offset, 0);
    assert_int_equal(pieces[1].offset, pieces[3].offset);
}

static void test_any_pieces(void **state) {
    (void)state;
    struct placing_piece pieces[PIECES];
    uint32_t random = 1;
    for (int i = 0; i < PIECES; i++) {
        random = random * 1103515245 + 12345;
        pieces[i] = (struct placing_piece){.bytes = (random >> 16) % 100, .first = (unsigned)i};
        pieces[i].last = (unsigned)i + (random >> 8) % 9;
    }
    const size_t all = placing_fill(pieces, PIECES);
    for (int i = 0; i < PIECES; i++) {
        assert_true(pieces[i].offset + pieces[i].bytes <= all);
        for (int j = 0; j < i; j++) {
            assert_true(pieces[j].last < pieces[i].first ||
                        pieces[j].offset + pieces[j].bytes <= pieces[i].offset ||
                        pieces[i].offset + pieces[i].bytes <= pieces[j].offset);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_chain_needs_two),
                                       cmocka_unit_test(test_what_stays_is_apart),
                                       cmocka_unit_test(test_any_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
