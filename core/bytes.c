/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void buf_init(struct buf *buf, size_t maximum) {
    *buf = (struct buf){.maximum = maximum};
}

void buf_init_fixed(struct buf *buf, uint8_t *data, size_t capacity) {
    *buf = (struct buf){.data = data, .capacity = capacity, .maximum = capacity, .fixed = true};
}

enum status buf_reserve(struct buf *buf, size_t extra, struct error *err) {
    if (extra <= buf->capacity - buf->size) {
        return ST_OK;
    }
    if (extra > buf->maximum - buf->size) {
        return fail(err, ST_LIMIT, "output is larger than %zu bytes", buf->maximum);
    }
    size_t want = buf->size + extra;
    size_t doubled = buf->capacity > buf->maximum / 2 ? buf->maximum : buf->capacity * 2;
    size_t capacity = want > doubled ? want : doubled;
    uint8_t *data = realloc(buf->data, capacity);
    if (!data) {
        return fail(err, ST_BUSY, "out of memory for %zu bytes", capacity);
    }
    buf->data = data;
    buf->capacity = capacity;
    return ST_OK;
}

enum status buf_append(struct buf *buf, const void *data, size_t size, struct error *err) {
    enum status status = buf_reserve(buf, size, err);
    if (status == ST_OK && size > 0) {
        memcpy(buf->data + buf->size, data, size);
        buf->size += size;
    }
    return status;
}

enum status buf_vprintf(struct buf *buf, struct error *err, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    /* One byte more for vsnprintf's zero, which is not counted in size. */
    enum status status =
        length < 0 ? fail(err, ST_INTERNAL, "cannot format text") : buf_reserve(buf, (size_t)length + 1, err);
    if (status == ST_OK) {
        vsnprintf((char *)buf->data + buf->size, (size_t)length + 1, format, again);
        buf->size += (size_t)length;
    }
    va_end(again);
    return status;
}

enum status buf_printf(struct buf *buf, struct error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    enum status status = buf_vprintf(buf, err, format, arguments);
    va_end(arguments);
    return status;
}

void buf_finish(struct buf *buf) {
    if (!buf) {
        return;
    }
    if (!buf->fixed) {
        free(buf->data);
    }
    *buf = (struct buf){0};
}

#ifdef __SSE2__
/* Four stores fill a line of 64 bytes, so that it leaves the processor whole. */
enum { LINE = 64, FEW = 4 * LINE /* bytes; a shorter copy has few whole lines */ };

void bytes_stream(uint8_t *to, const uint8_t *from, size_t size) {
    size_t before = size < FEW ? size : (size_t)(-(uintptr_t)to % LINE);
    memcpy(to, from, before);
    size_t at = before;
    for (; at + LINE <= size; at += LINE) {
        for (size_t i = at; i < at + LINE; i += sizeof(__m128i)) {
            __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
            _mm_stream_si128((__m128i *)(void *)(to + i), part);
        }
    }
    _mm_sfence(); /* such stores keep no order with those behind them */
    memcpy(to + at, from + at, size - at);
}
#else
void bytes_stream(uint8_t *to, const uint8_t *from, size_t size) {
    memcpy(to, from, size);
}
#endif
