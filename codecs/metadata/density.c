/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/density.h"

enum { CM_PER_METRE = 100 };

static struct density checked(struct density density) {
    bool valid = density.x > 0 && density.y > 0;
    bool square =
        density.unit == DENSITY_ASPECT && density.x == density.y; /* the default: not worth storing */
    return valid && !square ? density : (struct density){0};
}

struct density density_from_jfif(const uint8_t bytes[5]) {
    static const enum density_unit units[] = {DENSITY_ASPECT, DENSITY_INCH, DENSITY_CM};
    struct density density = {bytes_be16(bytes + 1), bytes_be16(bytes + 3), 1, DENSITY_NONE};
    density.unit = bytes[0] <= 2 ? units[bytes[0]] : DENSITY_NONE;
    return checked(density);
}

struct density density_from_phys(const uint8_t bytes[9]) {
    struct density density = {bytes_be32(bytes), bytes_be32(bytes + 4), CM_PER_METRE, DENSITY_CM};
    if (bytes[8] != 1) {
        density.scale = 1;
        density.unit = bytes[8] == 0 ? DENSITY_ASPECT : DENSITY_NONE;
    }
    return checked(density);
}

struct density density_turned(struct density density) {
    return (struct density){density.y, density.x, density.scale, density.unit};
}

/* value * factor / divisor, rounded. */
static uint64_t scaled(uint64_t value, uint64_t factor, uint64_t divisor) {
    return (value * factor + divisor / 2) / divisor;
}

static bool fits(uint64_t value, uint64_t most) {
    return value > 0 && value <= most;
}

bool density_to_jfif(struct density density, uint8_t bytes[5]) {
    uint64_t factor = 1, divisor = density.scale;
    bool whole = density.scale > 0 && density.x % density.scale == 0 && density.y % density.scale == 0;
    if (density.unit == DENSITY_NONE) {
        return false;
    }
    bytes[0] = density.unit == DENSITY_INCH ? 1 : density.unit == DENSITY_CM ? 2 : 0;
    if (density.unit == DENSITY_CM && !whole) { /* 254 centimetres are 100 inches */
        factor = 254, divisor *= 100, bytes[0] = 1;
    }
    uint64_t across = scaled(density.x, factor, divisor), down = scaled(density.y, factor, divisor);
    bytes[1] = (uint8_t)(across >> 8), bytes[2] = (uint8_t)across;
    bytes[3] = (uint8_t)(down >> 8), bytes[4] = (uint8_t)down;
    return fits(across, UINT16_MAX) && fits(down, UINT16_MAX);
}

bool density_to_phys(struct density density, uint8_t bytes[9]) {
    uint64_t factor = 1, divisor = density.scale;
    if (density.unit == DENSITY_NONE) {
        return false;
    }
    if (density.unit == DENSITY_INCH) { /* 254 inches are 10000 centimetres, 100 metres */
        factor = 10000, divisor *= 254;
    } else if (density.unit == DENSITY_CM) {
        factor = CM_PER_METRE;
    }
    uint64_t across = scaled(density.x, factor, divisor), down = scaled(density.y, factor, divisor);
    bytes_put_be32(bytes, (uint32_t)across);
    bytes_put_be32(bytes + 4, (uint32_t)down);
    bytes[8] = density.unit != DENSITY_ASPECT;
    return fits(across, INT32_MAX) && fits(down, INT32_MAX);
}
