/* SPDX-License-Identifier: MIT
 * The codes of GIF: LZW with codes of 3 to 12 bits. Internal to codecs/. */
#ifndef BLURD_CODECS_GIF_GIF_CODES_H
#define BLURD_CODECS_GIF_GIF_CODES_H

#include "core/bytes.h"

enum { GIF_CODES = 4096 };

/* About 20 kB. */
struct gif_reader {
    struct bytes data; /* blocks; the first byte is the size of the first codes */
    size_t position;
    unsigned block;  /* bytes that the block at `position` still has */
    uint32_t bits;   /* read and not used */
    unsigned count;  /* of them */
    unsigned first;  /* bits of a pixel */
    unsigned width;  /* of a code */
    unsigned next;   /* the code that is defined next */
    int last;        /* the code before; -1: none */
    unsigned length; /* of the string in `string`, */
    unsigned used;   /* and what of it was handed out */
    uint16_t prefix[GIF_CODES];
    uint8_t suffix[GIF_CODES];
    uint16_t size[GIF_CODES]; /* of the code's string */
    uint8_t string[GIF_CODES + 1];
};

/* `data` are those of struct gif_image. */
void gif_reader_init(struct gif_reader *reader, struct bytes data);

/* Writes the next `width` pixels. False when the data end before, or have a code that is not defined. */
bool gif_reader_row(struct gif_reader *reader, uint8_t *row, size_t width);

/* About 50 kB. */
struct gif_writer {
    struct buf *output;
    uint8_t block[256]; /* its size, then its bytes */
    uint32_t bits;
    unsigned count;
    unsigned first, width, next;
    int prefix;         /* code of what was read and not written; -1: none */
    uint32_t key[8192]; /* of prefix and pixel, plus 1; 0: free */
    uint16_t code[8192];
};

/* Begins with pixels of `first` bits, 2 to 8. Failures as buf_append. */
enum status gif_writer_begin(struct gif_writer *writer, unsigned first, struct buf *output,
                             struct error *err);
enum status gif_writer_row(struct gif_writer *writer, const uint8_t *row, size_t width, struct error *err);
enum status gif_writer_end(struct gif_writer *writer, struct error *err);

#endif
