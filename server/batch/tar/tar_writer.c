/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_writer.h"

#include <inttypes.h>

#include "core/bytes.h"
#include "core/numbers.h"
#include "server/batch/tar/tar_header.h"
#include "server/batch/tar/tar_pax.h"

enum { NS_OF_SECOND = 1000000000 };

static const uint8_t zeros[TAR_RECORD];

void tar_writer_init(struct tar_writer *writer, struct tar_output output) {
    *writer = (struct tar_writer){.output = output};
}

static enum status put(struct tar_writer *writer, const void *data, size_t size, struct error *err) {
    enum status status = size > 0 ? writer->output.write(writer->output.context, data, size, err) : ST_OK;
    writer->written += status == ST_OK ? size : 0;
    return status;
}

static enum status check_complete(const struct tar_writer *writer, struct error *err) {
    return writer->left == 0
               ? ST_OK
               : fail(err, ST_INTERNAL, "%" PRIu64 " bytes of a tar member are missing", writer->left);
}

/* The name is what programs show that do not know pax. */
static enum status put_extended(struct tar_writer *writer, struct bytes records, struct error *err) {
    uint8_t block[TAR_BLOCK];
    struct tar_member extended = {.name = "././@PaxHeader",
                                  .size = records.size,
                                  .mode = 0644,
                                  .type = TAR_OTHER,
                                  .flag = TAR_FLAG_EXTENDED};
    tar_header_write(block, &extended);
    enum status status = put(writer, block, sizeof block, err);
    if (status == ST_OK) {
        status = put(writer, records.data, records.size, err);
    }
    return status == ST_OK ? put(writer, zeros, tar_header_padding(records.size), err) : status;
}

enum status tar_writer_member(struct tar_writer *writer, const struct tar_member *member, struct error *err) {
    uint8_t block[TAR_BLOCK], memory[TAR_PAX_WRITE_MAX];
    struct tar_member stated = *member;
    stated.size = tar_member_has_data(member) ? member->size : 0;
    enum status status = check_complete(writer, err);
    if (status == ST_OK && (stated.size > INT64_MAX || stated.mtime_ns >= NS_OF_SECOND ||
                            stated.uid > INT64_MAX || stated.gid > INT64_MAX)) {
        status = fail(err, ST_INTERNAL, "a tar member has numbers out of range");
    }
    unsigned misfits = tar_header_write(block, &stated);
    if (status == ST_OK && misfits != 0) {
        struct buf records;
        buf_init_fixed(&records, memory, sizeof memory);
        status = tar_pax_write(&records, &stated, misfits, err);
        if (status == ST_OK) {
            status = put_extended(writer, buf_bytes(&records), err);
        }
    }
    if (status == ST_OK) {
        status = put(writer, block, sizeof block, err);
    }
    if (status == ST_OK) {
        writer->left = stated.size;
        writer->padding = tar_header_padding(stated.size);
    }
    return status;
}

enum status tar_writer_data(struct tar_writer *writer, const void *data, size_t size, struct error *err) {
    if (size > writer->left) {
        return fail(err, ST_INTERNAL, "a tar member gets more data than its size");
    }
    enum status status = put(writer, data, size, err);
    if (status == ST_OK) {
        writer->left -= size;
    }
    if (status == ST_OK && writer->left == 0) {
        status = put(writer, zeros, writer->padding, err);
        writer->padding = 0;
    }
    return status;
}

enum status tar_writer_end(struct tar_writer *writer, struct error *err) {
    enum status status = check_complete(writer, err);
    size_t end = 2 * TAR_BLOCK, used = (size_t)((writer->written + end) % TAR_RECORD);
    size_t rest = end + (TAR_RECORD - used) % TAR_RECORD;
    while (status == ST_OK && rest > 0) {
        size_t piece = min_size(rest, sizeof zeros);
        status = put(writer, zeros, piece, err);
        rest -= piece;
    }
    return status;
}
