/* SPDX-License-Identifier: MIT
 * The acceptor and a connection that ends while it notes that there is no room: whoever comes second has to
 * notice the other. The acceptor's code is compiled here with a hook before each of its stores. */
#include <stdatomic.h>

static void (*before_store)(void);

#undef atomic_store
#define atomic_store(object, value)                                                                          \
    ((before_store ? before_store() : (void)0), atomic_store_explicit(object, value, memory_order_seq_cst))

#include "server/http/acceptor.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct intakes intakes;

static void end_one(void) {
    before_store = NULL;
    assert_int_equal(intake_release(&intakes, &intakes.each[0], NULL), 0);
}

static void test_an_end_before_the_note(void **state) {
    (void)state;
    struct acceptor acceptor = {.options = {.most = 1, .intakes = &intakes}};
    intakes.count = 1;
    intakes.open = intakes.each[0].open = 1;
    assert_false(has_room(&acceptor));
    assert_true(acceptor.full);
    before_store = end_one;
    assert_true(has_room(&acceptor));
    assert_null(before_store);
    assert_true(has_room(&acceptor));
    assert_int_equal(intakes.open, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_end_before_the_note)};
    return cmocka_run_group_tests_name("acceptor_room", tests, NULL, NULL);
}
