/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_metadata.h"

#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/exif_tags.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"

enum { HEADER = 8, ENTRY = 12, LINK = 4, TYPE_LONG = 4 };
enum { RESOURCE_HEAD = 12 }; /* "8BIM", number, an empty name, size */

/* ---- EXIF ---- */

/* The listed entries of one directory. */
struct tiff_list {
    unsigned count;
    struct tiff_directory_entry entry[EXIF_TAGS_MAX];
};

struct tiff_exif {
    const struct tiff_directory *directory; /* of the page */
    unsigned *losses;
    size_t size; /* of the structure */
    struct tiff_list list[EXIF_DIRECTORIES];
};

/* Tags about the storage of pixels say nothing, and others have a place of their own. */
static unsigned loss_of(enum exif_directory which, uint16_t tag) {
    enum { STORAGE_END = 347, OLD_JPEG = 512, OLD_JPEG_END = 532, LAYERS = 37724 };
    bool storage = tag == TIFF_TAG_SUBFILE + 1 || (tag >= TIFF_TAG_SUBFILE && tag <= STORAGE_END) ||
                   (tag >= OLD_JPEG && tag <= OLD_JPEG_END);
    if (which != EXIF_MAIN) {
        return exif_tag_loss(tag);
    }
    switch (tag) {
    case TIFF_TAG_SUBDIRECTORIES:
        return LOSS_THUMBNAIL;
    case LAYERS: /* of Photoshop */
        return LOSS_PICTURES;
    case TIFF_TAG_XMP:
    case TIFF_TAG_IPTC:
    case TIFF_TAG_PHOTOSHOP:
    case TIFF_TAG_PROFILE:
        return 0;
    default:
        return storage ? 0 : exif_tag_loss(tag);
    }
}

static bool is_pointer(const struct exif_tag *row) {
    return row->form == EXIF_POINTER_PHOTO || row->form == EXIF_POINTER_GPS ||
           row->form == EXIF_POINTER_INTEROP;
}

static void take(struct tiff_exif *exif, enum exif_directory which,
                 const struct tiff_directory_entry *entry) {
    struct tiff_list *list = &exif->list[which];
    const struct exif_tag *row = exif_tag_find(which, entry->tag);
    if (!row) {
        *exif->losses |= loss_of(which, entry->tag);
        return;
    }
    for (unsigned i = 0; i < list->count; i++) {
        if (list->entry[i].tag == entry->tag) {
            return;
        }
    }
    size_t size = ENTRY + entry->value.size + (entry->value.size & 1);
    bool fits = entry->value.size > 0 && entry->count <= row->most && list->count < EXIF_TAGS_MAX &&
                size <= EXIF_SIZE_MAX - exif->size;
    if (!fits && !is_pointer(row)) {
        *exif->losses |= LOSS_EXIF;
    } else if (fits && !is_pointer(row)) {
        list->entry[list->count++] = *entry;
        exif->size += size;
    }
}

static void collect(struct tiff_exif *exif, enum exif_directory which, struct tiff_directory directory,
                    uint16_t pointer) {
    uint64_t offset = pointer ? tiff_directory_value(&directory, pointer, 0) : 0;
    if (pointer && (offset == 0 || !tiff_directory_go(&directory, offset))) {
        return;
    }
    for (uint32_t i = 0; i < directory.count; i++) {
        struct tiff_directory_entry entry = tiff_directory_at(&directory, i);
        take(exif, which, &entry);
    }
    if (which == EXIF_PHOTO) {
        collect(exif, EXIF_INTEROP, directory, TIFF_TAG_INTEROP);
    }
}

struct tiff_cursor {
    const struct tiff_directory *order;
    uint8_t *start, *entry, *value; /* next entry, next value */
};

static void put_entry(struct tiff_cursor *cursor, uint16_t tag, uint16_t type, uint64_t count,
                      struct bytes value) {
    tiff_directory_put(cursor->order, cursor->entry, tag, 2);
    tiff_directory_put(cursor->order, cursor->entry + 2, type, 2);
    tiff_directory_put(cursor->order, cursor->entry + 4, count, 4);
    uint8_t *place = cursor->entry + 8;
    if (value.size > 4) {
        tiff_directory_put(cursor->order, place, (uint64_t)(cursor->value - cursor->start), 4);
        place = cursor->value;
        cursor->value += value.size + (value.size & 1);
    }
    memcpy(place, value.data, value.size);
    cursor->entry += ENTRY;
}

static void put_pointer(struct tiff_cursor *cursor, uint16_t tag, const uint8_t *to) {
    uint8_t offset[4];
    tiff_directory_put(cursor->order, offset, (uint64_t)(to - cursor->start), 4);
    put_entry(cursor, tag, TYPE_LONG, 1, (struct bytes){offset, 4});
}

static size_t head_of(const struct tiff_list *list, unsigned pointers) {
    return 2 + (list->count + pointers) * (size_t)ENTRY + LINK;
}

