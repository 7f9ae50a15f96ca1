/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_expand.h"

#include <string.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, COLOURS = 256 };

bool png_expands(const struct png_facts *facts) {
    return facts->color_type == PALETTE || facts->depth < 8 || facts->transparent;
}

/* Colours that the palette lacks stay black. */
static void read_palette(struct png_expansion *expansion, struct bytes palette, struct bytes transparency) {
    for (size_t i = 0; i < COLOURS; i++) {
        if (3 * i + 2 < palette.size) {
            memcpy(expansion->colour[i], palette.data + 3 * i, 3);
        }
        expansion->colour[i][3] = i < transparency.size ? transparency.data[i] : 255;
    }
}

/* Samples of grey from black to white. */
static void make_greys(struct png_expansion *expansion, struct bytes transparency) {
    const unsigned last = (1u << expansion->depth) - 1;
    const unsigned clear = transparency.size > 1 ? transparency.data[1] & last : COLOURS;
    for (unsigned i = 0; i <= last; i++) {
        expansion->colour[i][0] = (uint8_t)(i * (255 / last));
        expansion->colour[i][1] = i == clear ? 0 : 255;
    }
}

static void make_spread(struct png_expansion *expansion) {
    const unsigned depth = expansion->depth, last = (1u << depth) - 1;
    for (unsigned byte = 0; byte < COLOURS; byte++) {
        for (unsigned i = 0; i < 8 / depth; i++) {
            const unsigned index = byte >> (8 - depth * (i + 1)) & last;
            expansion->spread[byte][i] =
                expansion->channels == 1 ? expansion->colour[index][0] : (uint8_t)index;
        }
    }
}

/* A sample of 8 bits is the second byte in tRNS. */
static void read_key(struct png_expansion *expansion, struct bytes transparency) {
    const unsigned skipped = 2 - expansion->sample;
    for (size_t i = 0; i < expansion->pixel && i < sizeof(expansion->key); i++) {
        expansion->key[i] = transparency.data[i / expansion->sample * 2 + i % expansion->sample + skipped];
    }
}

void png_expansion_init(struct png_expansion *expansion, const struct png_facts *facts, struct bytes palette,
                        struct bytes transparency) {
    const unsigned samples = facts->color_type == RGB ? 3 : 1;
    *expansion = (struct png_expansion){.depth = facts->depth};
    if (facts->color_type != PALETTE && (samples > 1 || facts->depth == 16)) {
        expansion->sample = facts->depth / 8u;
        expansion->pixel = samples * expansion->sample;
        read_key(expansion, transparency);
        return;
    }
    if (facts->color_type == PALETTE) {
        expansion->channels = facts->transparent ? 4 : 3;
        read_palette(expansion, palette, transparency);
    } else {
        expansion->channels = facts->transparent ? 2 : 1;
        make_greys(expansion, transparency);
    }
    if (facts->depth < 8) {
        make_spread(expansion);
    }
}

/* What comes last is a constant wherever these are inlined. */
#define INLINE static inline __attribute__((always_inline))

INLINE void unpack(const struct png_expansion *expansion, const uint8_t *from, uint8_t *to, uint32_t width,
                   unsigned step) {
    for (uint32_t x = 0; x < width; x += step) {
        memcpy(to + x, expansion->spread[*from++], step);
    }
}

/* Moves four bytes for each pixel but the last; the next pixel overwrites those too many. */
INLINE void look_up(const struct png_expansion *expansion, const uint8_t *indices, uint8_t *to,
                    uint32_t width, unsigned channels) {
    for (uint32_t x = 0; x + 1 < width; x++) {
        memcpy(to + (size_t)x * channels, expansion->colour[indices[x]], 4);
    }
    memcpy(to + (size_t)(width - 1) * channels, expansion->colour[indices[width - 1]], channels);
}

INLINE void add_alpha(const struct png_expansion *expansion, const uint8_t *from, uint8_t *to, uint32_t width,
                      unsigned samples, unsigned size) {
    const unsigned pixel = samples * size;
    for (uint32_t x = 0; x < width; x++, from += pixel, to += size) {
        const int alpha = memcmp(from, expansion->key, pixel) == 0 ? 0 : 255;
        for (unsigned i = 0; i < pixel; i += size, to += size) {
            const uint16_t deep = (uint16_t)(from[i] << 8 | from[i + size - 1]);
            memcpy(to, size == 1 ? (const void *)(from + i) : &deep, size);
        }
        memset(to, alpha, size);
    }
}

static void expand_keyed(const struct png_expansion *expansion, const uint8_t *from, uint8_t *to,
                         uint32_t width) {
    switch (expansion->pixel) {
    case 2:
        add_alpha(expansion, from, to, width, 1, 2);
        break;
    case 3:
        add_alpha(expansion, from, to, width, 3, 1);
        break;
    default:
        add_alpha(expansion, from, to, width, 3, 2);
    }
}

static void unpack_row(const struct png_expansion *expansion, const uint8_t *from, uint8_t *to,
                       uint32_t width) {
    switch (expansion->depth) {
    case 1:
        unpack(expansion, from, to, width, 8);
        break;
    case 2:
        unpack(expansion, from, to, width, 4);
        break;
    default:
        unpack(expansion, from, to, width, 2);
    }
}

void png_expand_row(const struct png_expansion *expansion, const uint8_t *from, uint8_t *indices, uint8_t *to,
                    uint32_t width) {
    if (expansion->pixel > 0) {
        expand_keyed(expansion, from, to, width);
        return;
    }
    if (expansion->depth < 8) {
        uint8_t *unpacked = expansion->channels == 1 ? to : indices;
        unpack_row(expansion, from, unpacked, width);
        from = unpacked;
    }
    switch (expansion->channels) {
    case 1:
        break;
    case 2:
        look_up(expansion, from, to, width, 2);
        break;
    case 3:
        look_up(expansion, from, to, width, 3);
        break;
    default:
        look_up(expansion, from, to, width, 4);
    }
}
