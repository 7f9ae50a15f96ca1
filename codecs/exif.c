/* SPDX-License-Identifier: MIT
 * The sanitized copy is written anew, directory by directory, instead of blanking the
 * unwanted parts of a copy: bytes that no kept tag names cannot slip through. */
#include "codecs/exif.h"

#include <string.h>

enum {
    TAG_ORIENTATION = 0x0112,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_INTEROP_IFD = 0xA005,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    ENTRY_SIZE = 12,
    HEADER_SIZE = 8,
    DIRECTORIES_MAX = 4, /* IFD0, Exif, GPS, interoperability: each is written once */
};

struct tiff {
    struct bytes bytes;
    bool little;
};

struct entry {
    uint16_t tag;
    uint16_t type;
    uint32_t count;
    const uint8_t *value; /* the 4 bytes in the entry: the value or its offset */
};

static uint32_t get16(const struct tiff *tiff, const uint8_t *p) {
    return tiff->little ? (uint32_t)p[1] << 8 | p[0] : be16(p);
}

static uint32_t get32(const struct tiff *tiff, const uint8_t *p) {
    return tiff->little ? get16(tiff, p + 2) << 16 | get16(tiff, p) : be32(p);
}

static void put16(const struct tiff *tiff, uint8_t *p, uint32_t v) {
    p[tiff->little ? 0 : 1] = (uint8_t)v;
    p[tiff->little ? 1 : 0] = (uint8_t)(v >> 8);
}

static void put32(const struct tiff *tiff, uint8_t *p, uint32_t v) {
    put16(tiff, p + (tiff->little ? 0 : 2), v & 0xFFFF);
    put16(tiff, p + (tiff->little ? 2 : 0), v >> 16);
}

static bool tiff_open(struct tiff *tiff, struct bytes bytes) {
    tiff->bytes = bytes;
    if (bytes.size < HEADER_SIZE) {
        return false;
    }
    tiff->little = bytes.data[0] == 'I';
    return memcmp(bytes.data, "II*\0", 4) == 0 || memcmp(bytes.data, "MM\0*", 4) == 0;
}

/* Number of entries of the directory at `offset`, cut to those that are there. */
static uint32_t directory_count(const struct tiff *tiff, uint32_t offset) {
    size_t size = tiff->bytes.size;
    if (offset < HEADER_SIZE || size < 2 || offset > size - 2) {
        return 0;
    }
    uint32_t count = get16(tiff, tiff->bytes.data + offset);
    size_t fits = (size - offset - 2) / ENTRY_SIZE;
    return count < fits ? count : (uint32_t)fits;
}

static struct entry directory_entry(const struct tiff *tiff, uint32_t offset, uint32_t index) {
    const uint8_t *p = tiff->bytes.data + offset + 2 + (size_t)index * ENTRY_SIZE;
    return (struct entry){(uint16_t)get16(tiff, p), (uint16_t)get16(tiff, p + 2), get32(tiff, p + 4), p + 8};
}

