/* SPDX-License-Identifier: MIT
 * Reads a tar as a stream, from its first byte to its last: V7, POSIX (ustar, pax) and GNU tar, uncompressed.
 *
 *     while (tar_reader_next(reader, &member, &more, &err) == ST_OK && more) {
 *         … tar_reader_data(reader, …)
 *     }
 *     tar_reader_end(reader, &joined, &err);
 *
 * It is strict about the end: a tar ends with two blocks of zeros, and one without them was cut, between
 * members too, where many programs see a complete tar. Names are given as they are in the tar: "../" and a
 * leading "/" are not removed, so they are no names of files to write.
 *
 * A reader takes about 20 KiB, and up to TAR_EXTENDED_MAX for extended headers. For one thread at a time. It
 * reads no byte before it is needed, and calls block as the input does. After a failure the reader is of no
 * more use: each later call fails in the same way. Sentences state the place in bytes and the member before
 * it. */
#ifndef BLURD_SERVER_BATCH_TAR_READER_H
#define BLURD_SERVER_BATCH_TAR_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/batch/tar/tar_member.h"
#include "server/batch/tar/tar_stream.h"

enum { TAR_EXTENDED_MAX = 64 << 10 }; /* bytes of one extended header or long name */

struct tar_reader;

/* What the context of the input points to must outlive the reader. NULL without memory. */
struct tar_reader *tar_reader_create(struct tar_input input);

/* Accepts NULL. Does not close the input. */
void tar_reader_destroy(struct tar_reader *reader);

/* Skips what is left of the current member's data and reads the headers of the next one. *more is false after
 * the last member, once the two blocks of zeros are read, and where it fails; `member` then means nothing.
 *
 * ST_CORRUPT: the input is empty or no tar, is cut, or has a damaged header. ST_LIMIT: a name is longer than
 * TAR_NAME_MAX or TAR_OWNER_MAX, or an extended header than TAR_EXTENDED_MAX. ST_UNSUPPORTED: a sparse file,
 * whose data lack its holes, or a part of a file that began in another volume. ST_BUSY: no memory. All that
 * the input fails with. */
enum status tar_reader_next(struct tar_reader *reader, struct tar_member *member, bool *more,
                            struct error *err);

/* Reads on in the current member's data: *got is less than `size` only at their end. ST_CORRUPT where the tar
 * is cut in them; all that the input fails with. */
enum status tar_reader_data(struct tar_reader *reader, void *to, size_t size, size_t *got, struct error *err);

/* To be called when there are no more members; else ST_INTERNAL. Reads on to the end of the input, where
 * zeros may follow in any number. *joined tells that something else does, as a second tar joined by `cat`; it
 * is not read to its end then. Fails only as the input does. */
enum status tar_reader_end(struct tar_reader *reader, bool *joined, struct error *err);

/* Bytes read so far. */
uint64_t tar_reader_position(const struct tar_reader *reader);

#endif
