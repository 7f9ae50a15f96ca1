/* SPDX-License-Identifier: MIT
 * Extended headers: records of pax ("25 path=name", POSIX.1-2017) and the long names of GNU tar, which state
 * fields of the members that follow. Thread-safe. */
#ifndef BLURD_SERVER_BATCH_TAR_PAX_H
#define BLURD_SERVER_BATCH_TAR_PAX_H

#include "core/bytes.h"
#include "server/batch/tar/tar_member.h"

/* The contents of a member's extended headers, or of the global ones. Zero-initialise; about 9 KiB. */
struct tar_pax {
    unsigned stated;         /* the fields in `value` that count, of 1 << enum tar_field */
    unsigned taken_back;     /* the fields that count no more, also where a global header states them */
    bool is_sparse;          /* the data lack the holes of a file (GNU.sparse.*) */
    struct tar_member value; /* only the fields of enum tar_field */
};

/* Adds records. Those of unknown keys are ignored; an empty value takes a field back, so that the member's
 * own header counts again. Values are any bytes, but names have no zero byte. `position` is that of the
 * records in the tar, for sentences. ST_CORRUPT for malformed records and values, ST_LIMIT for a name over
 * TAR_NAME_MAX or TAR_OWNER_MAX. */
enum status tar_pax_read(struct tar_pax *pax, struct bytes records, uint64_t position, struct error *err);

/* Adds a long name of GNU tar, of the member or (TAR_FIELD_LINK) of its target, which a zero byte ends.
 * Failures as above. */
enum status tar_pax_long_name(struct tar_pax *pax, enum tar_field field, struct bytes name, uint64_t position,
                              struct error *err);

/* Puts what a member's own extended headers and the global ones state in place of what its header has. */
void tar_pax_apply(const struct tar_pax *own, const struct tar_pax *global, struct tar_member *member);

enum { TAR_PAX_WRITE_MAX = 2 * TAR_NAME_MAX + 2 * TAR_OWNER_MAX + 512 }; /* bytes of all fields' records */

/* Appends the records of the fields in the set. Fails only as `records` does. */
enum status tar_pax_write(struct buf *records, const struct tar_member *member, unsigned fields,
                          struct error *err);

#endif