/* All four directories, the values behind them. The memory is zero. */
static void write_exif(const struct tiff_exif *exif, uint8_t *memory) {
    static const uint8_t pointers[EXIF_DIRECTORIES] = {[EXIF_MAIN] = 2, [EXIF_PHOTO] = 1};
    struct tiff_cursor cursor = {.order = exif->directory, .start = memory};
    uint8_t *directory[EXIF_DIRECTORIES], *at = memory + HEADER;
    memcpy(memory, exif->directory->little ? "II*\0" : "MM\0*", 4);
    tiff_directory_put(cursor.order, memory + 4, HEADER, 4);
    for (unsigned i = 0; i < EXIF_DIRECTORIES; i++) {
        directory[i] = at;
        at += head_of(&exif->list[i], pointers[i]);
    }
    cursor.value = at;
    for (unsigned i = 0; i < EXIF_DIRECTORIES; i++) {
        const struct tiff_list *list = &exif->list[i];
        tiff_directory_put(cursor.order, directory[i], list->count + pointers[i], 2);
        cursor.entry = directory[i] + 2;
        for (unsigned j = 0; j < list->count; j++) {
            put_entry(&cursor, list->entry[j].tag, list->entry[j].type, list->entry[j].count,
                      list->entry[j].value);
        }
        if (i == EXIF_MAIN) {
            put_pointer(&cursor, TIFF_TAG_PHOTO, directory[EXIF_PHOTO]);
            put_pointer(&cursor, TIFF_TAG_GPS, directory[EXIF_GPS]);
        } else if (i == EXIF_PHOTO) {
            put_pointer(&cursor, TIFF_TAG_INTEROP, directory[EXIF_INTEROP]);
        }
    }
}

/* ---- all ---- */

static struct bytes value_of(const struct tiff_layout *layout, uint16_t tag) {
    struct tiff_directory_entry entry;
    return tiff_directory_find(&layout->directory, tag, &entry) ? entry.value : (struct bytes){0};
}

/* IPTC as JPEG has it: among the resources of Photoshop. */
static void wrap_iptc(struct bytes iptc, uint8_t *memory) {
    memcpy(memory, "8BIM\4\4\0\0", 8);
    bytes_put_be32(memory + 8, (uint32_t)iptc.size);
    memcpy(memory + RESOURCE_HEAD, iptc.data, iptc.size);
}

static enum status store(const struct tiff_exif *exif, struct bytes iptc, struct metadata *metadata,
                         struct error *err) {
    size_t resource = iptc.size > 0 ? RESOURCE_HEAD + iptc.size + (iptc.size & 1) : 0;
    buf_init(&metadata->store, exif->size + resource);
    enum status status = buf_reserve(&metadata->store, exif->size + resource, err);
    if (status != ST_OK) {
        return status;
    }
    metadata->store.size = exif->size + resource;
    memset(metadata->store.data, 0, metadata->store.size);
    write_exif(exif, metadata->store.data);
    metadata->exif = (struct bytes){metadata->store.data, exif->size};
    if (resource > 0) {
        wrap_iptc(iptc, metadata->store.data + exif->size);
        metadata->photoshop = (struct bytes){metadata->store.data + exif->size, resource};
    }
    return ST_OK;
}

static struct bytes choose_iptc(const struct tiff_layout *layout, struct metadata *metadata) {
    struct bytes iptc = value_of(layout, TIFF_TAG_IPTC);
    metadata->photoshop = value_of(layout, TIFF_TAG_PHOTOSHOP);
    if (metadata->photoshop.size > 0 &&
        memmem(metadata->photoshop.data, metadata->photoshop.size, "8BIM\4\4", 6)) {
        return (struct bytes){0};
    }
    if (iptc.size > IPTC_SIZE_MAX - RESOURCE_HEAD - 1) {
        metadata->losses |= LOSS_IPTC;
        return (struct bytes){0};
    }
    return iptc;
}

enum status tiff_metadata_read(const struct tiff_layout *layout, struct metadata *metadata,
                               struct error *err) {
    enum { POINTERS = 3 };
    const struct tiff_directory *directory = &layout->directory;
    struct tiff_exif exif = {.directory = directory, .losses = &metadata->losses};
    exif.size = HEADER + EXIF_DIRECTORIES * (2 + LINK) + POINTERS * ENTRY;
    collect(&exif, EXIF_MAIN, *directory, 0);
    collect(&exif, EXIF_PHOTO, *directory, TIFF_TAG_PHOTO);
    collect(&exif, EXIF_GPS, *directory, TIFF_TAG_GPS);
    uint64_t orientation = tiff_directory_value(directory, TIFF_TAG_ORIENTATION, 1);
    metadata->orientation = orientation >= 1 && orientation <= 8 ? (uint8_t)orientation : 1;
    metadata->xmp = value_of(layout, TIFF_TAG_XMP);
    struct bytes profile = value_of(layout, TIFF_TAG_PROFILE);
    if (profile.size > 0) {
        metadata->chunk[metadata->chunk_count++] = (struct metadata_chunk){CHUNK_ICC, 0, profile};
    }
    return store(&exif, choose_iptc(layout, metadata), metadata, err);
}
