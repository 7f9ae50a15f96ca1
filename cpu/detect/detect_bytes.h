/* SPDX-License-Identifier: MIT
 * Layers without 8-bit weights, and what becomes of bytes afterwards. Included once per instruction set,
 * after its vectors; compilers make vectors of the plain loops. */
#include "cpu/detect/detect_dense.h"
#include "cpu/detect/detect_kernels.h"

/* Up to LANES channels of a pixel, in order: the order of a group of one vector. */
INLINE void excite_lanes(const struct detect_excite *job, size_t at, size_t channel, flt zero,
                         unsigned count) {
    flt t = flt_multiply(flt_add(flt_bytes(job->from + at, 4), zero), flt_at(job->factor + channel));
    if (job->addend) {
        t = flt_add(t, flt_multiply(flt_bytes(job->addend + at, 4), flt_all(job->addend_scale)));
    }
    const vec rounded = vec_round(flt_add(t, flt_all(job->offset)));
    vec_put(job->to + at, &rounded, 1, count);
}

static void excite(const struct detect_excite *job) {
    const flt zero = flt_all(-job->zero);
    const size_t whole = job->channels / LANES * LANES;
    for (size_t i = 0; i < job->pixels; i++) {
        const size_t at = i * job->channels;
        for (size_t c = 0; c < whole; c += LANES) {
            excite_lanes(job, at + c, c, zero, LANES);
        }
        if (whole < job->channels) {
            excite_lanes(job, at + whole, whole, zero, (unsigned)(job->channels - whole));
        }
    }
}

static void table(const uint8_t entries[NETWORK_TABLE_SIZE], uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = entries[bytes[i]];
    }
}

static inline uint8_t larger(uint8_t a, uint8_t b) {
    return a > b ? a : b;
}

static void pool(const uint8_t *a, const uint8_t *b, size_t channels, uint8_t *restrict to, size_t count) {
    const uint8_t *right = a + channels, *below = b + channels;
    for (size_t i = 0; i < count; i++) {
        to[i] = larger(larger(a[i], right[i]), larger(b[i], below[i]));
    }
}

static void squeeze(const uint8_t *from, size_t pixels, size_t channels, uint32_t *restrict sums) {
    for (size_t i = 0; i < pixels; i++, from += channels) {
        for (size_t c = 0; c < channels; c++) {
            sums[c] += from[c];
        }
    }
}