/* The bytes of an entry's value, wherever they stand; empty when they are not there. */
static struct bytes entry_bytes(const struct tiff *tiff, const struct entry *entry) {
    static const uint8_t unit[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    if (entry->type >= sizeof(unit)) {
        return (struct bytes){0};
    }
    uint64_t size = (uint64_t)unit[entry->type] * entry->count;
    if (size <= 4) {
        return (struct bytes){entry->value, (size_t)size};
    }
    uint32_t offset = get32(tiff, entry->value);
    if (size > tiff->bytes.size || offset > tiff->bytes.size - size) {
        return (struct bytes){0};
    }
    return (struct bytes){tiff->bytes.data + offset, (size_t)size};
}

uint8_t exif_orientation(struct bytes bytes) {
    struct tiff tiff;
    if (!tiff_open(&tiff, bytes)) {
        return 1;
    }
    uint32_t offset = get32(&tiff, bytes.data + 4);
    uint32_t count = directory_count(&tiff, offset);
    for (uint32_t i = 0; i < count; i++) {
        struct entry entry = directory_entry(&tiff, offset, i);
        if (entry.tag == TAG_ORIENTATION) {
            uint32_t value = get16(&tiff, entry.value);
            bool valid = entry.type == TYPE_SHORT && entry.count == 1 && value >= 1 && value <= 8;
            return valid ? (uint8_t)value : 1;
        }
    }
    return 1;
}

/* A directory waiting to be written. */
struct directory {
    uint32_t source; /* offset in the input */
    size_t patch;    /* where in the output its new offset goes, counted from base */
};

struct writer {
    const struct tiff *tiff;
    struct buf *output;
    size_t base; /* of the new TIFF structure in *output */
    bool upright;
    struct directory queue[DIRECTORIES_MAX];
    unsigned queued;
    uint32_t pointers_seen; /* one bit for each of the three directory tags */
    bool orientation_seen;  /* in this directory, fit to be kept or not */
};

static uint32_t pointer_bit(uint16_t tag) {
    return tag == TAG_EXIF_IFD ? 1 : tag == TAG_GPS_IFD ? 2 : tag == TAG_INTEROP_IFD ? 4 : 0;
}

/* Tags that hold or point to pixels, or to blocks that cannot be looked into. */
static bool may_show_picture(uint16_t tag) {
    static const uint16_t tags[] = {
        0x0111, 0x0117, /* strips */
        0x0144, 0x0145, /* tiles */
        0x014A,         /* sub-directories: previews of raw pictures */
        0x0201, 0x0202, /* JPEG thumbnail */
        0x02BC,         /* XMP */
        0x8649,         /* Photoshop resources, with a thumbnail */
        0x927C,         /* maker note, often with a preview */
        0xC634,         /* DNG private data: a copy of the maker note */
        0xEA1C,         /* padding */
    };
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
        if (tags[i] == tag) {
            return true;
        }
    }
    return false;
}

/* The first orientation of a directory is the one that counts, also when it is invalid: a second must
 * not take its place. */
static bool is_second_orientation(struct writer *writer, const struct entry *entry) {
    bool second = entry->tag == TAG_ORIENTATION && writer->orientation_seen;
    writer->orientation_seen |= entry->tag == TAG_ORIENTATION;
    return second;
}

/* Asked for each entry of a directory in order. */
static bool keep_entry(struct writer *writer, const struct entry *entry) {
    if (is_second_orientation(writer, entry)) {
        return false;
    }
    uint32_t bit = pointer_bit(entry->tag);
    if (bit) {
        return !(writer->pointers_seen & bit) && entry->type == TYPE_LONG && entry->count == 1 &&
               directory_count(writer->tiff, get32(writer->tiff, entry->value)) > 0;
    }
    return !may_show_picture(entry->tag) && entry_bytes(writer->tiff, entry).size > 0;
}

/* Appends one entry's value behind the directory, when it does not fit in the entry. */
static enum status write_value(struct writer *writer, struct bytes value, uint8_t field[4],
                               struct error *err) {
    if (value.size <= 4) {
        memset(field, 0, 4);
        memcpy(field, value.data, value.size);
        return ST_OK;
    }
    size_t offset = align_up(writer->output->size - writer->base, 2);
    if (offset + value.size > EXIF_SIZE_MAX) {
        return fail(err, ST_LIMIT, "EXIF is larger than a segment");
    }
    put32(writer->tiff, field, (uint32_t)offset);
    static const uint8_t padding[1] = {0};
    enum status status =
        buf_append(writer->output, padding, writer->base + offset - writer->output->size, err);
    return status != ST_OK ? status : buf_append(writer->output, value.data, value.size, err);
}

