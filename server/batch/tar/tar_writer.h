/* SPDX-License-Identifier: MIT
 * Writes a tar as a stream: ustar where a member fits into its header, else an extended header (pax) in front
 * of it. For each member tar_writer_member, then exactly its size in tar_writer_data, in pieces of any size;
 * tar_writer_end after the last one. For one thread at a time. Calls block as the output does. All functions
 * fail with what the output fails with; the tar is of no use then. Nothing is allocated. */
#ifndef BLURD_SERVER_BATCH_TAR_WRITER_H
#define BLURD_SERVER_BATCH_TAR_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "server/batch/tar/tar_member.h"
#include "server/batch/tar/tar_stream.h"

enum { TAR_RECORD = 10240 }; /* a tar's size is a multiple of this, as GNU tar and POSIX write it */

struct tar_writer {
    struct tar_output output;
    uint64_t written; /* bytes of the tar */
    uint64_t left;    /* of the current member's data */
    size_t padding;   /* that follows them */
};

/* There is nothing to finish. What the context of the output points to must outlive the writer. */
void tar_writer_init(struct tar_writer *writer, struct tar_output output);

/* Begins a member with the name, owner, time and link that it is given. Members without data
 * (tar_member_has_data) are written with size 0. ST_INTERNAL where data of the member before are missing, and
 * for sizes and nanoseconds out of range. */
enum status tar_writer_member(struct tar_writer *writer, const struct tar_member *member, struct error *err);

/* ST_INTERNAL, with nothing written, for more bytes than the member has left. */
enum status tar_writer_data(struct tar_writer *writer, const void *data, size_t size, struct error *err);

/* Writes the two blocks of zeros, and more up to a multiple of TAR_RECORD. ST_INTERNAL where data are
 * missing. */
enum status tar_writer_end(struct tar_writer *writer, struct error *err);

#endif
