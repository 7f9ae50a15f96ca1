/* SPDX-License-Identifier: MIT
 * Borrowed and owned byte ranges are different types, so that a signature tells who frees. */
#ifndef BLURD_CORE_BYTES_H
#define BLURD_CORE_BYTES_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/status.h"

/* A borrowed view; never freed through this type. */
struct bytes {
    const uint8_t *data; /* may be NULL when size is 0 */
    size_t size;
};

/* An owned, growing byte range with a fixed maximum. Its storage is heap memory (buf_init) or lent memory
 * (buf_init_fixed), which cannot grow. Not thread-safe. */
struct buf {
    uint8_t *data;
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes allocated */
    size_t maximum;  /* never grows beyond */
    bool fixed;      /* data is lent; buf_finish leaves it alone */
};

/* Allocates nothing yet. */
void buf_init(struct buf *buf, size_t maximum);

/* The lent memory must outlive the buffer. */
void buf_init_fixed(struct buf *buf, uint8_t *data, size_t capacity);

/* Reserves `extra` more bytes. On failure the buffer is unchanged: ST_LIMIT over the maximum, ST_BUSY
 * without memory. */
enum status buf_reserve(struct buf *buf, size_t extra, struct error *err);

/* Appends `size` bytes; failures as buf_reserve. `data` must not point into buf. */
enum status buf_append(struct buf *buf, const void *data, size_t size, struct error *err);

/* Appends formatted text, without the terminating zero; failures as buf_reserve. */
enum status buf_printf(struct buf *buf, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status buf_vprintf(struct buf *buf, struct error *err, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Frees heap storage and zeroes the struct. Accepts NULL or an all-zero struct. */
void buf_finish(struct buf *buf);

static inline struct bytes buf_bytes(const struct buf *buf) {
    return (struct bytes){buf->data, buf->size};
}

/* Big-endian reads, as JPEG, PNG and half of EXIF store numbers. No bounds check. */
static inline uint32_t bytes_be16(const uint8_t *p) {
    return (uint32_t)p[0] << 8 | p[1];
}
static inline uint32_t bytes_be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline void bytes_put_be32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 24), p[1] = (uint8_t)(v >> 16), p[2] = (uint8_t)(v >> 8), p[3] = (uint8_t)v;
}

/* Copies from memory that another process may write. The fence keeps the compiler from reading that memory
 * again in place of the copy. */
static inline void bytes_fetch(void *to, const uint8_t *from, size_t size) {
    memcpy(to, from, size);
    atomic_signal_fence(memory_order_seq_cst);
}

/* Copies past the processor's caches where it can, for memory that a device reads next: the caches keep what
 * they hold, and do not fetch lines that are overwritten. Other threads and devices see the copy as they see
 * one of memcpy. The ranges must not overlap. */
void bytes_stream(uint8_t *to, const uint8_t *from, size_t size);

/* The first position from `at` on whose byte is not 0xFF, or the size. Such runs may be as long as a body. */
static inline size_t bytes_skip_ones(struct bytes bytes, size_t at) {
    enum { WORDS = 8 };
    uint64_t word[WORDS], all = UINT64_MAX;
    for (; bytes.size - at >= sizeof word; at += sizeof word) {
        memcpy(word, bytes.data + at, sizeof word);
        for (unsigned i = 0; i < WORDS; i++) {
            all &= word[i];
        }
        if (all != UINT64_MAX) {
            break;
        }
    }
    while (at < bytes.size && bytes.data[at] == UINT8_MAX) {
        at++;
    }
    return at;
}

static inline size_t bytes_align_up(size_t value, size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

#endif
