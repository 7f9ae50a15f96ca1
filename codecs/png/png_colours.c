/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_colours.h"

#include <stdlib.h>

#define GOLDEN 0x9E3779B1u /* 2^32 by the golden ratio */
#define KNOWN (UINT64_C(1) << 32)

enum {
    LOOK_STEP = 32, /* one row in so many is looked at first */
    TRIALS = 1000,  /* of factors, one in seven of which is right for 256 colours by chance */
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static bool is_tinted(uint32_t colour) {
    return ((colour ^ colour >> 8) & 0xFFFF) != 0;
}

static bool add(struct png_colours *colours, uint32_t colour, uint64_t *slot, unsigned most) {
    colours->tinted |= is_tinted(colour);
    if (colours->count == most) {
        return false;
    }
    *slot = KNOWN | colour;
    colours->colour[colours->count++] = colour;
    return true;
}

ALWAYS_INLINE bool count_pixel(struct png_colours *colours, uint32_t colour, unsigned most) {
    unsigned at = colour * GOLDEN >> 21; /* 32 bits less those of PNG_COLOUR_SLOTS */
    while (colours->slot[at] != (KNOWN | colour)) {
        if (colours->slot[at] == 0) {
            return add(colours, colour, &colours->slot[at], most);
        }
        at = (at + 1) % PNG_COLOUR_SLOTS;
    }
    return true;
}

ALWAYS_INLINE bool count_row(struct png_colours *colours, const uint8_t *row, uint32_t width,
                             unsigned channels, unsigned most) {
    bool few = true;
    for (uint32_t x = 0; x < width && few;) {
        const uint32_t end = width - x > PNG_COLOURS_STEP ? x + PNG_COLOURS_STEP : width;
        if (x == 0 || end - x < PNG_COLOURS_STEP ||
            !png_colours_repeat(row + (size_t)x * channels, channels)) {
            for (uint32_t i = x; i < end && few; i++) {
                const uint8_t *p = row + (size_t)i * channels;
                few = count_pixel(colours, png_colours_pixel(p, channels, i + 1 < width), most);
            }
        }
        x = end;
    }
    return few;
}

static bool count_any_row(struct png_colours *colours, const uint8_t *row, uint32_t width, unsigned channels,
                          unsigned most) {
    switch (channels) { /* constants make faster code */
    case 1:
        return count_row(colours, row, width, 1, most);
    case 2:
        return count_row(colours, row, width, 2, most);
    case 3:
        return count_row(colours, row, width, 3, most);
    default:
        return count_row(colours, row, width, 4, most);
    }
}

static bool is_sampled(uint32_t y) {
    return y % LOOK_STEP == LOOK_STEP / 2;
}

bool png_colours_count(struct png_colours *colours, const struct image *image, unsigned most) {
    const struct plane *plane = &image->plane[0];
    bool few = true;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t y = 0; y < image->height && few; y++) {
            if (is_sampled(y) == (pass == 0)) {
                few = count_any_row(colours, plane_row(plane, y), image->width, plane->channels, most);
            }
        }
    }
    return few;
}

/* The numbers by which colours are in order: what does not show has no weight, but makes all different. */
static uint64_t rank_of(uint32_t colour) {
    enum { RED = 2, GREEN = 4, BLUE = 1 }; /* how light they are, roughly */
    const uint32_t red = colour & 255, green = colour >> 8 & 255, blue = colour >> 16 & 255;
    return (uint64_t)(colour >> 24) << 44 | (uint64_t)(RED * red + GREEN * green + BLUE * blue) << 32 |
           colour;
}

static int compare(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return rank_of(x) < rank_of(y) ? -1 : rank_of(x) > rank_of(y);
}

/* Whether all colours have places of their own. */
static bool place(struct png_colours *colours, uint32_t factor) {
    bool taken[PNG_COLOUR_CODES] = {false};
    colours->factor = factor;
    for (unsigned i = 0; i < colours->count; i++) {
        const uint32_t at = colours->colour[i] * factor >> 18;
        if (taken[at]) {
            return false;
        }
        taken[at] = true;
        colours->code[at] = (uint8_t)i;
    }
    return true;
}

bool png_colours_sort(struct png_colours *colours) {
    bool placed = false;
    qsort(colours->colour, colours->count, sizeof(*colours->colour), compare);
    for (uint32_t i = 0; i < TRIALS && !placed; i++) {
        placed = place(colours, GOLDEN * (2 * i + 1));
    }
    return placed;
}

static bool row_is_grey(const uint8_t *row, uint32_t width, unsigned channels, unsigned sample) {
    unsigned different = 0;
    for (uint32_t x = 0; x < width && !different; x++, row += channels * sample) {
        for (unsigned i = 0; i < 2 * sample; i++) {
            different |= row[i] ^ row[i + sample];
        }
    }
    return !different;
}

bool png_colours_are_grey(const struct image *image) {
    const struct plane *plane = &image->plane[0];
    bool grey = image->model == PIXEL_RGB || image->model == PIXEL_RGBA;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t y = 0; y < image->height && grey; y++) {
            if (is_sampled(y) == (pass == 0)) {
                grey = row_is_grey(plane_row(plane, y), image->width, plane->channels, image->depth / 8u);
            }
        }
    }
    return grey;
}
