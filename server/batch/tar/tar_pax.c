/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_pax.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "core/json/utf8.h"
#include "server/batch/tar/tar_number.h"

enum pax_value { TEXT, NUMBER, TIME };

struct key {
    const char *name;
    enum pax_value kind;
    size_t at, maximum; /* where in struct tar_member, and bytes of a text without its zero */
};

static const struct key keys[TAR_FIELD_COUNT] = {
    [TAR_FIELD_NAME] = {"path", TEXT, offsetof(struct tar_member, name), TAR_NAME_MAX},
    [TAR_FIELD_LINK] = {"linkpath", TEXT, offsetof(struct tar_member, link), TAR_NAME_MAX},
    [TAR_FIELD_SIZE] = {"size", NUMBER, offsetof(struct tar_member, size), 0},
    [TAR_FIELD_MTIME] = {"mtime", TIME, 0, 0},
    [TAR_FIELD_UID] = {"uid", NUMBER, offsetof(struct tar_member, uid), 0},
    [TAR_FIELD_GID] = {"gid", NUMBER, offsetof(struct tar_member, gid), 0},
    [TAR_FIELD_USER] = {"uname", TEXT, offsetof(struct tar_member, user), TAR_OWNER_MAX},
    [TAR_FIELD_GROUP] = {"gname", TEXT, offsetof(struct tar_member, group), TAR_OWNER_MAX},
};

static const char sparse_keys[] = "GNU.sparse.";
static const char sparse_name[] = "GNU.sparse.name"; /* "path" has a made-up one then */

static char *field_of(struct tar_member *member, const struct key *key) {
    return (char *)member + key->at;
}

static const char *field_in(const struct tar_member *member, const struct key *key) {
    return (const char *)member + key->at;
}

static enum status read_text(char *to, const struct key *key, struct bytes value, uint64_t position,
                             struct error *err) {
    if (memchr(value.data, '\0', value.size)) {
        return fail(err, ST_CORRUPT, "the extended tar header at byte %" PRIu64 " has a zero byte in %s",
                    position, key->name);
    }
    if (value.size > key->maximum) {
        return fail(err, ST_LIMIT,
                    "the extended tar header at byte %" PRIu64 " has a %s of %zu bytes; the limit is %zu",
                    position, key->name, value.size, key->maximum);
    }
    memcpy(to, value.data, value.size);
    to[value.size] = '\0';
    return ST_OK;
}

static enum status read_value(struct tar_pax *pax, enum tar_field field, struct bytes value,
                              uint64_t position, struct error *err) {
    const struct key *key = &keys[field];
    struct tar_member *to = &pax->value;
    enum status status = ST_OK;
    if (value.size == 0) {
        pax->stated &= ~(1u << field);
        pax->taken_back |= 1u << field;
        return ST_OK;
    }
    if (key->kind == TEXT) {
        status = read_text(field_of(to, key), key, value, position, err);
    } else if (key->kind == TIME ? !tar_number_time(value, &to->mtime, &to->mtime_ns)
                                 : !tar_number_decimal(value, (uint64_t *)(void *)field_of(to, key))) {
        status =
            fail(err, ST_CORRUPT, "the extended tar header at byte %" PRIu64 " has a %s that it cannot have",
                 position, key->name);
    }
    pax->stated |= 1u << field;
    pax->taken_back &= ~(1u << field);
    return status;
}

static bool is_key(struct bytes key, const char *name) {
    return key.size == strlen(name) && memcmp(key.data, name, key.size) == 0;
}

static enum status read_record(struct tar_pax *pax, struct bytes key, struct bytes value, uint64_t position,
                               struct error *err) {
    if (key.size >= sizeof sparse_keys - 1 && memcmp(key.data, sparse_keys, sizeof sparse_keys - 1) == 0) {
        pax->is_sparse = true;
        return is_key(key, sparse_name) ? read_value(pax, TAR_FIELD_NAME, value, position, err) : ST_OK;
    }
    for (unsigned field = 0; field < TAR_FIELD_COUNT; field++) {
        if (is_key(key, keys[field].name)) {
            return read_value(pax, field, value, position, err);
        }
    }
    return ST_OK;
}

