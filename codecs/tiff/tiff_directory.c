/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_directory.h"

enum { HEADER = 8, BIG_HEADER = 16, ENTRY = 12, BIG_ENTRY = 20 };
enum {
    TYPE_BYTE = 1,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIO = 5,
    TYPE_IFD = 13,
    TYPE_LONG8 = 16,
    TYPE_IFD8 = 18
};

static uint64_t get(const struct tiff_directory *directory, const uint8_t *p, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        value = value << 8 | p[directory->little ? size - 1 - i : i];
    }
    return value;
}

void tiff_directory_put(const struct tiff_directory *directory, uint8_t *p, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        p[directory->little ? i : size - 1 - i] = (uint8_t)(value >> 8 * i);
    }
}

bool tiff_directory_open(struct tiff_directory *directory, struct bytes file) {
    *directory = (struct tiff_directory){.file = file};
    if (file.size < HEADER) {
        return false;
    }
    const uint8_t *p = file.data;
    directory->little = p[0] == 'I';
    directory->big = p[directory->little ? 2 : 3] == '+';
    if (!directory->big) {
        directory->next = get(directory, p + 4, 4);
        return memcmp(p, "II*\0", 4) == 0 || memcmp(p, "MM\0*", 4) == 0;
    }
    if ((memcmp(p, "II+\0\10\0\0\0", HEADER) != 0 && memcmp(p, "MM\0+\0\10\0\0", HEADER) != 0) ||
        file.size < BIG_HEADER) {
        return false;
    }
    directory->next = get(directory, p + HEADER, 8);
    return true;
}

bool tiff_directory_go(struct tiff_directory *directory, uint64_t offset) {
    const unsigned head = directory->big ? 8 : 2, entry = directory->big ? BIG_ENTRY : ENTRY,
                   link = directory->big ? 8 : 4;
    const size_t size = directory->file.size;
    if (offset < HEADER || offset > size || size - offset < head + link) {
        return false;
    }
    uint64_t count = get(directory, directory->file.data + offset, head);
    if (count == 0 || count > TIFF_DIRECTORY_ENTRIES_MAX || (size - offset - head - link) / entry < count) {
        return false;
    }
    directory->count = (uint32_t)count;
    directory->at = offset + head;
    directory->next = get(directory, directory->file.data + offset + head + count * entry, link);
    return true;
}

static unsigned unit_of(uint16_t type) {
    static const uint8_t units[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof(units) ? units[type] : 0;
}

struct tiff_directory_entry tiff_directory_at(const struct tiff_directory *directory, uint32_t index) {
    const unsigned size = directory->big ? BIG_ENTRY : ENTRY, wide = directory->big ? 8 : 4;
    const uint8_t *p = directory->file.data + directory->at + (size_t)index * size;
    struct tiff_directory_entry entry = {
        .tag = (uint16_t)get(directory, p, 2),
        .type = (uint16_t)get(directory, p + 2, 2),
        .count = get(directory, p + 4, wide),
        .stored = {p, size},
    };
    const unsigned unit = unit_of(entry.type);
    const size_t file = directory->file.size;
    if (unit == 0 || entry.count > file / unit) {
        return entry;
    }
    entry.value = (struct bytes){p + 4 + wide, (size_t)(entry.count * unit)};
    if (entry.value.size > wide) {
        uint64_t offset = get(directory, entry.value.data, wide);
        bool inside = offset <= file && file - offset >= entry.value.size;
        entry.value =
            inside ? (struct bytes){directory->file.data + offset, entry.value.size} : (struct bytes){0};
    }
    return entry;
}

bool tiff_directory_find(const struct tiff_directory *directory, uint16_t tag,
                         struct tiff_directory_entry *entry) {
    const unsigned size = directory->big ? BIG_ENTRY : ENTRY;
    for (uint32_t i = 0; i < directory->count; i++) {
        if (get(directory, directory->file.data + directory->at + (size_t)i * size, 2) == tag) {
            *entry = tiff_directory_at(directory, i);
            return true;
        }
    }
    return false;
}

uint64_t tiff_directory_numbers(const struct tiff_directory_entry *entry) {
    switch (entry->type) {
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_LONG:
    case TYPE_IFD:
    case TYPE_LONG8:
    case TYPE_IFD8:
        return entry->value.size / unit_of(entry->type);
    default:
        return 0;
    }
}

uint64_t tiff_directory_number(const struct tiff_directory *directory,
                               const struct tiff_directory_entry *entry, uint64_t index) {
    const unsigned unit = unit_of(entry->type);
    return get(directory, entry->value.data + index * unit, unit);
}

uint64_t tiff_directory_value(const struct tiff_directory *directory, uint16_t tag, uint64_t otherwise) {
    struct tiff_directory_entry entry;
    return tiff_directory_find(directory, tag, &entry) && tiff_directory_numbers(&entry) > 0
               ? tiff_directory_number(directory, &entry, 0)
               : otherwise;
}

bool tiff_directory_ratio(const struct tiff_directory *directory, uint16_t tag, unsigned index,
                          uint32_t ratio[2]) {
    struct tiff_directory_entry entry;
    if (!tiff_directory_find(directory, tag, &entry) || entry.type != TYPE_RATIO ||
        index >= entry.value.size / 8) {
        return false;
    }
    ratio[0] = (uint32_t)get(directory, entry.value.data + (size_t)index * 8, 4);
    ratio[1] = (uint32_t)get(directory, entry.value.data + (size_t)index * 8 + 4, 4);
    return true;
}
