/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/json/json.h"
#include "core/numbers.h"
#include "server/batch/tar/tar_header.h"
#include "server/batch/tar/tar_pax.h"

enum { SCRATCH = 16 << 10, QUOTED_MAX = 128 };

struct tar_reader {
    struct tar_input input;
    struct error broken; /* the first failure */
    uint64_t position;   /* bytes read */
    uint64_t left;       /* of the current member's data */
    uint64_t size;       /* all of them */
    size_t padding;      /* behind them */
    bool ended;          /* the two blocks of zeros are read */
    bool is_extended;    /* the last header was an extended one of the next member */
    struct buf extended; /* the records that were read last */
    struct tar_pax own, global;
    char name[QUOTED_MAX]; /* of the current member, for sentences; "" before the first one */
};

struct tar_reader *tar_reader_create(struct tar_input input) {
    struct tar_reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->input = input;
        buf_init(&reader->extended, TAR_EXTENDED_MAX);
    }
    return reader;
}

void tar_reader_destroy(struct tar_reader *reader) {
    if (reader) {
        buf_finish(&reader->extended);
        free(reader);
    }
}

uint64_t tar_reader_position(const struct tar_reader *reader) {
    return reader->position;
}

/* Fills `to`; *got is less than `size` only at the end of the input. */
static enum status fill(struct tar_reader *reader, void *to, size_t size, size_t *got) {
    size_t count = 1;
    for (*got = 0; *got < size && count > 0; *got += count) {
        enum status status = reader->input.read(reader->input.context, (uint8_t *)to + *got, size - *got,
                                                &count, &reader->broken);
        if (status != ST_OK) {
            return status;
        }
        reader->position += count;
    }
    return ST_OK;
}

/* "after "a.jpg"" for sentences. */
struct place {
    char text[QUOTED_MAX + 32];
};

static struct place place_of(const struct tar_reader *reader) {
    struct place place;
    snprintf(place.text, sizeof place.text, "%s%s", reader->name[0] ? "after " : "before the first member",
             reader->name);
    return place;
}

static enum status fail_cut(struct tar_reader *reader, const char *where) {
    return fail(&reader->broken, ST_CORRUPT, "the tar is cut: it ends at byte %" PRIu64 " %s, %s",
                reader->position, where, place_of(reader).text);
}

/* The same as fill, where an end of the input is a cut. */
static enum status fill_all(struct tar_reader *reader, void *to, size_t size, const char *where) {
    size_t got;
    enum status status = fill(reader, to, size, &got);
    return status == ST_OK && got < size ? fail_cut(reader, where) : status;
}

static enum status read_data(struct tar_reader *reader, void *to, size_t size, size_t *got) {
    size_t wanted = reader->left < size ? (size_t)reader->left : size;
    enum status status = fill(reader, to, wanted, got);
    reader->left -= *got;
    if (status == ST_OK && *got < wanted) {
        return fail(&reader->broken, ST_CORRUPT,
                    "the tar is cut: it ends at byte %" PRIu64 " in the data of %s, of which it has %" PRIu64
                    " of %" PRIu64 " bytes",
                    reader->position, reader->name, reader->size - reader->left, reader->size);
    }
    return status;
}

static enum status skip_data(struct tar_reader *reader) {
    uint8_t scratch[SCRATCH];
    enum status status = ST_OK;
    while (status == ST_OK && reader->left > 0) {
        size_t got;
        status = read_data(reader, scratch, sizeof scratch, &got);
    }
    if (status == ST_OK) {
        status = fill_all(reader, scratch, reader->padding, "in the padding of the last member's data");
        reader->padding = 0;
    }
    return status;
}