/* Writes entry number `slot` of the directory that starts at `table` (from base). */
static enum status write_entry(struct writer *writer, size_t table, uint32_t slot, const struct entry *entry,
                               struct error *err) {
    const struct tiff *tiff = writer->tiff;
    uint8_t record[ENTRY_SIZE] = {0};
    size_t place = table + 2 + (size_t)slot * ENTRY_SIZE;
    bool reset = writer->upright && entry->tag == TAG_ORIENTATION;
    put16(tiff, record, entry->tag);
    put16(tiff, record + 2, reset ? TYPE_SHORT : entry->type);
    put32(tiff, record + 4, reset ? 1 : entry->count);
    enum status status = ST_OK;
    if (reset) {
        put16(tiff, record + 8, 1);
    } else if (pointer_bit(entry->tag)) {
        writer->pointers_seen |= pointer_bit(entry->tag);
        writer->queue[writer->queued++] = (struct directory){get32(tiff, entry->value), place + 8};
    } else {
        status = write_value(writer, entry_bytes(tiff, entry), record + 8, err);
    }
    memcpy(writer->output->data + writer->base + place, record, ENTRY_SIZE);
    return status;
}

/* Appends room for a directory of `count` entries, zeroed, link to the next included. */
static enum status reserve_directory(struct writer *writer, uint32_t count, size_t *table,
                                     struct error *err) {
    size_t size = 2 + (size_t)count * ENTRY_SIZE + 4;
    size_t start = align_up(writer->output->size - writer->base, 2);
    if (start + size > EXIF_SIZE_MAX) {
        return fail(err, ST_LIMIT, "EXIF is larger than a segment");
    }
    size_t end = writer->base + start + size;
    enum status status = buf_reserve(writer->output, end - writer->output->size, err);
    if (status != ST_OK) {
        return status;
    }
    memset(writer->output->data + writer->output->size, 0, end - writer->output->size);
    writer->output->size = end;
    put16(writer->tiff, writer->output->data + writer->base + start, count);
    *table = start;
    return ST_OK;
}

static enum status write_directory(struct writer *writer, struct directory directory, struct error *err) {
    const struct tiff *tiff = writer->tiff;
    uint32_t total = directory_count(tiff, directory.source);
    uint32_t kept = 0;
    uint32_t seen = writer->pointers_seen;
    writer->orientation_seen = false;
    for (uint32_t i = 0; i < total; i++) {
        struct entry entry = directory_entry(tiff, directory.source, i);
        bool keep = keep_entry(writer, &entry);
        kept += keep;
        writer->pointers_seen |= keep ? pointer_bit(entry.tag) : 0;
    }
    writer->pointers_seen = seen;
    size_t table = 0;
    enum status status = reserve_directory(writer, kept, &table, err);
    if (status != ST_OK) {
        return status;
    }
    put32(tiff, writer->output->data + writer->base + directory.patch, (uint32_t)table);
    uint32_t slot = 0;
    writer->orientation_seen = false;
    for (uint32_t i = 0; i < total && status == ST_OK; i++) {
        struct entry entry = directory_entry(tiff, directory.source, i);
        if (keep_entry(writer, &entry)) {
            status = write_entry(writer, table, slot++, &entry, err);
        }
    }
    return status;
}

enum status exif_sanitize(struct bytes bytes, bool upright, struct buf *output, struct error *err) {
    struct tiff tiff;
    if (!tiff_open(&tiff, bytes)) {
        return ST_OK;
    }
    struct writer writer = {.tiff = &tiff, .output = output, .base = output->size, .upright = upright};
    enum status status = buf_append(output, bytes.data, HEADER_SIZE, err);
    writer.queue[writer.queued++] = (struct directory){get32(&tiff, bytes.data + 4), 4};
    for (unsigned i = 0; i < writer.queued && status == ST_OK; i++) {
        status = write_directory(&writer, writer.queue[i], err);
    }
    if (status != ST_OK) {
        output->size = writer.base;
    }
    return status == ST_LIMIT ? ST_OK : status;
}
