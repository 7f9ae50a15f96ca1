/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_header.h"

#include <inttypes.h>
#include <string.h>

#include "core/json/json.h"
#include "core/numbers.h"
#include "server/batch/tar/tar_number.h"

/* The places of the fields (POSIX.1-2017, pax, "ustar Interchange Format"). */
enum {
    NAME_SIZE = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    ID_SIZE = 8,
    SIZE = 124,
    MTIME = 136,
    LONG_SIZE = 12,
    CHECKSUM = 148,
    CHECKSUM_SIZE = 8,
    FLAG = 156,
    LINK = 157,
    MAGIC = 257,
    USER = 265,
    GROUP = 297,
    OWNER_SIZE = 32,
    DEVICE_MAJOR = 329,
    DEVICE_MINOR = 337,
    PREFIX = 345,
    PREFIX_SIZE = 155,
};

static const char magic_ustar[] = "ustar";         /* a zero byte and a version follow */
static const char magic_gnu[] = "ustar  ";         /* its zero byte counts */
static const char magic_written[] = "ustar\00000"; /* version 00 */

bool tar_header_is_zero(const uint8_t block[TAR_BLOCK]) {
    static const uint8_t zeros[TAR_BLOCK];
    return memcmp(block, zeros, TAR_BLOCK) == 0;
}

/* The sums of all bytes, those of the checksum itself as spaces. */
static void sum_up(const uint8_t block[TAR_BLOCK], int64_t *of_unsigned, int64_t *of_signed) {
    *of_unsigned = *of_signed = CHECKSUM_SIZE * ' ';
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        if (i < CHECKSUM || i >= CHECKSUM + CHECKSUM_SIZE) {
            *of_unsigned += block[i];
            *of_signed += (int8_t)block[i];
        }
    }
}

bool tar_header_is_sound(const uint8_t block[TAR_BLOCK]) {
    int64_t stated, of_unsigned, of_signed;
    sum_up(block, &of_unsigned, &of_signed);
    return tar_number_read(block + CHECKSUM, CHECKSUM_SIZE, &stated) &&
           (stated == of_unsigned || stated == of_signed);
}

/* Copies a field that ends at a zero byte or is full. */
static size_t copy_text(char *to, const uint8_t *field, size_t size) {
    size_t length = strnlen((const char *)field, size);
    memcpy(to, field, length);
    to[length] = '\0';
    return length;
}

/* The name, with ustar's prefix in front. GNU tar has times in the prefix's place, V7 has nothing. */
static void read_name(const uint8_t block[TAR_BLOCK], bool prefixed, struct tar_member *member) {
    size_t used = prefixed ? copy_text(member->name, block + PREFIX, PREFIX_SIZE) : 0;
    if (used > 0) {
        member->name[used++] = '/';
    }
    copy_text(member->name + used, block, NAME_SIZE);
}

/* The owner's names and devices, which V7 does not have. */
static void read_owner(const uint8_t block[TAR_BLOCK], struct tar_member *member) {
    copy_text(member->user, block + USER, OWNER_SIZE);
    copy_text(member->group, block + GROUP, OWNER_SIZE);
}

struct number {
    const char *what;
    size_t at, size;
    int64_t least, most;
};

enum { N_MODE, N_UID, N_GID, N_SIZE, N_MTIME, N_MAJOR, N_MINOR, N_COUNT };

static const struct number numbers[N_COUNT] = {
    [N_MODE] = {"mode", MODE, ID_SIZE, 0, INT64_MAX},
    [N_UID] = {"uid", UID, ID_SIZE, 0, INT64_MAX},
    [N_GID] = {"gid", GID, ID_SIZE, 0, INT64_MAX},
    [N_SIZE] = {"size", SIZE, LONG_SIZE, 0, INT64_MAX},
    [N_MTIME] = {"time", MTIME, LONG_SIZE, INT64_MIN, INT64_MAX},
    [N_MAJOR] = {"device", DEVICE_MAJOR, ID_SIZE, 0, UINT32_MAX},
    [N_MINOR] = {"device", DEVICE_MINOR, ID_SIZE, 0, UINT32_MAX},
};

/* Only devices have the numbers of devices; elsewhere some programs leave other bytes there. */
static enum status read_numbers(const uint8_t block[TAR_BLOCK], bool device, uint64_t position,
                                int64_t *value, struct error *err) {
    for (unsigned i = 0; i < (device ? N_COUNT : N_MAJOR); i++) {
        const struct number *number = &numbers[i];
        if (!tar_number_read(block + number->at, number->size, &value[i]) || value[i] < number->least ||
            value[i] > number->most) {
            char name[NAME_SIZE + 1], quoted[NAME_SIZE];
            copy_text(name, block, NAME_SIZE);
            json_string(quoted, sizeof quoted, name);
            return fail(err, ST_CORRUPT,
                        "the tar header at byte %" PRIu64 ", of %s, has a %s that it cannot have", position,
                        quoted, number->what);
        }
    }
    return ST_OK;
}

static enum tar_type type_of(char flag) {
    switch (flag) {
    case TAR_FLAG_OLD_FILE:
    case TAR_FLAG_FILE:
    case TAR_FLAG_CONTIGUOUS:
        return TAR_FILE;
    case TAR_FLAG_DIRECTORY:
        return TAR_DIRECTORY;
    case TAR_FLAG_SYMBOLIC_LINK:
        return TAR_SYMBOLIC_LINK;
    case TAR_FLAG_HARD_LINK:
        return TAR_HARD_LINK;
    default:
        return TAR_OTHER;
    }
}

