/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/exif.h"

#include "codecs/metadata/tiff.h"

enum {
    TAG_ORIENTATION = 0x0112,
    TAG_X_RESOLUTION = 0x011A,
    TAG_Y_RESOLUTION = 0x011B,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_PHOTO = 0x8769,
    TAG_COLOUR_SPACE = 0xA001,
    TAG_INTEROP = 0xA005,
    TAG_INTEROP_INDEX = 1,
};

static bool find_entry(const struct tiff *tiff, uint16_t tag, struct tiff_entry *entry) {
    return tiff_find(tiff, tiff_first(tiff), tag, entry);
}

static uint8_t orientation_of(const struct tiff *tiff, const struct tiff_entry *entry) {
    uint32_t value = tiff_get16(tiff, entry->value);
    bool valid = entry->type == TIFF_SHORT && entry->count == 1 && value >= 1 && value <= 8;
    return valid ? (uint8_t)value : 0;
}

uint8_t exif_orientation(struct bytes bytes) {
    struct tiff tiff;
    struct tiff_entry entry;
    bool found = tiff_open(&tiff, bytes) && find_entry(&tiff, TAG_ORIENTATION, &entry);
    uint8_t orientation = found ? orientation_of(&tiff, &entry) : 0;
    return orientation ? orientation : 1;
}

void exif_set_orientation(uint8_t *data, size_t size, uint8_t orientation) {
    struct tiff tiff;
    if (!tiff_open(&tiff, (struct bytes){data, size})) {
        return;
    }
    uint32_t first = tiff_first(&tiff), count = tiff_count(&tiff, first);
    for (uint32_t i = 0; i < count; i++) {
        struct tiff_entry entry = tiff_entry_at(&tiff, first, i);
        if (entry.tag == TAG_ORIENTATION && entry.type == TIFF_SHORT) {
            tiff_put16(&tiff, data + (entry.value - data), orientation);
        }
    }
}

struct fraction {
    uint32_t top, bottom; /* both 0: none */
};

static struct fraction find_fraction(const struct tiff *tiff, uint16_t tag) {
    struct tiff_entry entry;
    if (!find_entry(tiff, tag, &entry) || entry.type != TIFF_RATIO || entry.count != 1) {
        return (struct fraction){0};
    }
    struct bytes value = tiff_value(tiff, &entry);
    if (value.size != 8 || tiff_get32(tiff, value.data) == 0 || tiff_get32(tiff, value.data + 4) == 0) {
        return (struct fraction){0};
    }
    return (struct fraction){tiff_get32(tiff, value.data), tiff_get32(tiff, value.data + 4)};
}

/* Hundredths are finer than any device needs. */
static uint32_t hundredths(struct fraction fraction) {
    uint64_t value = ((uint64_t)fraction.top * 100 + fraction.bottom / 2) / fraction.bottom;
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

struct density exif_density(struct bytes bytes) {
    struct tiff tiff;
    struct tiff_entry entry;
    if (!tiff_open(&tiff, bytes)) {
        return (struct density){0};
    }
    struct fraction x = find_fraction(&tiff, TAG_X_RESOLUTION), y = find_fraction(&tiff, TAG_Y_RESOLUTION);
    bool given = find_entry(&tiff, TAG_RESOLUTION_UNIT, &entry) && entry.type == TIFF_SHORT;
    uint32_t unit = given ? tiff_get16(&tiff, entry.value) : 2; /* the default */
    if (x.bottom == 0 || y.bottom == 0 || (unit != 2 && unit != 3)) {
        return (struct density){0};
    }
    struct density density = {x.top, y.top, x.bottom, unit == 2 ? DENSITY_INCH : DENSITY_CM};
    if (x.bottom != y.bottom) {
        density.x = hundredths(x), density.y = hundredths(y), density.scale = 100;
    }
    return density.x > 0 && density.y > 0 ? density : (struct density){0};
}

static bool find_directory(const struct tiff *tiff, uint32_t from, uint16_t tag, uint32_t *offset) {
    struct tiff_entry entry;
    bool found = tiff_find(tiff, from, tag, &entry) && entry.type == TIFF_LONG && entry.count == 1;
    *offset = found ? tiff_get32(tiff, entry.value) : 0;
    return found;
}

bool exif_is_adobe_rgb(struct bytes bytes) {
    enum { ADOBE = 2, UNCALIBRATED = 0xFFFF };
    struct tiff tiff;
    struct tiff_entry entry;
    uint32_t photo, interop;
    if (!tiff_open(&tiff, bytes) || !find_directory(&tiff, tiff_first(&tiff), TAG_PHOTO, &photo) ||
        !tiff_find(&tiff, photo, TAG_COLOUR_SPACE, &entry) || entry.type != TIFF_SHORT || entry.count != 1) {
        return false;
    }
    uint32_t space = tiff_get16(&tiff, entry.value);
    if (space != UNCALIBRATED || !find_directory(&tiff, photo, TAG_INTEROP, &interop) ||
        !tiff_find(&tiff, interop, TAG_INTEROP_INDEX, &entry)) {
        return space == ADOBE;
    }
    return entry.type == TIFF_ASCII && entry.count == 4 && memcmp(entry.value, "R03", 4) == 0;
}

struct bytes exif_maker_note(struct bytes bytes) {
    enum { TAG_MAKER_NOTE = 0x927C };
    struct tiff tiff;
    struct tiff_entry entry;
    uint32_t photo;
    bool found = tiff_open(&tiff, bytes) && find_directory(&tiff, tiff_first(&tiff), TAG_PHOTO, &photo) &&
                 tiff_find(&tiff, photo, TAG_MAKER_NOTE, &entry) && entry.type == TIFF_UNDEFINED;
    return found ? tiff_value(&tiff, &entry) : (struct bytes){0};
}
