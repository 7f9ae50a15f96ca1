/* SPDX-License-Identifier: MIT
 * Writes the answer of /placeholder. */
#ifndef BLURD_SERVER_PLACEHOLDER_PLACEHOLDER_H
#define BLURD_SERVER_PLACEHOLDER_PLACEHOLDER_H

#include "core/bytes.h"
#include "core/image.h"

struct placeholder {
    uint32_t width, height;     /* of the picture */
    unsigned across, down;      /* components of its BlurHash */
    const struct image *source; /* the thumbnail: interleaved, 1 to THUMBNAIL_SIDE pixels a side */
};

/* Appends hashes, colours and the data URL as JSON. ST_BUSY without memory. */
enum status placeholder_write(const struct placeholder *placeholder, struct buf *body, struct error *err);

/* The most memory that placeholder_write takes beside the body. */
size_t placeholder_bytes(void);

#endif