enum status tar_header_read(const uint8_t block[TAR_BLOCK], uint64_t position, struct tar_member *member,
                            struct error *err) {
    bool is_ustar = memcmp(block + MAGIC, magic_ustar, sizeof magic_ustar - 1) == 0;
    bool is_gnu = memcmp(block + MAGIC, magic_gnu, sizeof magic_gnu) == 0;
    int64_t value[N_COUNT] = {0};
    *member = (struct tar_member){.flag = (char)block[FLAG], .type = type_of((char)block[FLAG])};
    enum status status = read_numbers(block, is_ustar && tar_member_is_device(member), position, value, err);
    if (status != ST_OK) {
        return status;
    }
    member->mode = (uint32_t)value[N_MODE] & TAR_MODE_MASK;
    member->uid = (uint64_t)value[N_UID];
    member->gid = (uint64_t)value[N_GID];
    member->size = (uint64_t)value[N_SIZE];
    member->mtime = value[N_MTIME];
    member->device_major = (uint32_t)value[N_MAJOR];
    member->device_minor = (uint32_t)value[N_MINOR];
    read_name(block, is_ustar && !is_gnu, member);
    copy_text(member->link, block + LINK, NAME_SIZE);
    if (is_ustar) {
        read_owner(block, member);
    }
    return ST_OK;
}

/* Where to cut a name, so that the prefix is in front of that slash and the name behind it; 0 where there is
 * no such slash. Neither part may be empty. */
static size_t find_cut(const char *name, size_t size) {
    for (size_t at = min_size(size, PREFIX_SIZE + 1); at-- > 1;) {
        if (name[at] == '/' && size - at - 1 > 0) {
            return size - at - 1 <= NAME_SIZE ? at : 0;
        }
    }
    return 0;
}

static bool write_name(uint8_t block[TAR_BLOCK], const char *name) {
    size_t size = strlen(name), cut = size > NAME_SIZE ? find_cut(name, size) : 0;
    if (cut > 0) {
        memcpy(block + PREFIX, name, cut);
        memcpy(block, name + cut + 1, size - cut - 1);
        return true;
    }
    memcpy(block, name, min_size(size, NAME_SIZE));
    return size <= NAME_SIZE;
}

/* Of `size` bytes, the last of which stays zero with `ended`. */
static bool write_text(uint8_t *field, const char *text, size_t size, bool ended) {
    size_t length = strlen(text), room = size - ended;
    memcpy(field, text, min_size(length, room));
    return length <= room;
}

static void write_checksum(uint8_t block[TAR_BLOCK]) {
    int64_t sum, unused;
    sum_up(block, &sum, &unused);
    tar_number_write(block + CHECKSUM, CHECKSUM_SIZE - 1, (uint64_t)sum); /* six digits, zero, space */
    block[CHECKSUM + CHECKSUM_SIZE - 1] = ' ';
}

static char flag_of(const struct tar_member *member) {
    static const char flags[] = {[TAR_FILE] = TAR_FLAG_FILE,
                                 [TAR_DIRECTORY] = TAR_FLAG_DIRECTORY,
                                 [TAR_SYMBOLIC_LINK] = TAR_FLAG_SYMBOLIC_LINK,
                                 [TAR_HARD_LINK] = TAR_FLAG_HARD_LINK};
    return member->type == TAR_OTHER ? member->flag : flags[member->type];
}

unsigned tar_header_write(uint8_t block[TAR_BLOCK], const struct tar_member *member) {
    bool fits[TAR_FIELD_COUNT];
    bool plain_time = member->mtime >= 0 && member->mtime_ns == 0;
    memset(block, 0, TAR_BLOCK);
    fits[TAR_FIELD_NAME] = write_name(block, member->name);
    fits[TAR_FIELD_LINK] = write_text(block + LINK, member->link, NAME_SIZE, false);
    fits[TAR_FIELD_SIZE] = tar_number_write(block + SIZE, LONG_SIZE, member->size);
    uint64_t mtime = member->mtime > 0 ? (uint64_t)member->mtime : 0;
    fits[TAR_FIELD_MTIME] = tar_number_write(block + MTIME, LONG_SIZE, mtime) && plain_time;
    fits[TAR_FIELD_UID] = tar_number_write(block + UID, ID_SIZE, member->uid);
    fits[TAR_FIELD_GID] = tar_number_write(block + GID, ID_SIZE, member->gid);
    fits[TAR_FIELD_USER] = write_text(block + USER, member->user, OWNER_SIZE, true);
    fits[TAR_FIELD_GROUP] = write_text(block + GROUP, member->group, OWNER_SIZE, true);
    tar_number_write(block + MODE, ID_SIZE, member->mode);
    tar_number_write_any(block + DEVICE_MAJOR, ID_SIZE, member->device_major);
    tar_number_write_any(block + DEVICE_MINOR, ID_SIZE, member->device_minor);
    block[FLAG] = (uint8_t)flag_of(member);
    memcpy(block + MAGIC, magic_written, sizeof magic_written - 1);
    write_checksum(block);
    unsigned misfits = 0;
    for (unsigned field = 0; field < TAR_FIELD_COUNT; field++) {
        misfits |= fits[field] ? 0 : 1u << field;
    }
    return misfits;
}
