/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_reader.h"

#include <unistd.h>

#include "tests/unit/server/batch/tar_reader_fixture.h"

static void test_fields(void **state) {
    (void)state;
    tar_test_header(&tar, '0', "../a \xff.jpg", 0);
    read_one();
    assert_string_equal(member.name, "../a \xff.jpg");
    assert_string_equal(member.link, "");
    assert_string_equal(member.user, "ada");
    assert_string_equal(member.group, "staff");
    assert_int_equal(member.mode, 0644);
    assert_int_equal(member.uid, 1000);
    assert_int_equal(member.gid, 100);
    assert_int_equal(member.mtime, 014000000000);
    assert_int_equal(member.mtime_ns, 0);
    assert_int_equal(member.type, TAR_FILE);
}

/* Reads the rest of a member in pieces and compares it with what tar_test_file writes. */
static void assert_data(struct tar_reader *reader, size_t piece) {
    uint8_t data[512];
    size_t total = 0, got = piece;
    while (got == piece) {
        assert_int_equal(tar_reader_data(reader, data, piece, &got, &err), ST_OK);
        for (size_t i = 0; i < got; i++) {
            assert_int_equal(data[i], member.name[(total + i) % strlen(member.name)]);
        }
        total += got;
    }
    assert_int_equal(total, member.size);
}

static void test_data_in_pieces(void **state) {
    (void)state;
    static const unsigned sizes[] = {0, 1, 511, 512, 513, 4000};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (unsigned i = 0; i < COUNT; i++) {
        tar_test_file(&tar, "one", sizes[i]);
        tar_test_file(&tar, "another", sizes[COUNT - 1 - i]);
    }
    tar_test_zeros(&tar, 1024);
    for (size_t piece = 1; piece <= 512; piece = piece * 3 + 1) {
        bool more, joined;
        tar.piece = piece * 7 % 100;
        struct tar_reader *reader = tar_test_open(&tar);
        for (unsigned i = 0; i < 2 * COUNT; i++) {
            assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
            assert_true(more);
            assert_string_equal(member.name, i % 2 ? "another" : "one");
            assert_int_equal(member.size, sizes[i % 2 ? COUNT - 1 - i / 2 : i / 2]);
            if (i % 3) {
                assert_data(reader, piece);
            }
        }
        assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
        assert_false(more);
        assert_int_equal(tar_reader_end(reader, &joined, &err), ST_OK);
        assert_false(joined);
        assert_int_equal(tar_reader_position(reader), tar.size);
        tar_reader_destroy(reader);
    }
}

static void assert_type(char flag, enum tar_type type, bool has_data) {
    tar_test_header(&tar, flag, "m", has_data ? 5 : 512);
    if (has_data) {
        tar_test_data(&tar, "12345", 5);
    }
    read_one();
    assert_int_equal(member.type, type);
    assert_int_equal(member.flag, flag);
    assert_int_equal(member.size, has_data ? 5 : 0);
    empty_tar(NULL);
}

static void test_types(void **state) {
    (void)state;
    assert_type('0', TAR_FILE, true);
    assert_type('\0', TAR_FILE, true);
    assert_type('7', TAR_FILE, true);
    assert_type('1', TAR_HARD_LINK, false);
    assert_type('2', TAR_SYMBOLIC_LINK, false);
    assert_type('3', TAR_OTHER, false);
    assert_type('4', TAR_OTHER, false);
    assert_type('5', TAR_DIRECTORY, false);
    assert_type('6', TAR_OTHER, false);
    assert_type('A', TAR_OTHER, true);
}

static void test_links_and_devices(void **state) {
    (void)state;
    uint8_t *block = tar_test_header(&tar, '2', "l", 0);
    memset(block + 157, 't', 100); /* without a zero */
    tar_test_text(block, 329, "junk");
    tar_test_sum(block, false);
    read_one();
    assert_int_equal(strlen(member.link), 100);
    empty_tar(NULL);
    block = tar_test_header(&tar, '3', "null", 0);
    tar_test_text(block, 157, "not a link");
    tar_test_text(block, 329, "0000001");
    tar_test_text(block, 337, "0000003");
    tar_test_sum(block, false);
    read_one();
    assert_string_equal(member.link, "");
    assert_int_equal(member.device_major, 1);
    assert_int_equal(member.device_minor, 3);
}

