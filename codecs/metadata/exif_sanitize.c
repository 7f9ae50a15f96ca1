/* SPDX-License-Identifier: MIT
 * The copy is built from accepted values instead of blanking parts of the input, so bytes that no listed
 * tag refers to cannot slip through. */
#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/exif_tags.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/tiff.h"

enum {
    TAG_X_RESOLUTION = 0x011A,
    TAG_Y_RESOLUTION = 0x011B,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_PHOTO = 0x8769,
    TAG_GPS = 0x8825,
    TAG_INTEROP = 0xA005,
    MADE_SIZE = 8,     /* bytes of the largest value made here */
    ENCODING_SIZE = 8, /* bytes of the encoding name before a comment */
};

/* ---- reading ---- */

struct value {
    bool seen;    /* an entry had this tag: the first one counts, valid or not */
    bool written; /* it goes into the output */
    uint16_t type;
    uint32_t count;
    struct bytes bytes;      /* in the input's byte order, or in `made` */
    uint8_t made[MADE_SIZE]; /* instead of the input's */
};

struct exif_writer {
    const struct tiff *tiff;
    const struct exif_facts *facts;
    unsigned *losses;
    const struct exif_tag *tags;
    size_t tag_count;
    struct value value[EXIF_TAGS_MAX];  /* one for each row of the table */
    size_t offset[EXIF_DIRECTORIES];    /* offset in the output */
    uint32_t entries[EXIF_DIRECTORIES]; /* written entries */
};

/* A comment in an unknown encoding is left out. Programs disagree on the byte order of UTF-16. */
static bool is_plain_comment(struct bytes comment) {
    struct bytes text = {comment.data + ENCODING_SIZE, comment.size - ENCODING_SIZE};
    if (comment.size < ENCODING_SIZE) {
        return false;
    }
    if (memcmp(comment.data, "UNICODE", ENCODING_SIZE) == 0) {
        return plain_text_accepts_utf16(text, true) || plain_text_accepts_utf16(text, false);
    }
    bool known = memcmp(comment.data, "ASCII\0\0", ENCODING_SIZE) == 0 ||
                 memcmp(comment.data, "\0\0\0\0\0\0\0", ENCODING_SIZE) == 0;
    return known && plain_text_accepts(text);
}

static bool is_fit(const struct tiff *tiff, const struct exif_tag *row, const struct tiff_entry *entry) {
    struct bytes value = tiff_value(tiff, entry);
    unsigned type = entry->type;
    if (value.size == 0 || entry->count > row->most) {
        return false;
    }
    switch (row->form) {
    case EXIF_TEXT:
        return (type == TIFF_ASCII || type == TIFF_UTF8) && plain_text_accepts(value);
    case EXIF_TEXT16:
        return type == TIFF_BYTE && plain_text_accepts_utf16(value, true);
    case EXIF_COMMENT:
        return type == TIFF_UNDEFINED && is_plain_comment(value);
    case EXIF_NUMBER:
        return type == TIFF_BYTE || type == TIFF_SHORT || type == TIFF_LONG;
    case EXIF_RATIO:
        return type == TIFF_RATIO || type == TIFF_SIGNED_RATIO;
    case EXIF_BYTES:
        return type == TIFF_BYTE || type == TIFF_UNDEFINED || type == TIFF_ASCII;
    default:
        return true;
    }
}

static void read_entry(struct exif_writer *writer, enum exif_directory directory,
                       const struct tiff_entry *entry) {
    const struct exif_tag *row = exif_tag_find(directory, entry->tag);
    if (!row) {
        *writer->losses |= exif_tag_loss(entry->tag);
        return;
    }
    struct value *value = &writer->value[row - writer->tags];
    if (value->seen) {
        return;
    }
    value->seen = true;
    value->written = is_fit(writer->tiff, row, entry);
    value->type = entry->type;
    value->count = entry->count;
    value->bytes = tiff_value(writer->tiff, entry);
    *writer->losses |= value->written ? 0 : LOSS_EXIF;
}

static void read_directory(struct exif_writer *writer, enum exif_directory directory, uint32_t offset) {
    uint32_t count = tiff_count(writer->tiff, offset);
    for (uint32_t i = 0; i < count; i++) {
        struct tiff_entry entry = tiff_entry_at(writer->tiff, offset, i);
        read_entry(writer, directory, &entry);
    }
}

static struct value *value_of(struct exif_writer *writer, enum exif_directory directory, uint16_t tag) {
    return &writer->value[exif_tag_find(directory, tag) - writer->tags];
}

