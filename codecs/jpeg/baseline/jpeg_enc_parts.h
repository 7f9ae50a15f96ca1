/* SPDX-License-Identifier: MIT
 * Encodes a scan by several threads: parts of some rows of MCUs each are counted side by side, and written
 * side by side once the tables of the picture are known. The bytes are those of one thread. Internal to
 * codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_PARTS_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_PARTS_H

#include "codecs/jpeg/baseline/jpeg_enc_scan.h"
#include "core/crew.h"

enum {
    JPEG_ENC_PARTS_MAX = 48,
    JPEG_ENC_SEATS_MAX = 16,
    JPEG_ENC_PART_ROWS = 4, /* of MCUs, at least: the piece before a part is transformed twice */
};

struct jpeg_enc_parts {
    struct jpeg_enc_scan *scan;
    unsigned count, seats;
    struct jpeg_enc_part *part;
    struct buf *bytes;            /* of each part; empty if they did not fit in its memory */
    struct jpeg_enc_coder *coder; /* of each seat */
};

/* The threads that are worth using for the scan now; 1 if it has no planes. */
unsigned jpeg_enc_parts_seats(const struct jpeg_enc_scan *scan);

/* The most bytes of heap memory for a scan of so many rows of MCUs, whose tokens may take `kept` bytes. */
size_t jpeg_enc_parts_bytes(uint32_t mcu_rows, size_t kept);

/* Prepares at least two parts and fills the padding of the picture. ST_BUSY: no memory. Call
 * jpeg_enc_parts_finish in any case. */
enum status jpeg_enc_parts_init(struct jpeg_enc_parts *parts, struct jpeg_enc_scan *scan, unsigned seats,
                                size_t kept, struct error *err);
void jpeg_enc_parts_finish(struct jpeg_enc_parts *parts);

/* Counts the tokens of all parts, and adds them to `count`. ST_LIMIT: over the deadline. */
enum status jpeg_enc_parts_count(struct jpeg_enc_parts *parts, uint64_t count[JPEG_ENC_INDICES],
                                 struct error *err);

/* Appends the parts in order, encoded with the Huffman codes of scan->code. *bits receives the last bits,
 * which do not fill a byte. Fails as jpeg_enc_part_write. */
enum status jpeg_enc_parts_write(struct jpeg_enc_parts *parts, struct buf *output, struct jpeg_enc_bits *bits,
                                 struct error *err);

#endif