/* The second block of zeros has to follow the first one. */
static enum status read_last_block(struct tar_reader *reader) {
    uint8_t block[TAR_BLOCK];
    uint64_t position = reader->position;
    if (reader->is_extended) {
        return fail(&reader->broken, ST_CORRUPT,
                    "the extended tar header before byte %" PRIu64 " is followed by no member, %s",
                    position - TAR_BLOCK, place_of(reader).text);
    }
    enum status status = fill_all(reader, block, sizeof block, "within the two blocks of zeros at its end");
    if (status == ST_OK && !tar_header_is_zero(block)) {
        return fail(&reader->broken, ST_CORRUPT,
                    "the tar has a single block of zeros before byte %" PRIu64
                    ", where it should end with two, %s",
                    position, place_of(reader).text);
    }
    reader->ended = status == ST_OK;
    return status;
}

static enum status fail_unsound(struct tar_reader *reader) {
    uint64_t position = reader->position - TAR_BLOCK;
    return position == 0
               ? fail(&reader->broken, ST_CORRUPT,
                      "the input is no tar: its first block is no header; a compressed tar must be "
                      "decompressed")
               : fail(&reader->broken, ST_CORRUPT,
                      "the tar is damaged: the block at byte %" PRIu64 " is no header, by its checksum, %s",
                      position, place_of(reader).text);
}

/* Reads a block that is a header or zero. */
static enum status read_block(struct tar_reader *reader, uint8_t block[TAR_BLOCK]) {
    size_t got;
    enum status status = fill(reader, block, TAR_BLOCK, &got);
    if (status != ST_OK) {
        return status;
    }
    if (reader->position == 0) {
        return fail(&reader->broken, ST_CORRUPT,
                    "the input is empty: even a tar without members has 1024 bytes");
    }
    if (got == 0) {
        return fail_cut(reader, reader->is_extended ? "between an extended header and its member"
                                                    : "without the two blocks of zeros at its end");
    }
    if (got < TAR_BLOCK) {
        return fail_cut(reader, "in a header");
    }
    return tar_header_is_zero(block) || tar_header_is_sound(block) ? ST_OK : fail_unsound(reader);
}

static bool is_extended_flag(char flag) {
    return flag != '\0' && strchr((const char[]){TAR_FLAG_EXTENDED, TAR_FLAG_SUN_EXTENDED, TAR_FLAG_GLOBAL,
                                                 TAR_FLAG_LONG_NAME, TAR_FLAG_LONG_LINK, '\0'},
                                  flag);
}

static enum status take_extended(struct tar_reader *reader, char flag, uint64_t position) {
    struct bytes records = buf_bytes(&reader->extended);
    switch (flag) {
    case TAR_FLAG_LONG_NAME:
        return tar_pax_long_name(&reader->own, TAR_FIELD_NAME, records, position, &reader->broken);
    case TAR_FLAG_LONG_LINK:
        return tar_pax_long_name(&reader->own, TAR_FIELD_LINK, records, position, &reader->broken);
    case TAR_FLAG_GLOBAL:
        return tar_pax_read(&reader->global, records, position, &reader->broken);
    default:
        return tar_pax_read(&reader->own, records, position, &reader->broken);
    }
}

/* Reads the data of an extended header, whose size is checked before memory is taken. */
static enum status read_extended(struct tar_reader *reader, char flag, uint64_t size) {
    static const char where[] = "in an extended header";
    uint8_t padding[TAR_BLOCK];
    uint64_t position = reader->position;
    struct buf *extended = &reader->extended;
    if (size > TAR_EXTENDED_MAX) {
        return fail(&reader->broken, ST_LIMIT,
                    "the extended tar header at byte %" PRIu64 " has %" PRIu64 " bytes, %s; the limit is %d",
                    position - TAR_BLOCK, size, place_of(reader).text, TAR_EXTENDED_MAX);
    }
    extended->size = 0;
    enum status status = buf_reserve(extended, (size_t)size, &reader->broken);
    if (status == ST_OK) {
        status = fill_all(reader, extended->data, (size_t)size, where);
    }
    if (status == ST_OK) {
        extended->size = (size_t)size;
        status = fill_all(reader, padding, tar_header_padding(size), where);
    }
    if (status == ST_OK) {
        reader->is_extended |= flag != TAR_FLAG_GLOBAL; /* a global one needs no member */
        status = take_extended(reader, flag, position);
    }
    return status;
}

