/* SPDX-License-Identifier: MIT
 * A readable ICC profile of any size, laid out as icc_sanitize writes: where the size is a multiple of four,
 * it is written again byte for byte. */
#ifndef BLURD_TESTS_UNIT_ICC_FIXTURE_H
#define BLURD_TESTS_UNIT_ICC_FIXTURE_H

#include <string.h>

#include "core/bytes.h"

enum { ICC_FIXTURE_LEAST = 380 }; /* bytes */

static inline uint8_t *icc_make_entry(uint8_t *entry, const char *name, size_t at, size_t size) {
    memcpy(entry, name, 4);
    bytes_put_be32(entry + 4, (uint32_t)at);
    bytes_put_be32(entry + 8, (uint32_t)size);
    return entry + 12;
}

/* Of version 2, for "RGB " or "GRAY". The samples of its curve, which fill what is left, are 'p'. */
static inline void icc_make(uint8_t *profile, size_t size, const char *space) {
    static const uint8_t d50[12] = {0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d};
    int rgb = memcmp(space, "RGB ", 4) == 0, tags = rgb ? 8 : 3;
    size_t name = 132 + 12 * (size_t)tags, text = name + 104, colour = text + 16,
           curve = colour + (rgb ? 20 : 0);
    size_t samples = (size - curve - 12) / 2;
    memset(profile, 0, curve + 12);
    memset(profile + curve + 12, 'p', size - curve - 12);
    bytes_put_be32(profile, (uint32_t)size);
    profile[8] = 2;
    memcpy(profile + 12, "mntr", 4);
    memcpy(profile + 16, space, 4);
    memcpy(profile + 20, "XYZ ", 4);
    memcpy(profile + 36, "acsp", 4);
    memcpy(profile + 68, d50, sizeof(d50));
    bytes_put_be32(profile + 128, (uint32_t)tags);
    uint8_t *entry = icc_make_entry(icc_make_entry(profile + 132, "desc", name, 103), "cprt", text, 13);
    const char *names = rgb ? "rXYZgXYZbXYZrTRCgTRCbTRC" : "kTRC";
    for (int i = 0; i < tags - 2; i++) {
        int is_curve = !rgb || i >= 3;
        entry =
            icc_make_entry(entry, names + 4 * i, is_curve ? curve : colour, is_curve ? 12 + 2 * samples : 20);
    }
    memcpy(profile + name, "desc\0\0\0\0\0\0\0\15PROFILE-BODY", 24);
    memcpy(profile + text, "text\0\0\0\0none", 12);
    if (rgb) {
        memcpy(profile + colour, "XYZ \0\0\0\0\0\1\0\0\0\1\0\0\0\1", 18);
    }
    memcpy(profile + curve, "curv", 4);
    bytes_put_be32(profile + curve + 8, (uint32_t)samples);
}

#endif
