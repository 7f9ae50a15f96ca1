/* SPDX-License-Identifier: MIT
 * An EXIF structure with all that a camera writes, in either byte order. */
#ifndef BLURD_TESTS_EXIF_FIXTURE_H
#define BLURD_TESTS_EXIF_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/bytes.h"

enum { EXIF_FIXTURE_SIZE = 512 };

struct exif_fixture {
    uint8_t data[EXIF_FIXTURE_SIZE];
    bool little;
};

static inline void exif_put(struct exif_fixture *exif, size_t at, uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        unsigned shift = exif->little ? 8 * i : 8 * (size - 1 - i);
        exif->data[at + i] = (uint8_t)(value >> shift);
    }
}

static inline void exif_entry(struct exif_fixture *exif, size_t at, uint32_t tag, uint32_t type,
                              uint32_t count, uint32_t value) {
    exif_put(exif, at, tag, 2);
    exif_put(exif, at + 2, type, 2);
    exif_put(exif, at + 4, count, 4);
    exif_put(exif, at + 8, value, type == 3 && count == 1 ? 2 : 4);
}

/* IFD0 at 8: maker, orientation, Exif and GPS directories, then IFD1 with a thumbnail.
 * The strings CAMERA, LATITUDE, PREVIEW, THUMBNAIL and STRAY mark the parts. */
static inline struct exif_fixture exif_make(bool little, uint32_t orientation) {
    struct exif_fixture exif = {.little = little};
    memcpy(exif.data, little ? "II" : "MM", 2);
    exif_put(&exif, 2, 42, 2);
    exif_put(&exif, 4, 8, 4);
    exif_put(&exif, 8, 4, 2);
    exif_entry(&exif, 10, 0x010F, 2, 7, 200);
    exif_entry(&exif, 22, 0x0112, 3, 1, orientation);
    exif_entry(&exif, 34, 0x8769, 4, 1, 80);
    exif_entry(&exif, 46, 0x8825, 4, 1, 120);
    exif_put(&exif, 58, 150, 4);
    exif_put(&exif, 80, 2, 2); /* Exif: exposure bias, maker note */
    exif_entry(&exif, 82, 0x9204, 10, 1, 210);
    exif_entry(&exif, 94, 0x927C, 7, 8, 220);
    exif_put(&exif, 120, 1, 2); /* GPS */
    exif_entry(&exif, 122, 0x0008, 2, 9, 230);
    exif_put(&exif, 150, 2, 2); /* IFD1 */
    exif_entry(&exif, 152, 0x0201, 4, 1, 300);
    exif_entry(&exif, 164, 0x0202, 4, 1, 10);
    memcpy(exif.data + 200, "CAMERA", 7);
    memcpy(exif.data + 220, "PREVIEW", 8);
    memcpy(exif.data + 230, "LATITUDE", 9);
    memcpy(exif.data + 300, "THUMBNAIL", 10);
    memcpy(exif.data + 400, "STRAY", 6);
    return exif;
}

static inline struct bytes exif_bytes(const struct exif_fixture *exif) {
    return (struct bytes){exif->data, EXIF_FIXTURE_SIZE};
}

#endif
