/* SPDX-License-Identifier: MIT
 * Metadata that are lost although metadata=keep asks for them; a response header lists them. Thread-safe. */
#ifndef BLURD_CODECS_METADATA_LOSSES_H
#define BLURD_CODECS_METADATA_LOSSES_H

#include <stddef.h>

/* Bits. Their names are in losses.c and explained in docs/api.md. */
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

enum { LOSSES_TEXT_MAX = 96 }; /* room for all names with ", " between them and a zero */

/* Writes the names of the set bits with ", " between them; "" for none. */
void losses_name(unsigned losses, char text[static LOSSES_TEXT_MAX]);

#endif
