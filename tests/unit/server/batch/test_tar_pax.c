/* SPDX-License-Identifier: MIT
 * Extended headers, as the reader of a tar takes them. */
#include "server/batch/tar/tar_pax.h"

#include "tests/unit/server/batch/tar_reader_fixture.h"

static void test_long_names(void **state) {
    (void)state;
    char name[TAR_NAME_MAX + 1], link[TAR_NAME_MAX + 1];
    memset(name, 'n', TAR_NAME_MAX);
    memset(link, 'k', TAR_NAME_MAX);
    name[TAR_NAME_MAX] = link[TAR_NAME_MAX] = '\0';
    tar_test_extended(&tar, 'K', link, sizeof link);
    tar_test_extended(&tar, 'L', name, sizeof name);
    tar_test_header(&tar, '2', "n", 0);
    read_one();
    assert_string_equal(member.name, name);
    assert_string_equal(member.link, link);
}

#define LIMIT_OF_NAMES "of 4097 bytes; the limit is 4096"

static void test_too_long_names(void **state) {
    (void)state;
    char long_name[TAR_NAME_MAX + 2] = "", record[TAR_NAME_MAX + 100];
    memset(long_name, 'n', TAR_NAME_MAX + 1);
    tar_test_extended(&tar, 'L', long_name, sizeof long_name);
    assert_says(ST_LIMIT, "has a path " LIMIT_OF_NAMES);
    tar_test_extended(&tar, 'K', long_name, sizeof long_name);
    assert_says(ST_LIMIT, "has a linkpath " LIMIT_OF_NAMES);
    int size = snprintf(record, sizeof record, "4108 path=%s\n", long_name);
    tar_test_extended(&tar, 'x', record, (size_t)size);
    assert_says(ST_LIMIT, "has a path " LIMIT_OF_NAMES);
    size = snprintf(record, sizeof record, "267 uname=%.256s\n", long_name);
    tar_test_extended(&tar, 'g', record, (size_t)size);
    assert_says(ST_LIMIT, "has a uname of 256 bytes; the limit is 255");
    tar_test_extended(&tar, 'L', "a\0b", 4);
    assert_says(ST_CORRUPT, "at byte 512 has a zero byte in path");
}

static void test_pax(void **state) {
    (void)state;
    extended('x', "13 path=\xc3\xbc/\xff\n17 linkpath=away\n9 size=3\n18 mtime=-1.25000\n8 uid=7\n"
                  "27 gid=9223372036854775807\n13 uname=bob\n12 gname=g1\n18 comment=a=b\n c\n");
    tar_test_header(&tar, '0', "short", 512);
    tar_test_data(&tar, "abc", 3);
    read_one();
    assert_string_equal(member.name, "\xc3\xbc/\xff");
    assert_string_equal(member.link, "");
    assert_int_equal(member.size, 3);
    assert_int_equal(member.mtime, -2);
    assert_int_equal(member.mtime_ns, 750000000);
    assert_int_equal(member.uid, 7);
    assert_true(member.gid == INT64_MAX);
    assert_string_equal(member.user, "bob");
    assert_string_equal(member.group, "g1");
}

static void test_pax_times(void **state) {
    (void)state;
    static const struct {
        const char *record;
        int64_t seconds;
        uint32_t nanoseconds;
    } times[] = {{"11 mtime=0\n", 0, 0},
                 {"13 mtime=12.\n", 12, 0},
                 {"24 mtime=3.999999999999\n", 3, 999999999},
                 {"14 mtime=-0.5\n", -1, 500000000},
                 {"12 mtime=-7\n", -7, 0}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        extended('x', times[i].record);
        tar_test_header(&tar, '5', "d", 0);
        read_one();
        assert_int_equal(member.mtime, times[i].seconds);
        assert_int_equal(member.mtime_ns, times[i].nanoseconds);
        empty_tar(NULL);
    }
}

static const char *next_user(struct tar_reader *reader) {
    bool more;
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_true(more);
    return member.user;
}