/* A pointer counts only in its own directory, so that no directory is read twice. */
static void follow(struct exif_writer *writer, enum exif_directory from, uint16_t tag,
                   enum exif_directory to) {
    const struct value *pointer = value_of(writer, from, tag);
    if (pointer->written && pointer->type == TIFF_LONG && pointer->count == 1) {
        read_directory(writer, to, tiff_get32(writer->tiff, pointer->bytes.data));
    }
}

/* The second main directory describes the thumbnail. */
static void read_all(struct exif_writer *writer) {
    const struct tiff *tiff = writer->tiff;
    uint32_t first = tiff_first(tiff);
    read_directory(writer, EXIF_MAIN, first);
    follow(writer, EXIF_MAIN, TAG_PHOTO, EXIF_PHOTO);
    follow(writer, EXIF_MAIN, TAG_GPS, EXIF_GPS);
    follow(writer, EXIF_PHOTO, TAG_INTEROP, EXIF_INTEROP);
    uint64_t link = first + 2 + (uint64_t)tiff_count(tiff, first) * TIFF_ENTRY_SIZE;
    bool linked = first >= TIFF_HEADER_SIZE && link + 4 <= tiff->bytes.size;
    if (linked && tiff_count(tiff, tiff_get32(tiff, tiff->bytes.data + link)) > 0) {
        *writer->losses |= LOSS_THUMBNAIL;
    }
}

/* ---- values of the written picture ---- */

static void make_short(const struct tiff *tiff, struct value *value, uint32_t number) {
    tiff_put16(tiff, value->made, number);
    value->written = true;
    value->type = TIFF_SHORT;
    value->count = 1;
    value->bytes = (struct bytes){value->made, 2};
}

static void make_long(const struct tiff *tiff, struct value *value, uint32_t number) {
    tiff_put32(tiff, value->made, number);
    value->written = true;
    value->type = TIFF_LONG;
    value->count = 1;
    value->bytes = (struct bytes){value->made, 4};
}

static void make_ratio(const struct tiff *tiff, struct value *value, uint32_t top, uint32_t bottom) {
    tiff_put32(tiff, value->made, top);
    tiff_put32(tiff, value->made + 4, bottom);
    value->written = true;
    value->type = TIFF_RATIO;
    value->count = 1;
    value->bytes = (struct bytes){value->made, 8};
}

/* Pointers get their values when offsets are known. */
static void make_value(struct exif_writer *writer, const struct exif_tag *row, struct value *value) {
    const struct tiff *tiff = writer->tiff;
    const struct exif_facts *facts = writer->facts;
    switch (row->form) {
    case EXIF_ORIENTATION:
        value->written = false;
        if (value->seen) {
            make_short(tiff, value, facts->upright ? 1 : exif_orientation(tiff->bytes));
        }
        return;
    case EXIF_WIDTH:
    case EXIF_HEIGHT:
        value->written = false;
        if (value->seen) {
            make_long(tiff, value, row->form == EXIF_WIDTH ? facts->width : facts->height);
        }
        return;
    case EXIF_X_RESOLUTION:
    case EXIF_Y_RESOLUTION:
    case EXIF_RESOLUTION_UNIT:
    case EXIF_POINTER_PHOTO:
    case EXIF_POINTER_GPS:
    case EXIF_POINTER_INTEROP:
        value->written = false;
        return;
    default:
        return;
    }
}

static void make_resolution(struct exif_writer *writer) {
    struct density density = writer->facts->density;
    if (density.unit == DENSITY_INCH || density.unit == DENSITY_CM) {
        const struct tiff *tiff = writer->tiff;
        make_ratio(tiff, value_of(writer, EXIF_MAIN, TAG_X_RESOLUTION), density.x, density.scale);
        make_ratio(tiff, value_of(writer, EXIF_MAIN, TAG_Y_RESOLUTION), density.y, density.scale);
        make_short(tiff, value_of(writer, EXIF_MAIN, TAG_RESOLUTION_UNIT),
                   density.unit == DENSITY_INCH ? 2 : 3);
    }
}

static void count_entries(struct exif_writer *writer) {
    memset(writer->entries, 0, sizeof(writer->entries));
    for (size_t i = 0; i < writer->tag_count; i++) {
        writer->entries[writer->tags[i].directory] += writer->value[i].written;
    }
}

/* Inner directories come first: an outer one points only to written ones. */
static void make_pointers(struct exif_writer *writer) {
    static const struct {
        enum exif_directory from, to;
        uint16_t tag;
    } pointers[] = {{EXIF_PHOTO, EXIF_INTEROP, TAG_INTEROP},
                    {EXIF_MAIN, EXIF_GPS, TAG_GPS},
                    {EXIF_MAIN, EXIF_PHOTO, TAG_PHOTO}};
    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
        count_entries(writer);
        struct value *value = value_of(writer, pointers[i].from, pointers[i].tag);
        make_long(writer->tiff, value, 0);
        value->written = writer->entries[pointers[i].to] > 0;
    }
    count_entries(writer);
}

