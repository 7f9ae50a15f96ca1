/* SPDX-License-Identifier: MIT
 * The EXIF tags that may be passed on; all others are dropped, among them private tags, maker notes and
 * previews. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_EXIF_TAGS_H
#define BLURD_CODECS_METADATA_EXIF_TAGS_H

#include <stddef.h>
#include <stdint.h>

enum exif_directory { EXIF_MAIN, EXIF_PHOTO, EXIF_GPS, EXIF_INTEROP, EXIF_DIRECTORIES };

/* The form that a value must have. */
enum exif_form {
    EXIF_TEXT,    /* ASCII; also UTF-8 */
    EXIF_TEXT16,  /* UTF-16 bytes, little-endian in either byte order */
    EXIF_COMMENT, /* 8 bytes that name the encoding, then text */
    EXIF_NUMBER,  /* whole numbers */
    EXIF_RATIO,   /* fractions */
    EXIF_BYTES,   /* up to 4 bytes that are not interpreted */
    /* Written from the picture, and only if the input has the tag. */
    EXIF_ORIENTATION,
    EXIF_WIDTH,
    EXIF_HEIGHT,
    /* Written when the picture has a resolution, whether the input has the tag or not. */
    EXIF_X_RESOLUTION,
    EXIF_Y_RESOLUTION,
    EXIF_RESOLUTION_UNIT,
    /* Written when the directory that it points to has values. */
    EXIF_POINTER_PHOTO,
    EXIF_POINTER_GPS,
    EXIF_POINTER_INTEROP,
};

struct exif_tag {
    uint8_t directory; /* enum exif_directory */
    uint8_t form;      /* enum exif_form */
    uint16_t tag;
    uint16_t most; /* maximum of elements: bytes of a text, numbers */
};

enum { EXIF_TAGS_MAX = 160 };

/* The table, ordered by directory and tag, of at most EXIF_TAGS_MAX rows. Thread-safe. */
const struct exif_tag *exif_tags(size_t *count);

/* The row of a tag; NULL when the tag is not passed on. Thread-safe. */
const struct exif_tag *exif_tag_find(enum exif_directory directory, uint16_t tag);

/* Bits of codecs/metadata/losses.h for a tag outside the table; 0 for tags about pixel storage.
 * Thread-safe. */
unsigned exif_tag_loss(uint16_t tag);

#endif
