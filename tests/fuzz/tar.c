/* SPDX-License-Identifier: MIT
 * Tar streams. The first byte says in pieces of which size they come, how much of the data is read, and
 * whether headers get the checksum that they need. Each member that is read is written and read again, and
 * has to be the same. */
#include "server/batch/tar/tar_reader.h"

#include <stdlib.h>
#include <string.h>

#include "server/batch/tar/tar_writer.h"
#include "tests/fuzz/common/fuzz.h"

enum { COPY_MAX = 64 << 10 }; /* more than an input and the headers of one member */

struct stream {
    const uint8_t *data;
    size_t size, at, piece;
};

static enum status read_stream(void *context, void *to, size_t size, size_t *got, struct error *err) {
    struct stream *stream = context;
    size_t rest = stream->size - stream->at;
    fuzz_require(size > 0, "bytes are asked for");
    *got = rest < size ? rest : size;
    *got = *got < stream->piece ? *got : stream->piece;
    if (*got > 0) {
        memcpy(to, stream->data + stream->at, *got);
    }
    stream->at += *got;
    (void)err;
    return ST_OK;
}

static enum status write_buffer(void *context, const void *data, size_t size, struct error *err) {
    return buf_append(context, data, size, err);
}

static void check_member(const struct tar_member *member) {
    fuzz_require(memchr(member->name, 0, sizeof member->name) && memchr(member->link, 0, sizeof member->link),
                 "names end");
    fuzz_require(memchr(member->user, 0, sizeof member->user) &&
                     memchr(member->group, 0, sizeof member->group),
                 "owners end");
    fuzz_require(member->size <= INT64_MAX && member->uid <= INT64_MAX && member->gid <= INT64_MAX,
                 "numbers are in range");
    fuzz_require(member->mtime_ns < 1000000000 && member->mode <= TAR_MODE_MASK,
                 "times and modes are in range");
    fuzz_require(member->size == 0 || tar_member_has_data(member), "only files have data");
    fuzz_require(!member->link[0] || tar_member_is_link(member), "only links have a target");
}

static void check_same(const struct tar_member *a, const struct tar_member *b) {
    fuzz_require(!strcmp(a->name, b->name) && !strcmp(a->link, b->link), "the names are the same");
    fuzz_require(!strcmp(a->user, b->user) && !strcmp(a->group, b->group), "the owners are the same");
    fuzz_require(a->size == b->size && a->uid == b->uid && a->gid == b->gid && a->mode == b->mode,
                 "the numbers are the same");
    fuzz_require(a->mtime == b->mtime && a->mtime_ns == b->mtime_ns, "the times are the same");
    fuzz_require(a->type == b->type && (a->type != TAR_OTHER || a->flag == b->flag),
                 "the types are the same");
    fuzz_require(a->device_major == b->device_major && a->device_minor == b->device_minor,
                 "the devices are the same");
}

/* Writes the header, and reads it again; the data need not be there for that. */
static void write_and_read(const struct tar_member *member) {
    static struct tar_member again;
    static uint8_t memory[COPY_MAX];
    struct buf copy;
    struct tar_writer writer;
    struct error err = {0};
    bool more;
    buf_init_fixed(&copy, memory, sizeof memory);
    tar_writer_init(&writer, (struct tar_output){write_buffer, &copy});
    fuzz_require(tar_writer_member(&writer, member, &err) == ST_OK, "a member that was read can be written");
    struct stream stream = {copy.data, copy.size, 0, SIZE_MAX};
    struct tar_reader *reader = tar_reader_create((struct tar_input){read_stream, &stream});
    fuzz_require(reader && tar_reader_next(reader, &again, &more, &err) == ST_OK && more,
                 "a member that was written can be read");
    check_same(member, &again);
    fuzz_require(tar_reader_position(reader) == copy.size, "nothing but headers is written");
    tar_reader_destroy(reader);
}

/* Reads a member's data, or a part of them. */
static enum status read_data(struct tar_reader *reader, const struct tar_member *member, size_t piece,
                             struct error *err) {
    uint8_t data[256];
    uint64_t total = 0;
    size_t got = piece;
    enum status status = ST_OK;
    for (unsigned pieces = 0; status == ST_OK && got == piece && (member->size % 3 || pieces < 2); pieces++) {
        status = tar_reader_data(reader, data, piece, &got, err);
        fuzz_require(got <= piece, "no more is read than there is room for");
        total += got;
    }
    fuzz_require(total <= member->size, "a member has no more data than its size");
    fuzz_require(status != ST_OK || got == piece || total == member->size, "and no less");
    return status;
}

static void check_end(struct tar_reader *reader, const struct stream *stream, enum status status,
                      struct error *err) {
    bool more = true, joined = true;
    struct tar_member unused;
    fuzz_require(tar_reader_position(reader) == stream->at, "bytes are counted");
    if (status == ST_OK) {
        fuzz_require(stream->at >= 1024 && stream->at % 512 == 0, "a tar ends with two blocks");
        fuzz_require(tar_reader_end(reader, &joined, err) == ST_OK, "and no failure");
        fuzz_require(joined || stream->at == stream->size, "it is read to its end");
        return;
    }
    fuzz_require(err->status == status && err->text[0], "a failure is explained");
    fuzz_require(tar_reader_next(reader, &unused, &more, err) == status && !more, "and stays");
    fuzz_require(tar_reader_end(reader, &joined, err) == status && !joined, "also at the end");
}

/* An engine does not find checksums by itself. */
static void correct_sums(uint8_t *tar, size_t size) {
    for (uint8_t *block = tar; size - (size_t)(block - tar) >= 512; block += 512) {
        if (memcmp(block + 257, "ustar", 5) == 0) {
            unsigned sum = 0;
            memset(block + 148, ' ', 8);
            for (unsigned i = 0; i < 512; i++) {
                sum += block[i];
            }
            for (unsigned i = 0; i < 6; i++, sum >>= 3) {
                block[148 + 5 - i] = (uint8_t)('0' + (sum & 7));
            }
        }
    }
}

static uint8_t *copy_of(struct bytes input, bool sums) {
    uint8_t *copy = malloc(input.size + 1);
    fuzz_require(copy, "there is memory");
    if (input.size > 0) {
        memcpy(copy, input.data, input.size);
    }
    if (sums) {
        correct_sums(copy, input.size);
    }
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct tar_member member;
    struct bytes input = {data, size};
    uint8_t choice = fuzz_byte(&input);
    uint8_t *tar = copy_of(input, !(choice & 4));
    struct stream stream = {tar, input.size, 0, choice & 1 ? 1u + choice : SIZE_MAX};
    struct tar_reader *reader = tar_reader_create((struct tar_input){read_stream, &stream});
    struct error err = {0};
    bool more = true;
    enum status status = ST_OK;
    fuzz_require(reader, "there is memory");
    while (status == ST_OK && more) {
        status = tar_reader_next(reader, &member, &more, &err);
        if (status == ST_OK && more) {
            check_member(&member);
            write_and_read(&member);
            status = choice & 2 ? ST_OK : read_data(reader, &member, 1u + choice, &err);
        }
    }
    check_end(reader, &stream, status, &err);
    tar_reader_destroy(reader);
    free(tar);
    return 0;
}
