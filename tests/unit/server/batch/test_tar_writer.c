/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_writer.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/server/batch/tar_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct tar_test tar;
static struct tar_writer writer;
static struct tar_member member, again;
static struct error err;

static int begin(void **state) {
    (void)state;
    memset(&tar, 0, sizeof tar);
    err = (struct error){0};
    member = (struct tar_member){.name = "a.jpg",
                                 .user = "ada",
                                 .group = "staff",
                                 .uid = 1000,
                                 .gid = 100,
                                 .mtime = 014000000000,
                                 .mode = 0644,
                                 .flag = '0'};
    tar_writer_init(&writer, (struct tar_output){tar_test_write, &tar});
    return 0;
}

static void write_member(void) {
    if (tar_writer_member(&writer, &member, &err) != ST_OK) {
        print_error("%s\n", err.text);
    }
    assert_int_equal(err.status, ST_OK);
}

/* Ends the tar, reads its first member and compares it with the one that was written. */
static void assert_same(void) {
    bool more, joined;
    struct tar_member end;
    assert_int_equal(tar_writer_end(&writer, &err), ST_OK);
    assert_int_equal(tar.size % TAR_RECORD, 0);
    struct tar_reader *reader = tar_test_open(&tar);
    if (tar_reader_next(reader, &again, &more, &err) != ST_OK) {
        print_error("%s\n", err.text);
    }
    assert_true(more);
    assert_string_equal(again.name, member.name);
    assert_string_equal(again.link, member.link);
    assert_string_equal(again.user, member.user);
    assert_string_equal(again.group, member.group);
    assert_true(again.size == member.size && again.uid == member.uid && again.gid == member.gid);
    assert_true(again.mtime == member.mtime && again.mtime_ns == member.mtime_ns);
    assert_int_equal(again.mode, member.mode);
    assert_int_equal(again.type, member.type);
    assert_int_equal(again.device_major, member.device_major);
    assert_int_equal(again.device_minor, member.device_minor);
    if (member.size <= TAR_TEST_MAX) {
        assert_int_equal(tar_reader_next(reader, &end, &more, &err), ST_OK);
        assert_false(more);
        assert_int_equal(tar_reader_end(reader, &joined, &err), ST_OK);
        assert_false(joined);
    }
    tar_reader_destroy(reader);
}

/* Writes the member and looks for a pax header, whose records it compares. */
static void assert_records(const char *records) {
    write_member();
    assert_int_equal(tar.data[156], records ? 'x' : '0');
    if (records) {
        assert_string_equal((const char *)tar.data + 512, records);
    }
    assert_same();
    begin(NULL);
}

static void test_bytes_of_a_header(void **state) {
    (void)state;
    static struct tar_test expected;
    tar_test_header(&expected, '0', "a.jpg", 3);
    tar_test_text(expected.data, 329, "0000000");
    tar_test_text(expected.data, 337, "0000000");
    tar_test_sum(expected.data, false);
    tar_test_data(&expected, "abc", 3);
    member.size = 3;
    write_member();
    assert_int_equal(tar_writer_data(&writer, "ab", 2, &err), ST_OK);
    assert_int_equal(tar_writer_data(&writer, "", 0, &err), ST_OK);
    assert_int_equal(tar_writer_data(&writer, "c", 1, &err), ST_OK);
    expected.data[155] = tar.data[155]; /* the last byte of the checksum: a space or a zero */
    assert_int_equal(tar.size, expected.size);
    assert_memory_equal(tar.data, expected.data, tar.size);
    assert_same();
}

static void fill_name(char *name, size_t size, char with) {
    memset(name, with, size);
    name[size] = '\0';
}

