/* SPDX-License-Identifier: MIT
 * Writes the bits of a deflate stream, the first of them lowest. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_BITS_H
#define BLURD_CODECS_PNG_DEFLATE_BITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define DEFLATE_INLINE static inline __attribute__((always_inline))

/* Zero-initialise but for `to`, which deflate_flush writes a word to. */
struct deflate_writer {
    uint64_t bits;
    unsigned count; /* below 8 after a flush, and at most 63 */
    uint8_t *to;
};

DEFLATE_INLINE void deflate_put(struct deflate_writer *writer, uint64_t bits, unsigned count) {
    writer->bits |= bits << writer->count;
    writer->count += count;
}

DEFLATE_INLINE void deflate_flush(struct deflate_writer *writer) {
    uint64_t bits = htole64(writer->bits);
    memcpy(writer->to, &bits, sizeof(bits));
    writer->to += writer->count / 8;
    writer->bits >>= writer->count & ~7u;
    writer->count &= 7;
}

/* Writes an empty stored block, which ends on a byte boundary. */
static inline void deflate_put_filler(struct deflate_writer *writer) {
    deflate_put(writer, 0, 3);
    deflate_put(writer, 0, -writer->count & 7);
    deflate_put(writer, 0xFFFF0000, 32); /* the size, and its complement */
    deflate_flush(writer);
}

#endif
