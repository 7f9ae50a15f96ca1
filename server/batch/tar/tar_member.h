/* SPDX-License-Identifier: MIT
 * A member of a tar: what its headers say. Plain data of about 9 KiB, may be copied. */
#ifndef BLURD_SERVER_BATCH_TAR_MEMBER_H
#define BLURD_SERVER_BATCH_TAR_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TAR_NAME_MAX = 4096, /* bytes of a name or of a link's target: PATH_MAX of Linux */
    TAR_OWNER_MAX = 255, /* bytes of the name of a user or a group: LOGIN_NAME_MAX of Linux, less the zero */
    TAR_MODE_MASK = 07777,
};

enum tar_type { TAR_FILE, TAR_DIRECTORY, TAR_SYMBOLIC_LINK, TAR_HARD_LINK, TAR_OTHER };

struct tar_member {
    char
        name[TAR_NAME_MAX + 1]; /* any bytes but zero, as they are: it may be empty, absolute or have "../" */
    char link[TAR_NAME_MAX + 1];   /* the target of a link, else "" */
    char user[TAR_OWNER_MAX + 1];  /* "" where unknown */
    char group[TAR_OWNER_MAX + 1]; /* "" where unknown */
    uint64_t size;                 /* bytes of data in the tar, INT64_MAX at most; 0 if it cannot have any */
    uint64_t uid, gid;             /* INT64_MAX at most */
    int64_t mtime;                 /* seconds since 1970, rounded down */
    uint32_t mtime_ns;             /* nanoseconds after that, below 1000000000 */
    uint32_t mode;                 /* permissions, within TAR_MODE_MASK */
    uint32_t device_major, device_minor; /* of a device, else 0 */
    enum tar_type type;
    char flag; /* the type as a tar writes it; the writer takes that of TAR_OTHER from here */
};

/* Type flags with a meaning here. Others are TAR_OTHER with data (POSIX: unknown ones are read as files). */
enum {
    TAR_FLAG_OLD_FILE = '\0',
    TAR_FLAG_FILE = '0',
    TAR_FLAG_HARD_LINK = '1',
    TAR_FLAG_SYMBOLIC_LINK = '2',
    TAR_FLAG_CHARACTER_DEVICE = '3',
    TAR_FLAG_BLOCK_DEVICE = '4',
    TAR_FLAG_DIRECTORY = '5',
    TAR_FLAG_PIPE = '6',
    TAR_FLAG_CONTIGUOUS = '7',
    TAR_FLAG_LONG_LINK = 'K',
    TAR_FLAG_LONG_NAME = 'L',
    TAR_FLAG_CONTINUED = 'M',
    TAR_FLAG_SPARSE = 'S',
    TAR_FLAG_SUN_EXTENDED = 'X',
    TAR_FLAG_GLOBAL = 'g',
    TAR_FLAG_EXTENDED = 'x',
};

static inline bool tar_member_is_link(const struct tar_member *member) {
    return member->type == TAR_SYMBOLIC_LINK || member->type == TAR_HARD_LINK;
}

static inline bool tar_member_is_device(const struct tar_member *member) {
    return member->type == TAR_OTHER &&
           (member->flag == TAR_FLAG_CHARACTER_DEVICE || member->flag == TAR_FLAG_BLOCK_DEVICE);
}

/* Whether data follows the header of a member. Directories, links, devices and pipes have no data: a size in
 * their header is ignored, as GNU tar and tarfile ignore it. */
static inline bool tar_member_has_data(const struct tar_member *member) {
    return member->type == TAR_FILE ||
           (member->type == TAR_OTHER && !tar_member_is_device(member) && member->flag != TAR_FLAG_PIPE);
}

/* The fields that extended headers (pax) may state in place of the header; a set of them has bits 1 << field.
 */
enum tar_field {
    TAR_FIELD_NAME,
    TAR_FIELD_LINK,
    TAR_FIELD_SIZE,
    TAR_FIELD_MTIME,
    TAR_FIELD_UID,
    TAR_FIELD_GID,
    TAR_FIELD_USER,
    TAR_FIELD_GROUP,
    TAR_FIELD_COUNT
};

#endif