static void test_names_that_fit(void **state) {
    (void)state;
    fill_name(member.name, 100, 'n');
    assert_records(NULL);
    fill_name(member.name, 256, 'n');
    member.name[155] = '/';
    assert_records(NULL);
    fill_name(member.name, 256, '/');
    member.name[0] = 'p';
    assert_records(NULL);
    fill_name(member.name, 110, 'd');
    member.name[20] = member.name[109] = '/'; /* the last one is no place to cut */
    assert_records(NULL);
    memcpy(member.name, "\xff\xc3", 3);
    assert_records(NULL);
}

/* Each has a pax header, whose contents the way back shows. */
static void test_names_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        size_t size, slash;
    } names[] = {{101, 0},   {257, 155},        {257, 156},         {256, 154},
                 {102, 101}, {TAR_NAME_MAX, 0}, {TAR_NAME_MAX, 100}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fill_name(member.name, names[i].size, 'n');
        member.name[names[i].slash] = '/';
        write_member();
        assert_int_equal(tar.data[156], 'x');
        assert_same();
        begin(NULL);
    }
    fill_name(member.name, TAR_NAME_MAX, 'n');
    fill_name(member.link, TAR_NAME_MAX, 'l');
    fill_name(member.user, TAR_OWNER_MAX, 'u');
    fill_name(member.group, TAR_OWNER_MAX, 'g');
    member.link[0] = '\xff';
    member.mtime = INT64_MIN;
    member.mtime_ns = 1;
    member.uid = member.gid = INT64_MAX;
    member.type = TAR_SYMBOLIC_LINK;
    write_member();
    assert_same();
}

static void test_records(void **state) {
    (void)state;
    member.mtime_ns = 5;
    assert_records("30 mtime=1610612736.000000005\n");
    member.mtime = -2;
    member.mtime_ns = 750000000;
    assert_records("22 mtime=-1.250000000\n");
    member.mtime = INT64_C(8589934592);
    assert_records("20 mtime=8589934592\n");
    member.mtime--;
    assert_records(NULL);
    member.uid = 2097151;
    assert_records(NULL);
    member.uid = 2097152;
    assert_records("15 uid=2097152\n");
    member.gid = INT64_MAX;
    assert_records("27 gid=9223372036854775807\n");
    fill_name(member.user, 31, 'u');
    assert_records(NULL);
    fill_name(member.user, 32, 'u');
    assert_records("42 uname=uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\n");
    memset(member.group, '\xff', 32);
    assert_records(
        "21 hdrcharset=BINARY\n42 gname=\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\n");
}

/* A record's length counts its own digits, whose number changes at 100 and 1000. */
static void test_lengths_of_records(void **state) {
    (void)state;
    for (size_t size = 101; size < 1100; size++) {
        fill_name(member.name, size, 'n');
        write_member();
        const char *block = (const char *)tar.data;
        assert_int_equal(strtoul(block + 512, NULL, 10), strtoul(block + 124, NULL, 8));
        assert_same();
        begin(NULL);
    }
}

static void test_large_sizes(void **state) {
    (void)state;
    static const uint64_t sizes[] = {077777777777, 0100000000000, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool more;
        member.size = sizes[i];
        write_member();
        assert_int_equal(tar.data[156], i == 0 ? '0' : 'x');
        struct tar_reader *reader = tar_test_open(&tar);
        assert_int_equal(tar_reader_next(reader, &again, &more, &err), ST_OK);
        assert_true(again.size == sizes[i]);
        tar_reader_destroy(reader);
        begin(NULL);
    }
}

static void test_types(void **state) {
    (void)state;
    static const char flags[] = "0125346";
    static const enum tar_type types[] = {TAR_FILE,  TAR_HARD_LINK, TAR_SYMBOLIC_LINK, TAR_DIRECTORY,
                                          TAR_OTHER, TAR_OTHER,     TAR_OTHER};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        member.type = types[i];
        member.flag = types[i] == TAR_OTHER ? flags[i] : 'x';
        memcpy(member.link, "target", tar_member_is_link(&member) ? 7 : 0);
        member.device_major = tar_member_is_device(&member) ? UINT32_MAX : 0;
        member.device_minor = tar_member_is_device(&member) ? 07777777 : 0;
        write_member();
        assert_int_equal(tar.data[156], flags[i]);
        assert_same();
        begin(NULL);
    }
    member.type = TAR_DIRECTORY;
    member.size = 4096; /* a folder's own, without data */
    write_member();
    member.size = 0;
    assert_same();
}

