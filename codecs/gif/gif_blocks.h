/* SPDX-License-Identifier: MIT
 * The blocks of a GIF file. Internal to codecs/. */
#ifndef BLURD_CODECS_GIF_GIF_BLOCKS_H
#define BLURD_CODECS_GIF_GIF_BLOCKS_H

#include "codecs/frames.h"

enum {
    GIF_HEADER = 13,   /* bytes of the signature and the logical screen */
    GIF_COLOURS = 256, /* the most of a palette */
    GIF_SCALE = 100,   /* times are in hundredths of a second */
    GIF_EXTENSION = 0x21,
    GIF_CONTROL = 0xF9, /* label of the extension that is about the next image */
    GIF_APPLICATION = 0xFF,
    GIF_IMAGE = 0x2C,
    GIF_TRAILER = 0x3B,
    GIF_PALETTE = 0x80, /* flags: a palette follows, of 2 << (flags & 7) colours; */
    GIF_INTERLACED = 0x40,
};

struct gif_file {
    uint32_t width, height; /* of the logical screen */
    struct bytes palette;   /* the global one; empty: none */
    uint32_t plays;         /* as far as the file was read */
    unsigned losses;        /* bits of codecs/metadata/losses.h, likewise */
    size_t position;        /* of the next block */
};

struct gif_image {
    struct frame frame;
    bool interlaced;
    int transparent;      /* index; -1: none */
    struct bytes palette; /* of 3 bytes a colour: its own, else the global one; not empty */
    struct bytes data;    /* the size of the first codes, and the blocks of codes to their end */
};

/* Reads the header. ST_CORRUPT when the file is cut short in it. */
enum status gif_open(struct bytes input, struct gif_file *file, struct error *err);

/* Steps to the next image; *found is false at the end, which is the trailer or that of the input. ST_CORRUPT:
 * a block is damaged or cut short, or an image has no palette. */
enum status gif_next(struct bytes input, struct gif_file *file, struct gif_image *image, bool *found,
                     struct error *err);

/* Whether the image has transparent pixels, or may have. */
bool gif_image_has_alpha(const struct gif_image *image);

/* Appends a header with a global palette (empty: none), the control of the next image, its descriptor with a
 * palette of its own (empty: none), the extension that says how often it plays. Failures as buf_append. */
enum status gif_put_header(struct buf *output, uint32_t width, uint32_t height, struct bytes palette,
                           struct error *err);
enum status gif_put_control(struct buf *output, const struct frame *frame, uint32_t delay, int transparent,
                            struct error *err);
enum status gif_put_image(struct buf *output, const struct frame *frame, bool interlaced,
                          struct bytes palette, struct error *err);
enum status gif_put_plays(struct buf *output, uint32_t plays, struct error *err);

static inline uint32_t gif_le16(const uint8_t *p) {
    return (uint32_t)p[1] << 8 | p[0];
}
static inline void gif_put_le16(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)v, p[1] = (uint8_t)(v >> 8);
}

#endif
