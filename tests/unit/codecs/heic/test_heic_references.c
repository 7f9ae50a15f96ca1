/* SPDX-License-Identifier: MIT
 * The copy of a file in which each reference has one picture as its target. */
#include "tests/unit/codecs/heic/heic_fixture.h"

#include "codecs/heic/heic_references.h"

/* A copy that finds no memory is a failure, and not a file that needs no change. */
static void test_no_memory(void **state) {
    (void)state;
    static const struct heic_item_spec specs[] = {HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"),
                                                  HEIC_END};
    static const struct heic_reference_spec references[] = {{"thmb", 3, 2, {1, 2}}, {0}};
    struct buf file = heic_file("heic", specs, references), copy = {0}, none = {0};
    struct bmff_items items;
    struct error err;
    assert_int_equal(bmff_items_read(&items, buf_bytes(&file), "HEIC", &err), ST_OK);
    assert_int_equal(heic_references_mend(&items, &copy, &err), ST_OK);
    assert_true(copy.size > file.size);
    items.meta.size = SIZE_MAX / 4; /* no system has so much */
    assert_int_equal(heic_references_mend(&items, &none, &err), ST_BUSY);
    assert_non_null(strstr(err.text, "out of memory"));
    assert_int_equal(none.size, 0);
    bmff_items_finish(&items);
    buf_finish(&none);
    buf_finish(&copy);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