static void test_other_types_keep_their_data(void **state) {
    (void)state;
    member.type = TAR_OTHER;
    member.flag = 'A';
    member.size = 5;
    write_member();
    assert_int_equal(tar_writer_data(&writer, "12345", 5, &err), ST_OK);
    assert_same();
    assert_int_equal(again.flag, 'A');
}

static void test_mistakes_of_callers(void **state) {
    (void)state;
    member.size = 5;
    write_member();
    size_t written = tar.size;
    assert_int_equal(tar_writer_data(&writer, "123456", 6, &err), ST_INTERNAL);
    assert_int_equal(tar_writer_data(&writer, "1234", 4, &err), ST_OK);
    assert_int_equal(tar_writer_member(&writer, &member, &err), ST_INTERNAL);
    assert_string_equal(err.text, "1 bytes of a tar member are missing");
    assert_int_equal(tar_writer_end(&writer, &err), ST_INTERNAL);
    assert_int_equal(tar.size, written + 4);
    begin(NULL);
    assert_int_equal(tar_writer_data(&writer, "1", 1, &err), ST_INTERNAL);
    member.mtime_ns = 1000000000;
    assert_int_equal(tar_writer_member(&writer, &member, &err), ST_INTERNAL);
    member.mtime_ns = 0;
    member.size = UINT64_MAX;
    assert_int_equal(tar_writer_member(&writer, &member, &err), ST_INTERNAL);
    assert_int_equal(tar.size, 0);
}

static void test_sizes_of_tars(void **state) {
    (void)state;
    for (unsigned members = 0; members < 45; members++) {
        begin(NULL);
        for (unsigned i = 0; i < members; i++) {
            write_member();
        }
        assert_int_equal(tar_writer_end(&writer, &err), ST_OK);
        size_t blocks = members + 2;
        assert_int_equal(tar.size, (blocks + 19) / 20 * TAR_RECORD);
    }
}

static void test_failing_output(void **state) {
    (void)state;
    member.size = 1;
    tar.fails = true;
    assert_int_equal(tar_writer_member(&writer, &member, &err), ST_CANCELLED);
    member.mtime_ns = 1;
    assert_int_equal(tar_writer_member(&writer, &member, &err), ST_CANCELLED);
    assert_int_equal(tar_writer_end(&writer, &err), ST_CANCELLED);
    assert_string_equal(err.text, "the pipe is closed");
    begin(NULL);
    member.size = 1;
    write_member();
    tar.fails = true;
    assert_int_equal(tar_writer_data(&writer, "1", 1, &err), ST_CANCELLED);
    int nowhere = -1;
    assert_int_equal(tar_stream_write(&nowhere, "1", 1, &err), ST_BUSY);
    assert_string_equal(err.text, "the tar cannot be written: Bad file descriptor");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_bytes_of_a_header, begin),
        cmocka_unit_test_setup(test_names_that_fit, begin),
        cmocka_unit_test_setup(test_names_that_do_not_fit, begin),
        cmocka_unit_test_setup(test_records, begin),
        cmocka_unit_test_setup(test_lengths_of_records, begin),
        cmocka_unit_test_setup(test_large_sizes, begin),
        cmocka_unit_test_setup(test_types, begin),
        cmocka_unit_test_setup(test_other_types_keep_their_data, begin),
        cmocka_unit_test_setup(test_mistakes_of_callers, begin),
        cmocka_unit_test_setup(test_sizes_of_tars, begin),
        cmocka_unit_test_setup(test_failing_output, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
