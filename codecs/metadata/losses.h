/* SPDX-License-Identifier: MIT
 * What of a file's metadata does not go on, although metadata=keep asks for it: the client is told in a
 * header. Thread-safe. */
#ifndef BLURD_CODECS_METADATA_LOSSES_H
#define BLURD_CODECS_METADATA_LOSSES_H

#include <stddef.h>

/* Bits. The names, which docs/api.md explains, are in losses.c. */
enum loss {
    LOSS_EXIF = 1 << 0,
    LOSS_MAKER_NOTE = 1 << 1,
    LOSS_THUMBNAIL = 1 << 2,
    LOSS_XMP = 1 << 3,
    LOSS_IPTC = 1 << 4,
    LOSS_COLOUR = 1 << 5,
    LOSS_RESOLUTION = 1 << 6,
    LOSS_TEXT = 1 << 7,
    LOSS_PICTURES = 1 << 8,
    LOSS_C2PA = 1 << 9,
    LOSS_OTHER = 1 << 10,
};

enum { LOSSES_TEXT_MAX = 96 }; /* bytes that all names take, with ", " between them and a zero */

/* Writes the names of the bits that are set, with ", " between them; "" for none. */
void losses_name(unsigned losses, char text[static LOSSES_TEXT_MAX]);

#endif