/* Settles what depends on several headers. */
static void settle(struct tar_reader *reader, struct tar_member *member) {
    tar_pax_apply(&reader->own, &reader->global, member);
    size_t length = strlen(member->name);
    if (member->flag == TAR_FLAG_OLD_FILE && member->size == 0 && length > 0 &&
        member->name[length - 1] == '/') {
        member->type = TAR_DIRECTORY; /* as V7 writes them */
    }
    if (!tar_member_is_link(member)) {
        member->link[0] = '\0';
    }
    member->size = tar_member_has_data(member) ? member->size : 0;
    json_string(reader->name, sizeof reader->name, member->name);
    reader->left = reader->size = member->size;
    reader->padding = tar_header_padding(member->size);
    reader->is_extended = false;
}

static enum status refuse_parts(struct tar_reader *reader, const struct tar_member *member) {
    if (member->flag == TAR_FLAG_SPARSE || reader->own.is_sparse || reader->global.is_sparse) {
        return fail(&reader->broken, ST_UNSUPPORTED,
                    "the tar has %s as a sparse file, which is not supported: make the tar without --sparse",
                    reader->name);
    }
    if (member->flag == TAR_FLAG_CONTINUED) {
        return fail(&reader->broken, ST_UNSUPPORTED,
                    "the tar continues %s, which began in another volume: join the volumes", reader->name);
    }
    return ST_OK;
}

static enum status read_next(struct tar_reader *reader, struct tar_member *member, bool *more) {
    uint8_t block[TAR_BLOCK];
    enum status status = skip_data(reader);
    reader->own.stated = reader->own.taken_back = 0;
    reader->own.is_sparse = false;
    while (status == ST_OK) {
        status = read_block(reader, block);
        if (status == ST_OK && tar_header_is_zero(block)) {
            return read_last_block(reader);
        }
        if (status == ST_OK) {
            status = tar_header_read(block, reader->position - TAR_BLOCK, member, &reader->broken);
        }
        if (status == ST_OK && !is_extended_flag(member->flag)) {
            settle(reader, member);
            status = refuse_parts(reader, member);
            *more = status == ST_OK;
            return status;
        }
        if (status == ST_OK) {
            status = read_extended(reader, member->flag, member->size);
        }
    }
    return status;
}

/* Remembers the first failure, and tells it. */
static enum status finish_call(struct tar_reader *reader, enum status status, struct error *err) {
    reader->broken.status = status;
    if (status != ST_OK && err) {
        *err = reader->broken;
    }
    return status;
}

enum status tar_reader_next(struct tar_reader *reader, struct tar_member *member, bool *more,
                            struct error *err) {
    *more = false;
    enum status status = reader->broken.status;
    if (status == ST_OK && !reader->ended) {
        status = read_next(reader, member, more);
    }
    return finish_call(reader, status, err);
}

enum status tar_reader_data(struct tar_reader *reader, void *to, size_t size, size_t *got,
                            struct error *err) {
    *got = 0;
    enum status status = reader->broken.status;
    if (status == ST_OK) {
        status = read_data(reader, to, size, got);
    }
    return finish_call(reader, status, err);
}

static enum status read_rest(struct tar_reader *reader, bool *joined) {
    uint8_t scratch[SCRATCH];
    enum status status = ST_OK;
    for (size_t got = 1; status == ST_OK && got > 0 && !*joined;) {
        status = fill(reader, scratch, sizeof scratch, &got);
        for (size_t i = 0; i < got && !*joined; i++) {
            *joined = scratch[i] != 0;
        }
    }
    return status;
}

enum status tar_reader_end(struct tar_reader *reader, bool *joined, struct error *err) {
    *joined = false;
    enum status status = reader->broken.status;
    if (status == ST_OK && !reader->ended) {
        status = fail(&reader->broken, ST_INTERNAL, "the tar's end is asked for before its last member");
    }
    if (status == ST_OK) {
        status = read_rest(reader, joined);
    }
    return finish_call(reader, status, err);
}
