/* SPDX-License-Identifier: MIT
 * One header of a tar: a block of 512 bytes as V7, POSIX (ustar) and GNU tar write it. Thread-safe. */
#ifndef BLURD_SERVER_BATCH_TAR_HEADER_H
#define BLURD_SERVER_BATCH_TAR_HEADER_H

#include <stddef.h>

#include "core/status.h"
#include "server/batch/tar/tar_member.h"

enum { TAR_BLOCK = 512 };

/* The bytes that fill up the last block of `size` bytes. */
static inline size_t tar_header_padding(uint64_t size) {
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* Whether a block is zero, as the two at the end of a tar are. */
bool tar_header_is_zero(const uint8_t block[TAR_BLOCK]);

/* Whether the checksum is that of the block. Old tars summed signed bytes, so either sum will do. */
bool tar_header_is_sound(const uint8_t block[TAR_BLOCK]);

/* Reads a sound header. Names, size and flag are as the block has them, also where no data or no link goes
 * with the type. `position` is that of the block in the tar, for sentences. ST_CORRUPT: a number is none, is
 * negative (times may be) or too large. */
enum status tar_header_read(const uint8_t block[TAR_BLOCK], uint64_t position, struct tar_member *member,
                            struct error *err);

/* Makes a ustar header of a member whose mode, type and flag are valid. Returns the set of fields (enum
 * tar_field) that do not fit and are cut or zero there: an extended header has to state them. */
unsigned tar_header_write(uint8_t block[TAR_BLOCK], const struct tar_member *member);

#endif
