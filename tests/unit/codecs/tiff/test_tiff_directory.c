/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_directory.h"

#include "tests/unit/codecs/tiff/tiff_fixture.h"

static const struct tiff_fixture_tag tags[] = {
    {256, 3, 4660, 0}, {257, 4, 305419896, 0}, {282, 5, 300, 7}, {0}};

static void test_both_orders_and_sizes(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct tiff_fixture file;
        struct tiff_directory directory;
        uint32_t ratio[2];
        tiff_fixture_start(&file, i & 1, i & 2);
        tiff_fixture_page(&file, tags);
        assert_true(tiff_directory_open(&directory, tiff_fixture_bytes(&file)));
        assert_true(directory.little == (i & 1) && directory.big == (i & 2) / 2);
        assert_true(tiff_directory_go(&directory, directory.next));
        assert_int_equal(directory.count, 3);
        assert_int_equal(directory.next, 0);
        assert_int_equal(tiff_directory_value(&directory, 256, 0), 4660);
        assert_int_equal(tiff_directory_value(&directory, 257, 0), 305419896);
        assert_int_equal(tiff_directory_value(&directory, 258, 5), 5);
        assert_int_equal(tiff_directory_value(&directory, 282, 5), 5); /* no whole number */
        assert_true(tiff_directory_ratio(&directory, 282, 0, ratio));
        assert_true(ratio[0] == 300 && ratio[1] == 7);
        assert_false(tiff_directory_ratio(&directory, 282, 1, ratio));
        assert_false(tiff_directory_ratio(&directory, 256, 0, ratio));
    }
}

/* Every cut leaves a directory that lies in what is left, or none. */
static void test_cuts(void **state) {
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct tiff_fixture file;
        struct tiff_directory directory;
        tiff_fixture_start(&file, true, big);
        tiff_fixture_page(&file, tags);
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees what is read behind */
            memcpy(copy, file.data, size);
            bool open = tiff_directory_open(&directory, (struct bytes){copy, size});
            assert_int_equal(open, size >= (big ? 16 : 8));
            assert_false(open && tiff_directory_go(&directory, directory.next));
            free(copy);
        }
    }
}

static void test_impossible_places(void **state) {
    (void)state;
    struct tiff_fixture file;
    struct tiff_directory directory;
    struct tiff_directory_entry entry;
    tiff_fixture_start(&file, true, false);
    size_t at = file.size;
    tiff_fixture_page(&file, (const struct tiff_fixture_tag[]){{256, 4, 1, 0}, {0}});
    assert_true(tiff_directory_open(&directory, tiff_fixture_bytes(&file)));
    for (uint64_t offset = 0; offset < 8; offset++) { /* in the header */
        assert_false(tiff_directory_go(&directory, offset));
    }
    assert_false(tiff_directory_go(&directory, UINT64_MAX));
    assert_false(tiff_directory_go(&directory, file.size));
    static const struct {
        uint32_t type, count, value;
    } cases[] = {{4, 2, UINT32_MAX}, {4, UINT32_MAX, 8}, {3, 0x80000001, 8},
                 {4, 2, 22},         {99, 1, 8},         {0, 1, 8}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        tiff_fixture_put(&file, at + 4, cases[i].type, 2);
        tiff_fixture_put(&file, at + 6, cases[i].count, 4);
        tiff_fixture_put(&file, at + 10, cases[i].value, 4);
        assert_true(tiff_directory_go(&directory, at));
        assert_true(tiff_directory_find(&directory, 256, &entry));
        assert_int_equal(entry.value.size, 0);
        assert_int_equal(tiff_directory_numbers(&entry), 0);
        assert_int_equal(tiff_directory_value(&directory, 256, 7), 7);
    }
}

static void test_too_many_entries(void **state) {
    (void)state;
    enum { ENTRIES = TIFF_DIRECTORY_ENTRIES_MAX + 1 };
    static uint8_t data[8 + 2 + ENTRIES * 12 + 4] = "II*\0\x08";
    struct tiff_directory directory;
    assert_true(tiff_directory_open(&directory, (struct bytes){data, sizeof data}));
    data[8] = ENTRIES & 255, data[9] = ENTRIES >> 8;
    assert_false(tiff_directory_go(&directory, 8));
    data[8]--;
    assert_true(tiff_directory_go(&directory, 8));
    data[8] = data[9] = 0;
    assert_false(tiff_directory_go(&directory, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_orders_and_sizes),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_impossible_places),
        cmocka_unit_test(test_too_many_entries),
    };
    return codec_decodes(CODEC_TIFF) ? cmocka_run_group_tests(tests, NULL, NULL) : TIFF_FIXTURE_NOT_BUILT;
}
