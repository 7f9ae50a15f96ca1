/* SPDX-License-Identifier: MIT
 * Tars in memory, whose headers are written here by hand: not by the code under test. */
#ifndef BLURD_TESTS_TAR_FIXTURE_H
#define BLURD_TESTS_TAR_FIXTURE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "server/batch/tar/tar_reader.h"

enum { TAR_TEST_MAX = 256 << 10 };

/* A tar that is made, and the stream that reads it. */
struct tar_test {
    uint8_t data[TAR_TEST_MAX];
    size_t size, at;
    size_t piece;         /* at most so many bytes for each call; 0: all */
    bool fails;           /* in place of its end */
    size_t largest_asked; /* bytes of one call */
};

static inline enum status tar_test_read(void *context, void *to, size_t size, size_t *got,
                                        struct error *err) {
    struct tar_test *tar = context;
    size_t rest = tar->size - tar->at;
    size_t piece = tar->piece > 0 && tar->piece < size ? tar->piece : size;
    tar->largest_asked = size > tar->largest_asked ? size : tar->largest_asked;
    if (rest == 0 && tar->fails) {
        return fail(err, ST_BUSY, "the disk is on fire");
    }
    *got = rest < piece ? rest : piece;
    memcpy(to, tar->data + tar->at, *got);
    tar->at += *got;
    return ST_OK;
}

static inline enum status tar_test_write(void *context, const void *data, size_t size, struct error *err) {
    struct tar_test *tar = context;
    if (tar->fails) {
        return fail(err, ST_CANCELLED, "the pipe is closed");
    }
    if (size > sizeof tar->data - tar->size) {
        return fail(err, ST_LIMIT, "the test's tar is full");
    }
    memcpy(tar->data + tar->size, data, size);
    tar->size += size;
    return ST_OK;
}

static inline struct tar_reader *tar_test_open(struct tar_test *tar) {
    tar->at = 0;
    return tar_reader_create((struct tar_input){tar_test_read, tar});
}

static inline void tar_test_text(uint8_t *block, size_t at, const char *text) {
    memcpy(block + at, text, strlen(text));
}

/* Writes the checksum of the block, whose bytes count as signed ones or not. */
static inline void tar_test_sum(uint8_t *block, bool as_signed) {
    int sum = 0;
    memset(block + 148, ' ', 8);
    for (int i = 0; i < 512; i++) {
        sum += as_signed ? (int8_t)block[i] : block[i];
    }
    char text[12];
    snprintf(text, sizeof text, "%06o", (unsigned)sum & 0777777u);
    memcpy(block + 148, text, 7);
}

/* Appends a ustar header, which the caller may change and then has to sum again. */
static inline uint8_t *tar_test_header(struct tar_test *tar, char flag, const char *name, unsigned size) {
    uint8_t *block = tar->data + tar->size;
    char text[13];
    memset(block, 0, 512);
    memcpy(block, name, strnlen(name, 100));
    tar_test_text(block, 100, "0000644");
    tar_test_text(block, 108, "0001750");
    tar_test_text(block, 116, "0000144");
    snprintf(text, sizeof text, "%011o", size);
    tar_test_text(block, 124, text);
    tar_test_text(block, 136, "14000000000");
    block[156] = (uint8_t)flag;
    memcpy(block + 257, "ustar\00000", 8);
    tar_test_text(block, 265, "ada");
    tar_test_text(block, 297, "staff");
    tar_test_sum(block, false);
    tar->size += 512;
    return block;
}

/* Appends data and their padding. */
static inline void tar_test_data(struct tar_test *tar, const void *data, size_t size) {
    memcpy(tar->data + tar->size, data, size);
    memset(tar->data + tar->size + size, 0, 512);
    tar->size += (size + 511) / 512 * 512;
}

static inline void tar_test_zeros(struct tar_test *tar, size_t size) {
    memset(tar->data + tar->size, 0, size);
    tar->size += size;
}

/* Appends a file whose data are its name again and again. */
static inline void tar_test_file(struct tar_test *tar, const char *name, unsigned size) {
    uint8_t data[4096];
    for (unsigned i = 0; i < size; i++) {
        data[i] = (uint8_t)name[i % strlen(name)];
    }
    tar_test_header(tar, '0', name, size);
    tar_test_data(tar, data, size);
}

/* Appends an extended header of any kind. */
static inline void tar_test_extended(struct tar_test *tar, char flag, const void *data, size_t size) {
    tar_test_header(tar, flag, "././@Extended", (unsigned)size);
    tar_test_data(tar, data, size);
}

#endif