static void test_magic(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        uint8_t *block = tar_test_header(&tar, '\0', "dir/", 0);
        memcpy(block + 257, kind == 0 ? "\0\0\0\0\0\0\0" : kind == 1 ? "ustar  " : "ustar\0000", 8);
        tar_test_text(block, 345, "in/front");
        tar_test_sum(block, false);
        read_one();
        assert_string_equal(member.name, kind == 2 ? "in/front/dir/" : "dir/");
        assert_string_equal(member.user, kind == 0 ? "" : "ada");
        assert_int_equal(member.type, TAR_DIRECTORY);
        empty_tar(NULL);
    }
}

static void test_longest_ustar_name(void **state) {
    (void)state;
    uint8_t *block = tar_test_header(&tar, '0', "", 0);
    memset(block, 'n', 100);
    memset(block + 345, 'p', 155);
    tar_test_sum(block, false);
    read_one();
    assert_int_equal(strlen(member.name), 256);
    assert_int_equal(member.name[155], '/');
}

static void test_signed_checksum(void **state) {
    (void)state;
    tar_test_sum(tar_test_header(&tar, '0', "\xff\xfe", 0), true);
    read_one();
    assert_string_equal(member.name, "\xff\xfe");
}

static void test_base256(void **state) {
    (void)state;
    uint8_t *block = tar_test_header(&tar, '5', "big", 0);
    memcpy(block + 108, "\x80\0\0\0\xff\xff\xff\xff", 8);
    memcpy(block + 136, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 12);
    tar_test_sum(block, false);
    read_one();
    assert_int_equal(member.uid, UINT32_MAX);
    assert_int_equal(member.mtime, -2);
}

/* Puts a field into a header and expects the sentence. */
static void assert_bad_field(size_t at, const char *bytes, size_t size, const char *part) {
    uint8_t *block = tar_test_header(&tar, '0', "a.jpg", 0);
    memcpy(block + at, bytes, size);
    tar_test_sum(block, false);
    assert_says(ST_CORRUPT, part);
}

static void test_bad_numbers(void **state) {
    (void)state;
    assert_bad_field(124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12,
                     "at byte 0, of \"a.jpg\", has a size that it cannot have");
    assert_bad_field(124, "\x80\0\0\0\x80\0\0\0\0\0\0\0", 12, "a size that");
    assert_bad_field(124, "\x80\1\0\0\0\0\0\0\0\0\0\0", 12, "a size that");
    assert_bad_field(124, "-0000000001", 12, "a size that");
    assert_bad_field(124, "00000000008", 12, "a size that");
    assert_bad_field(100, "rw-r--r", 8, "a mode that");
    assert_bad_field(108, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "a uid that");
    assert_bad_field(116, "0x1", 4, "a gid that");
    assert_bad_field(136, "yesterday", 10, "a time that");
    assert_bad_field(136, "\xff\xff\xff\xff\x80\0\0\0\0\0\0\0", 12, "a time that");
}

static void test_descriptor(void **state) {
    (void)state;
    int ends[2];
    bool more, joined;
    tar_test_file(&tar, "a", 3000);
    tar_test_zeros(&tar, 10240);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tar_stream_write(&ends[1], tar.data, tar.size, &err), ST_OK);
    close(ends[1]);
    struct tar_reader *reader = tar_reader_create((struct tar_input){tar_stream_read, &ends[0]});
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_data(reader, 512);
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_int_equal(tar_reader_end(reader, &joined, &err), ST_OK);
    assert_false(more || joined);
    tar_reader_destroy(reader);
    close(ends[0]);
    reader = tar_reader_create((struct tar_input){tar_stream_read, &ends[0]});
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_BUSY);
    assert_string_equal(err.text, "the tar cannot be read: Bad file descriptor");
    tar_reader_destroy(reader);
    tar_reader_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_fields, empty_tar),
        cmocka_unit_test_setup(test_data_in_pieces, empty_tar),
        cmocka_unit_test_setup(test_types, empty_tar),
        cmocka_unit_test_setup(test_links_and_devices, empty_tar),
        cmocka_unit_test_setup(test_magic, empty_tar),
        cmocka_unit_test_setup(test_longest_ustar_name, empty_tar),
        cmocka_unit_test_setup(test_signed_checksum, empty_tar),
        cmocka_unit_test_setup(test_base256, empty_tar),
        cmocka_unit_test_setup(test_bad_numbers, empty_tar),
        cmocka_unit_test_setup(test_descriptor, empty_tar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
