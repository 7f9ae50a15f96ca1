/* SPDX-License-Identifier: MIT */
#include "codecs/bmff.h"

#include <string.h>

enum { FTYP_HEAD = 16, MAJOR_BRAND = 8, FTYP_MAX = 1024 };

bool bmff_has_brand(struct bytes input, const char brand[static 4]) {
    if (input.size < FTYP_HEAD || memcmp(input.data + 4, "ftyp", 4) != 0) {
        return false;
    }
    size_t size = bytes_be32(input.data);
    size = size > input.size ? input.size : size;
    size = size > FTYP_MAX ? FTYP_MAX : size;
    bool found = memcmp(input.data + MAJOR_BRAND, brand, 4) == 0;
    for (size_t at = FTYP_HEAD; at + 4 <= size && !found; at += 4) {
        found = memcmp(input.data + at, brand, 4) == 0;
    }
    return found;
}
