/* SPDX-License-Identifier: MIT
 * The form in which a PNG stores an image: its colour type and bits. What no pixel needs is not stored, and
 * the decoded pixels are the same. A form depends on nothing but the pixels. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_FORM_H
#define BLURD_CODECS_PNG_PNG_FORM_H

#include "codecs/png/png_colours.h"

/* What of the colour types may be chosen. */
struct png_form_choice {
    bool reduce;  /* false: the image is stored as it is */
    bool grey;    /* of pictures in colour: a colour profile forbids it */
    bool palette; /* of grey pictures: the same */
};

/* How a pixel is made into samples of the file. */
enum png_form_kind {
    FORM_SAMPLES, /* the first samples of each pixel, and with alpha the last one */
    FORM_GREYS,   /* the first sample says which code it is, in `code` */
    FORM_COLOURS, /* the colour says which code it is, in `colours` */
};

struct png_form {
    enum png_form_kind kind;
    uint8_t type;     /* of colour, as in IHDR */
    uint8_t bits;     /* a sample */
    uint8_t channels; /* samples a pixel, in the file */
    uint8_t code[256];
    struct png_colours colours; /* of a palette, sorted */
};

/* Chooses the form of the image. A picture with few colours gets a palette. */
void png_form_choose(struct png_form *form, const struct image *image, const struct png_form_choice *choice);

/* Makes a form simpler: one without a palette, or else the image's colours with all bits. False: it is no
 * further one. The pixels are not looked at again. */
bool png_form_simplify(struct png_form *form, const struct image *image,
                       const struct png_form_choice *choice);

/* Bytes of a row, without the byte of its filter, and of a pixel, at least 1. */
size_t png_form_row_bytes(const struct png_form *form, uint32_t width);
unsigned png_form_pixel_bytes(const struct png_form *form);

/* Whether rows are those of the image, but for the order of bytes. */
bool png_form_is_stored(const struct png_form *form, const struct image *image);

/* Makes a row as the file stores it, but for the order of bytes of 16-bit samples. */
void png_form_row(const struct png_form *form, const struct image *image, uint32_t y, uint8_t *to);

#endif
