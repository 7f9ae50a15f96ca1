/* SPDX-License-Identifier: MIT
 * The container of EXIF: numbers in either byte order, and directories of entries. No offset in the bytes
 * can cause a read outside of them. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_TIFF_H
#define BLURD_CODECS_METADATA_TIFF_H

#include "core/bytes.h"

enum {
    TIFF_BYTE = 1,
    TIFF_ASCII = 2,
    TIFF_SHORT = 3,
    TIFF_LONG = 4,
    TIFF_RATIO = 5,
    TIFF_UNDEFINED = 7,
    TIFF_SIGNED_RATIO = 10,
    TIFF_UTF8 = 129,
    TIFF_ENTRY_SIZE = 12,
    TIFF_HEADER_SIZE = 8,
    TIFF_INLINE_SIZE = 4, /* bytes of a value that is stored in its entry */
};

struct tiff {
    struct bytes bytes;
    bool little;
};

struct tiff_entry {
    uint16_t tag;
    uint16_t type;
    uint32_t count;
    const uint8_t *value; /* the 4 bytes in the entry: the value or its offset */
};

static inline uint32_t tiff_get16(const struct tiff *tiff, const uint8_t *p) {
    return tiff->little ? (uint32_t)p[1] << 8 | p[0] : bytes_be16(p);
}

static inline uint32_t tiff_get32(const struct tiff *tiff, const uint8_t *p) {
    return tiff->little ? tiff_get16(tiff, p + 2) << 16 | tiff_get16(tiff, p) : bytes_be32(p);
}

static inline void tiff_put16(const struct tiff *tiff, uint8_t *p, uint32_t v) {
    p[tiff->little ? 0 : 1] = (uint8_t)v;
    p[tiff->little ? 1 : 0] = (uint8_t)(v >> 8);
}

static inline void tiff_put32(const struct tiff *tiff, uint8_t *p, uint32_t v) {
    tiff_put16(tiff, p + (tiff->little ? 0 : 2), v & 0xFFFF);
    tiff_put16(tiff, p + (tiff->little ? 2 : 0), v >> 16);
}

/* False without a TIFF header. */
bool tiff_open(struct tiff *tiff, struct bytes bytes);

uint32_t tiff_first(const struct tiff *tiff);

/* Number of entries of the directory at `offset` that lie within the bytes. */
uint32_t tiff_count(const struct tiff *tiff, uint32_t offset);

/* `index` is below tiff_count. */
struct tiff_entry tiff_entry_at(const struct tiff *tiff, uint32_t offset, uint32_t index);

/* The first entry of a tag in the directory at `offset`, valid or not. False without one. */
bool tiff_find(const struct tiff *tiff, uint32_t offset, uint16_t tag, struct tiff_entry *entry);

/* The bytes of an entry's value; empty when they lie outside. */
struct bytes tiff_value(const struct tiff *tiff, const struct tiff_entry *entry);

#endif
