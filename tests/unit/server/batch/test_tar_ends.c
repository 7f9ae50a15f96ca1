/* SPDX-License-Identifier: MIT
 * How tars end, and how they should not. */
#include "server/batch/tar/tar_reader.h"

#include "tests/unit/server/batch/tar_reader_fixture.h"

static void test_nothing(void **state) {
    (void)state;
    assert_fails(ST_CORRUPT, "the input is empty: even a tar without members has 1024 bytes");
    tar_test_zeros(&tar, 1024);
    assert_int_equal(count_members(), 0);
}

static void test_no_tar(void **state) {
    (void)state;
    tar_test_data(&tar, "\x1f\x8b\x08", 3);
    assert_fails(ST_CORRUPT,
                 "the input is no tar: its first block is no header; a compressed tar must be decompressed");
}

/* Each length but the whole one is a cut, and its sentence names the member. */
static void test_cuts(void **state) {
    (void)state;
    extended('g', "13 comment=x\n");
    tar_test_file(&tar, "one", 600);
    tar_test_file(&tar, "two", 0);
    extended('x', "13 comment=x\n");
    tar_test_file(&tar, "three", 512);
    tar_test_zeros(&tar, 1024);
    size_t whole = tar.size;
    for (size_t size = 1; size < whole; size++) {
        tar.size = size;
        err = (struct error){0};
        assert_int_equal(count_members(), -1);
        assert_int_equal(err.status, ST_CORRUPT);
        char place[60];
        snprintf(place, sizeof place, "the tar is cut: it ends at byte %zu ", size);
        assert_non_null(strstr(err.text, place));
        const char *name = size < 1536   ? "before the first member"
                           : size < 3072 ? "\"one\""
                           : size < 4608 ? "after \"two\""
                                         : "\"three\"";
        assert_non_null(strstr(err.text, name));
    }
    err = (struct error){0};
    tar.size = whole;
    assert_int_equal(count_members(), 3);
}

static void assert_cut_at(size_t size, const char *sentence) {
    tar_test_file(&tar, "a.jpg", 1000);
    tar_test_file(&tar, "b.jpg", 1);
    tar_test_zeros(&tar, 1024);
    tar.size = size;
    assert_fails(ST_CORRUPT, sentence);
}

static void test_sentences_of_cuts(void **state) {
    (void)state;
    assert_cut_at(100, "the tar is cut: it ends at byte 100 in a header, before the first member");
    assert_cut_at(
        700,
        "the tar is cut: it ends at byte 700 in the data of \"a.jpg\", of which it has 188 of 1000 bytes");
    assert_cut_at(
        1520,
        "the tar is cut: it ends at byte 1520 in the padding of the last member's data, after \"a.jpg\"");
    assert_cut_at(
        1536,
        "the tar is cut: it ends at byte 1536 without the two blocks of zeros at its end, after \"a.jpg\"");
    assert_cut_at(
        3072,
        "the tar is cut: it ends at byte 3072 within the two blocks of zeros at its end, after \"b.jpg\"");
}

static void test_cut_in_data(void **state) {
    (void)state;
    uint8_t data[512];
    bool more;
    size_t got;
    tar_test_file(&tar, "a.jpg", 1000);
    tar.size = 812;
    struct tar_reader *reader = tar_test_open(&tar);
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_int_equal(tar_reader_data(reader, data, 300, &got, &err), ST_OK);
    assert_int_equal(got, 300);
    assert_int_equal(tar_reader_data(reader, data, 300, &got, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "300 of 1000 bytes"));
    assert_int_equal(tar_reader_data(reader, data, 300, &got, &err), ST_CORRUPT);
    assert_int_equal(got, 0);
    tar_reader_destroy(reader);
}

static void test_damage(void **state) {
    (void)state;
    tar_test_file(&tar, "a\n\x1b.jpg", 3);
    tar_test_header(&tar, '0', "b.jpg", 0)[0]++;
    assert_fails(ST_CORRUPT, "the tar is damaged: the block at byte 1024 is no header, by its checksum, "
                             "after \"a\\u000a\\u001b.jpg\"");
    tar_test_file(&tar, "a", 0);
    tar_test_zeros(&tar, 512);
    tar_test_file(&tar, "b", 0);
    assert_fails(ST_CORRUPT,
                 "the tar has a single block of zeros before byte 1024, where it should end with two, "
                 "after \"a\"");
    extended('x', "9 size=0\n");
    tar_test_zeros(&tar, 1024);
    assert_fails(
        ST_CORRUPT,
        "the extended tar header before byte 1024 is followed by no member, before the first member");
}

static bool is_joined(void) {
    bool more, joined;
    struct tar_reader *reader = tar_test_open(&tar);
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_int_equal(tar_reader_end(reader, &joined, &err), ST_INTERNAL);
    tar_reader_destroy(reader);
    reader = tar_test_open(&tar);
    do {
        assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    } while (more);
    assert_int_equal(tar_reader_end(reader, &joined, &err), ST_OK);
    assert_true(joined || tar_reader_position(reader) == tar.size);
    tar_reader_destroy(reader);
    return joined;
}

static void test_after_the_end(void **state) {
    (void)state;
    tar_test_file(&tar, "a", 1);
    tar_test_zeros(&tar, 1024);
    assert_false(is_joined());
    tar_test_zeros(&tar, 100001);
    assert_false(is_joined());
    tar.data[tar.size - 1] = 1;
    assert_true(is_joined());
}

static void test_failing_input(void **state) {
    (void)state;
    tar_test_file(&tar, "a", 1);
    for (size_t size = 0; size <= tar.size; size += 256) {
        tar.size = size;
        tar.fails = true;
        assert_int_equal(count_members(), -1);
        assert_int_equal(err.status, ST_BUSY);
        assert_string_equal(err.text, "the disk is on fire");
        empty_tar(NULL);
        tar_test_file(&tar, "a", 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing, empty_tar),
        cmocka_unit_test_setup(test_no_tar, empty_tar),
        cmocka_unit_test_setup(test_cuts, empty_tar),
        cmocka_unit_test_setup(test_sentences_of_cuts, empty_tar),
        cmocka_unit_test_setup(test_cut_in_data, empty_tar),
        cmocka_unit_test_setup(test_damage, empty_tar),
        cmocka_unit_test_setup(test_after_the_end, empty_tar),
        cmocka_unit_test_setup(test_failing_input, empty_tar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
