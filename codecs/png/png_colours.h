/* SPDX-License-Identifier: MIT
 * The colours of a picture, if it has few. Internal to codecs/; one thread at a time while it is counted. */
#ifndef BLURD_CODECS_PNG_PNG_COLOURS_H
#define BLURD_CODECS_PNG_PNG_COLOURS_H

#include <endian.h>
#include <string.h>

#include "core/image.h"

enum {
    PNG_COLOURS_MAX = 256,
    PNG_COLOUR_SLOTS = 2048,
    PNG_COLOUR_CODES = 1 << 14,
    PNG_COLOURS_STEP = 8, /* pixels that are compared at once */
};

/* Red is the lowest byte of a colour and alpha the highest; what a pixel does not have is as in RGBA. All
 * zero: no colours. */
struct png_colours {
    uint32_t colour[PNG_COLOURS_MAX];
    unsigned count;
    bool tinted;                     /* some colour that was counted is not grey */
    uint64_t slot[PNG_COLOUR_SLOTS]; /* a table of hashes while they are counted: 0, or 1 << 32 | colour */
    uint32_t factor;                 /* gives each colour a place of its own in: */
    uint8_t code[PNG_COLOUR_CODES];
};

/* Counts the colours of interleaved samples of 8 bits. False: there are more than `most` (at most
 * PNG_COLOURS_MAX), and only `tinted` says something. A few rows from all over the picture are looked at
 * first, so that most pictures with more colours take no time. */
bool png_colours_count(struct png_colours *colours, const struct image *image, unsigned most);

/* Sorts the colours: those with alpha before the opaque ones, dark ones before light ones. From then on each
 * has its number as its code. False: no factor is found, which is not to be expected. */
bool png_colours_sort(struct png_colours *colours);

/* Whether all pixels are grey, of RGB or RGBA with any depth. */
bool png_colours_are_grey(const struct image *image);

/* Of one of the colours, which are sorted. */
static inline uint8_t png_colours_code(const struct png_colours *colours, uint32_t colour) {
    return colours->code[colour * colours->factor >> 18]; /* 32 bits less those of PNG_COLOUR_CODES */
}

/* A pixel as a colour. With `wide` four bytes may be read. */
static inline uint32_t png_colours_pixel(const uint8_t *p, unsigned channels, bool wide) {
    const uint32_t grey = 0x010101, full = 0xFF000000;
    uint32_t word;
    if (channels <= 2) {
        return p[0] * grey | (channels == 2 ? (uint32_t)p[1] << 24 : full);
    }
    if (channels == 3 && !wide) {
        return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | full;
    }
    memcpy(&word, p, sizeof(word));
    return channels == 3 ? le32toh(word) | full : le32toh(word);
}

/* Whether PNG_COLOURS_STEP pixels are all like the one before them. */
static inline bool png_colours_repeat(const uint8_t *p, unsigned channels) {
    uint64_t different = 0;
    for (unsigned i = 0; i < channels; i++) {
        uint64_t word, before;
        memcpy(&word, p + i * sizeof(word), sizeof(word));
        memcpy(&before, p + i * sizeof(word) - channels, sizeof(before));
        different |= word ^ before;
    }
    return different == 0;
}

#endif
