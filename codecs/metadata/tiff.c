/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/tiff.h"

#include <string.h>

bool tiff_open(struct tiff *tiff, struct bytes bytes) {
    tiff->bytes = bytes;
    if (bytes.size < TIFF_HEADER_SIZE) {
        return false;
    }
    tiff->little = bytes.data[0] == 'I';
    return memcmp(bytes.data, "II*\0", 4) == 0 || memcmp(bytes.data, "MM\0*", 4) == 0;
}

uint32_t tiff_count(const struct tiff *tiff, uint32_t offset) {
    size_t size = tiff->bytes.size;
    if (offset < TIFF_HEADER_SIZE || size < 2 || offset > size - 2) {
        return 0;
    }
    uint32_t count = tiff_get16(tiff, tiff->bytes.data + offset);
    size_t fits = (size - offset - 2) / TIFF_ENTRY_SIZE;
    return count < fits ? count : (uint32_t)fits;
}

struct tiff_entry tiff_entry_at(const struct tiff *tiff, uint32_t offset, uint32_t index) {
    const uint8_t *p = tiff->bytes.data + offset + 2 + (size_t)index * TIFF_ENTRY_SIZE;
    return (struct tiff_entry){(uint16_t)tiff_get16(tiff, p), (uint16_t)tiff_get16(tiff, p + 2),
                               tiff_get32(tiff, p + 4), p + 8};
}

bool tiff_find(const struct tiff *tiff, uint32_t offset, uint16_t tag, struct tiff_entry *entry) {
    uint32_t count = tiff_count(tiff, offset);
    for (uint32_t i = 0; i < count; i++) {
        *entry = tiff_entry_at(tiff, offset, i);
        if (entry->tag == tag) {
            return true;
        }
    }
    return false;
}

struct bytes tiff_value(const struct tiff *tiff, const struct tiff_entry *entry) {
    static const uint8_t units[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    unsigned unit = entry->type < sizeof(units) ? units[entry->type] : entry->type == TIFF_UTF8;
    uint64_t size = (uint64_t)unit * entry->count;
    if (size <= TIFF_INLINE_SIZE) {
        return (struct bytes){entry->value, (size_t)size};
    }
    uint32_t offset = tiff_get32(tiff, entry->value);
    if (size > tiff->bytes.size || offset > tiff->bytes.size - size) {
        return (struct bytes){0};
    }
    return (struct bytes){tiff->bytes.data + offset, (size_t)size};
}

uint32_t tiff_first(const struct tiff *tiff) {
    return tiff_get32(tiff, tiff->bytes.data + 4);
}