/* ---- writing ---- */

static size_t outside_size(const struct value *value) {
    return value->written && value->bytes.size > TIFF_INLINE_SIZE ? bytes_align_up(value->bytes.size, 2) : 0;
}

/* Places the directories one behind the other; returns where the last one ends. */
static size_t place_directories(struct exif_writer *writer) {
    size_t end = TIFF_HEADER_SIZE;
    for (unsigned d = 0; d < EXIF_DIRECTORIES; d++) {
        writer->offset[d] = end;
        end += writer->entries[d] > 0 ? 2 + (size_t)writer->entries[d] * TIFF_ENTRY_SIZE + 4 : 0;
        for (size_t i = 0; i < writer->tag_count; i++) {
            end += writer->tags[i].directory == d ? outside_size(&writer->value[i]) : 0;
        }
    }
    tiff_put32(writer->tiff, value_of(writer, EXIF_MAIN, TAG_PHOTO)->made,
               (uint32_t)writer->offset[EXIF_PHOTO]);
    tiff_put32(writer->tiff, value_of(writer, EXIF_MAIN, TAG_GPS)->made, (uint32_t)writer->offset[EXIF_GPS]);
    tiff_put32(writer->tiff, value_of(writer, EXIF_PHOTO, TAG_INTEROP)->made,
               (uint32_t)writer->offset[EXIF_INTEROP]);
    return end;
}

/* `base` is zeroed. The table and the file have the same order of tags. */
static void write_directory(const struct exif_writer *writer, unsigned directory, uint8_t *base) {
    const struct tiff *tiff = writer->tiff;
    uint8_t *entry = base + writer->offset[directory] + 2;
    size_t outside = writer->offset[directory] + 2 + (size_t)writer->entries[directory] * TIFF_ENTRY_SIZE + 4;
    tiff_put16(tiff, entry - 2, writer->entries[directory]);
    for (size_t i = 0; i < writer->tag_count; i++) {
        const struct value *value = &writer->value[i];
        if (writer->tags[i].directory != directory || !value->written) {
            continue;
        }
        tiff_put16(tiff, entry, writer->tags[i].tag);
        tiff_put16(tiff, entry + 2, value->type);
        tiff_put32(tiff, entry + 4, value->count);
        if (outside_size(value) > 0) {
            tiff_put32(tiff, entry + 8, (uint32_t)outside);
        }
        memcpy(outside_size(value) > 0 ? base + outside : entry + 8, value->bytes.data, value->bytes.size);
        outside += outside_size(value);
        entry += TIFF_ENTRY_SIZE;
    }
}

static enum status write_all(struct exif_writer *writer, struct buf *output, struct error *err) {
    size_t size = place_directories(writer);
    if (size > EXIF_SIZE_MAX) {
        return fail(err, ST_INTERNAL, "sanitised EXIF is %zu bytes, above the limit", size);
    }
    enum status status = buf_reserve(output, size, err);
    if (status != ST_OK) {
        return status;
    }
    uint8_t *base = output->data + output->size;
    memset(base, 0, size);
    memcpy(base, writer->tiff->bytes.data, 4);
    tiff_put32(writer->tiff, base + 4, TIFF_HEADER_SIZE);
    for (unsigned d = 0; d < EXIF_DIRECTORIES; d++) {
        if (writer->entries[d] > 0) {
            write_directory(writer, d, base);
        }
    }
    output->size += size;
    return ST_OK;
}

enum status exif_sanitize(struct bytes bytes, const struct exif_facts *facts, struct buf *output,
                          unsigned *losses, struct error *err) {
    struct tiff tiff;
    struct exif_writer writer = {.tiff = &tiff, .facts = facts, .losses = losses};
    if (!tiff_open(&tiff, bytes)) {
        *losses |= bytes.size > 0 ? LOSS_EXIF : 0;
        return ST_OK;
    }
    writer.tags = exif_tags(&writer.tag_count);
    read_all(&writer);
    for (size_t i = 0; i < writer.tag_count; i++) {
        make_value(&writer, &writer.tags[i], &writer.value[i]);
    }
    make_pointers(&writer);
    if (writer.entries[EXIF_MAIN] == 0) {
        return ST_OK;
    }
    make_resolution(&writer);
    count_entries(&writer);
    return write_all(&writer, output, err);
}
