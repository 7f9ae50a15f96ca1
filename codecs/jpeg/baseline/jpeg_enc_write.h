/* SPDX-License-Identifier: MIT
 * Template: the bytes of tokens, and the table of the instruction set. Included after the definitions of
 * transform() and find_tokens(), and of LEVEL, the name of the table to make. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_WRITE_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_WRITE_H

#include <endian.h>
#include <string.h>

#include "codecs/jpeg/baseline/jpeg_enc_convert.h"
#include "codecs/jpeg/baseline/jpeg_enc_level.h"

/* The sum of entries in `count` has the sum of lengths in its lowest bits. */
static inline void put(struct jpeg_enc_bits *bits, const uint64_t *code, uint32_t token) {
    uint64_t entry = code[token % JPEG_ENC_INDICES];
    bits->word =
        bits->word << entry % (1 << JPEG_ENC_CODE) | entry >> JPEG_ENC_CODE | token >> JPEG_ENC_INDEX;
    bits->count += entry;
}

static uint8_t *store_stuffed(uint64_t word, unsigned bytes, uint8_t *to) {
    for (unsigned i = 0; i < bytes; i++, word <<= 8) {
        uint8_t byte = (uint8_t)(word >> 56);
        *to++ = byte;
        if (byte == 0xff) {
            *to++ = 0;
        }
    }
    return to;
}

/* Writes the whole bytes; 0 follows one of ones. Those behind the last whole one are never all ones. */
static inline uint8_t *store(struct jpeg_enc_bits *bits, uint8_t *to) {
    const uint64_t ones = UINT64_MAX / 255;
    uint64_t word = bits->word << -bits->count % 64, big = htobe64(word);
    unsigned bytes = bits->count % 64 / 8;
    bits->count %= 8;
    if (word & ~(word + ones) & ones << 7) {
        return store_stuffed(word, bytes, to);
    }
    memcpy(to, &big, sizeof big);
    return to + bytes;
}

static uint8_t *write_tokens(const uint32_t *token, size_t count, const uint64_t code[JPEG_ENC_INDICES],
                             struct jpeg_enc_bits *bits, uint8_t *to) {
    struct jpeg_enc_bits now = *bits;
    for (size_t i = 0; i + 1 < count; i += 2) {
        put(&now, code, token[i]);
        put(&now, code, token[i + 1]);
        to = store(&now, to);
    }
    if (count % 2) {
        put(&now, code, token[count - 1]);
        to = store(&now, to);
    }
    *bits = now;
    return to;
}

const struct jpeg_enc_level LEVEL = {.name = LEVEL_NAME,
                                     .sorts = SORTS,
                                     .vectors = VECTORS,
                                     .colours = colours,
                                     .transform = transform,
                                     .find = find_tokens,
                                     .write = write_tokens};

#endif
