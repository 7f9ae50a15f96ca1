/* SPDX-License-Identifier: MIT
 * A tar, and what reading it gives. */
#ifndef BLURD_TESTS_TAR_READER_FIXTURE_H
#define BLURD_TESTS_TAR_READER_FIXTURE_H

#include <setjmp.h>
#include <stdlib.h>

#include "tests/unit/server/batch/tar_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct tar_test tar;
static struct tar_member member;
static struct error err;

static inline int empty_tar(void **state) {
    (void)state;
    memset(&tar, 0, sizeof tar);
    err = (struct error){0};
    return 0;
}

/* Reads all members without their data: their number, or -1 with the sentence in err. */
static inline int count_members(void) {
    struct tar_reader *reader = tar_test_open(&tar);
    int count = 0;
    bool more;
    while (tar_reader_next(reader, &member, &more, &err) == ST_OK && more) {
        count++;
    }
    assert_false(more);
    struct error again = {0};
    assert_int_equal(tar_reader_next(reader, &member, &more, &again), err.status);
    assert_string_equal(again.text, err.text);
    tar_reader_destroy(reader);
    return err.status == ST_OK ? count : -1;
}

/* Reads a tar of a single member, to its end. */
static inline void read_one(void) {
    bool more;
    struct tar_reader *reader = tar_test_open(&tar);
    struct tar_member end;
    tar_test_zeros(&tar, 1024);
    if (tar_reader_next(reader, &member, &more, &err) != ST_OK) {
        print_error("%s\n", err.text);
    }
    assert_int_equal(err.status, ST_OK);
    assert_true(more);
    assert_int_equal(tar_reader_next(reader, &end, &more, &err), ST_OK);
    assert_false(more);
    tar_reader_destroy(reader);
}

static inline void assert_fails(enum status status, const char *sentence) {
    assert_int_equal(count_members(), -1);
    assert_int_equal(err.status, status);
    assert_string_equal(err.text, sentence);
    empty_tar(NULL);
}

/* The same where only a part of the sentence matters. */
static inline void assert_says(enum status status, const char *part) {
    assert_int_equal(count_members(), -1);
    assert_int_equal(err.status, status);
    if (!strstr(err.text, part)) {
        print_error("\"%s\" is not in: %s\n", part, err.text);
    }
    assert_non_null(strstr(err.text, part));
    empty_tar(NULL);
}

static inline void extended(char flag, const char *records) {
    tar_test_extended(&tar, flag, records, strlen(records));
}

#endif