/* Global records hold until others take their place; an empty value makes the header count again. */
static void test_global_pax(void **state) {
    (void)state;
    extended('g', "15 uname=world\n");
    tar_test_header(&tar, '0', "1", 0);
    extended('x', "13 uname=own\n");
    tar_test_header(&tar, '0', "2", 0);
    tar_test_header(&tar, '0', "3", 0);
    extended('x', "9 uname=\n");
    tar_test_header(&tar, '0', "4", 0);
    extended('g', "9 uname=\n13 comment=x\n");
    tar_test_header(&tar, '0', "5", 0);
    extended('g', "13 comment=y\n");
    tar_test_zeros(&tar, 1024);
    struct tar_reader *reader = tar_test_open(&tar);
    assert_string_equal(next_user(reader), "world");
    assert_string_equal(next_user(reader), "own");
    assert_string_equal(next_user(reader), "world");
    assert_string_equal(next_user(reader), "ada");
    assert_string_equal(next_user(reader), "ada");
    bool more;
    assert_int_equal(tar_reader_next(reader, &member, &more, &err), ST_OK);
    assert_false(more);
    tar_reader_destroy(reader);
}

static void test_bad_pax(void **state) {
    (void)state;
    static const char *const records[] = {
        "path=a\n",    "8 path=a\n", "11 path=a\n", "9 path=ab", "7 path\n",
        " path=a\n",   "5 =a\n",     "0 path=a\n",  "\n",        "18446744073709551627 path=a\n",
        "-1 path=a\n",
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        extended('x', records[i]);
        assert_says(ST_CORRUPT, "malformed record at byte 512");
    }
    extended('x', "9 size=1\nx");
    assert_says(ST_CORRUPT, "malformed record at byte 521");
    static const char *const values[] = {
        "11 size=-1\n",  "28 size=9223372036854775808\n",  "11 uid=1.5\n", "11 mtime=.\n", "12 mtime=1e\n",
        "12 mtime=--\n", "29 mtime=9223372036854775808\n",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        extended('x', values[i]);
        assert_says(ST_CORRUPT, "that it cannot have");
    }
    tar_test_extended(&tar, 'x', "12 path=a\0b\n", 12);
    assert_says(ST_CORRUPT, "a zero byte in path");
}

static void test_limit_of_extended_headers(void **state) {
    (void)state;
    static const char kinds[] = "xgXLK";
    for (size_t i = 0; i < sizeof kinds - 1; i++) {
        tar_test_file(&tar, "f", 1);
        tar_test_header(&tar, kinds[i], "e", TAR_EXTENDED_MAX + 1);
        assert_fails(ST_LIMIT,
                     "the extended tar header at byte 1024 has 65537 bytes, after \"f\"; the limit is 65536");
        assert_true(tar.largest_asked <= 16 << 10);
    }
    static char record[TAR_EXTENDED_MAX + 1] = "65536 comment=";
    memset(record + 14, 'c', TAR_EXTENDED_MAX - 15);
    record[TAR_EXTENDED_MAX - 1] = '\n';
    extended('x', record);
    tar_test_header(&tar, '0', "fits", 0);
    read_one();
}

static void test_sparse_files(void **state) {
    (void)state;
    static const char end[] = " as a sparse file, which is not supported: make the tar without --sparse";
    tar_test_header(&tar, 'S', "holes.img", 0);
    assert_says(ST_UNSUPPORTED, "the tar has \"holes.img\" as a sparse file");
    extended('x', "22 GNU.sparse.major=1\n28 GNU.sparse.name=real.img\n");
    tar_test_header(&tar, '0', "GNUSparseFile.0/x", 0);
    assert_says(ST_UNSUPPORTED, "\"real.img\"");
    extended('x', "24 GNU.sparse.size=9999\n");
    tar_test_header(&tar, '0', "x", 0);
    assert_says(ST_UNSUPPORTED, end);
    tar_test_header(&tar, 'M', "part", 0);
    assert_fails(ST_UNSUPPORTED,
                 "the tar continues \"part\", which began in another volume: join the volumes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_long_names, empty_tar),
        cmocka_unit_test_setup(test_too_long_names, empty_tar),
        cmocka_unit_test_setup(test_pax, empty_tar),
        cmocka_unit_test_setup(test_pax_times, empty_tar),
        cmocka_unit_test_setup(test_global_pax, empty_tar),
        cmocka_unit_test_setup(test_bad_pax, empty_tar),
        cmocka_unit_test_setup(test_limit_of_extended_headers, empty_tar),
        cmocka_unit_test_setup(test_sparse_files, empty_tar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