/* Cuts the next record, "LENGTH KEY=VALUE\n", off the front; its length counts all of it. */
static bool take_record(struct bytes *rest, struct bytes *key, struct bytes *value) {
    const uint8_t *space = memchr(rest->data, ' ', rest->size);
    uint64_t size;
    if (!space || !tar_number_decimal((struct bytes){rest->data, (size_t)(space - rest->data)}, &size) ||
        size > rest->size) {
        return false;
    }
    const uint8_t *end = rest->data + size;
    if (end <= space + 1 || end[-1] != '\n') {
        return false;
    }
    const uint8_t *sign = memchr(space + 1, '=', (size_t)(end - space) - 1);
    if (!sign || sign == space + 1) {
        return false;
    }
    *key = (struct bytes){space + 1, (size_t)(sign - space) - 1};
    *value = (struct bytes){sign + 1, (size_t)(end - sign) - 2};
    *rest = (struct bytes){end, rest->size - (size_t)size};
    return true;
}

enum status tar_pax_read(struct tar_pax *pax, struct bytes records, uint64_t position, struct error *err) {
    for (struct bytes rest = records; rest.size > 0;) {
        struct bytes key, value;
        uint64_t at = position + (records.size - rest.size);
        if (!take_record(&rest, &key, &value)) {
            return fail(err, ST_CORRUPT, "the extended tar header has a malformed record at byte %" PRIu64,
                        at);
        }
        enum status status = read_record(pax, key, value, position, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return ST_OK;
}

enum status tar_pax_long_name(struct tar_pax *pax, enum tar_field field, struct bytes name, uint64_t position,
                              struct error *err) {
    while (name.size > 0 && name.data[name.size - 1] == '\0') {
        name.size--;
    }
    return read_value(pax, field, name, position, err);
}

static void copy_field(struct tar_member *to, const struct tar_member *from, unsigned field) {
    const struct key *key = &keys[field];
    if (key->kind == TIME) {
        to->mtime = from->mtime;
        to->mtime_ns = from->mtime_ns;
    } else {
        memcpy(field_of(to, key), field_in(from, key),
               key->kind == TEXT ? key->maximum + 1 : sizeof to->size);
    }
}

void tar_pax_apply(const struct tar_pax *own, const struct tar_pax *global, struct tar_member *member) {
    for (unsigned field = 0; field < TAR_FIELD_COUNT; field++) {
        unsigned bit = 1u << field;
        if (own->stated & bit) {
            copy_field(member, &own->value, field);
        } else if (global->stated & ~own->taken_back & bit) {
            copy_field(member, &global->value, field);
        }
    }
}

/* A record's length counts its own digits. */
static enum status write_record(struct buf *records, const char *key, const char *value, struct error *err) {
    size_t rest = strlen(key) + strlen(value) + sizeof " =\n" - 1, size = rest + 1;
    for (size_t limit = 10; size >= limit; limit *= 10) {
        size++;
    }
    return buf_printf(records, err, "%zu %s=%s\n", size, key, value);
}

static enum status write_field(struct buf *records, const struct key *key, const struct tar_member *member,
                               struct error *err) {
    char text[TAR_NUMBER_TIME_SIZE];
    if (key->kind == TEXT) {
        return write_record(records, key->name, field_in(member, key), err);
    }
    if (key->kind == TIME) {
        tar_number_print_time(text, member->mtime, member->mtime_ns);
    } else {
        uint64_t value;
        memcpy(&value, field_in(member, key), sizeof value);
        snprintf(text, sizeof text, "%" PRIu64, value);
    }
    return write_record(records, key->name, text, err);
}

/* pax means UTF-8 unless a record says otherwise. */
static enum status write_charset(struct buf *records, const struct tar_member *member, unsigned fields,
                                 struct error *err) {
    for (unsigned field = 0; field < TAR_FIELD_COUNT; field++) {
        const struct key *key = &keys[field];
        if (fields & 1u << field && key->kind == TEXT && !utf8_is_valid(field_in(member, key))) {
            return write_record(records, "hdrcharset", "BINARY", err);
        }
    }
    return ST_OK;
}

enum status tar_pax_write(struct buf *records, const struct tar_member *member, unsigned fields,
                          struct error *err) {
    enum status status = write_charset(records, member, fields, err);
    for (unsigned field = 0; status == ST_OK && field < TAR_FIELD_COUNT; field++) {
        if (fields & 1u << field) {
            status = write_field(records, &keys[field], member, err);
        }
    }
    return status;
}
