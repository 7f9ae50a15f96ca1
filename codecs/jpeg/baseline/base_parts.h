/* SPDX-License-Identifier: MIT
 * Encodes a scan by several threads: parts of some rows of MCUs each are counted side by side, and written
 * side by side once the tables of the picture are known. The bytes are those of one thread. Internal to
 * codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASE_PARTS_H
#define BLURD_CODECS_JPEG_BASELINE_BASE_PARTS_H

#include "codecs/jpeg/baseline/base_scan.h"
#include "core/crew.h"

enum {
    BASE_PARTS_MAX = 48,
    BASE_SEATS_MAX = 16,
    BASE_PART_ROWS = 4, /* of MCUs, at least: the piece before a part is transformed twice */
};

struct base_parts {
    struct base_scan *scan;
    unsigned count, seats;
    struct base_part *part;
    struct buf *bytes;        /* of each part; empty if they did not fit in its memory */
    struct base_coder *coder; /* of each seat */
};

/* The threads that are worth using for the scan now; 1 if it has no planes. */
unsigned base_parts_seats(const struct base_scan *scan);

/* The most bytes of heap memory for a scan of so many rows of MCUs, whose tokens may take `kept` bytes. */
size_t base_parts_bytes(uint32_t mcu_rows, size_t kept);

/* Prepares at least two parts and fills the padding of the picture. ST_BUSY: no memory. Call
 * base_parts_finish in any case. */
enum status base_parts_init(struct base_parts *parts, struct base_scan *scan, unsigned seats, size_t kept,
                            struct error *err);
void base_parts_finish(struct base_parts *parts);

/* Counts the tokens of all parts, and adds them to `count`. ST_LIMIT: over the deadline. */
enum status base_parts_count(struct base_parts *parts, uint64_t count[BASE_INDICES], struct error *err);

/* Writes all parts by scan->code. Sets *bits to those that no full byte has yet. Fails as base_part_write. */
enum status base_parts_write(struct base_parts *parts, struct buf *output, struct base_bits *bits,
                             struct error *err);

#endif
