/* SPDX-License-Identifier: MIT
 * Turns the file that libwebp writes into one with metadata. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_CONTAINER_H
#define BLURD_CODECS_WEBP_WEBP_CONTAINER_H

#include "codecs/metadata/carried.h"

struct webp_container {
    const struct carried *carried;
    struct buf *output;
    size_t start; /* of the file in the output */
};

/* Makes room for the chunks before the picture. libwebp's file is then appended to the output. */
enum status webp_container_open(struct webp_container *container, struct error *err);

/* Writes the chunks around the picture. Without metadata the file stays as libwebp made it. ST_INTERNAL when
 * libwebp's file cannot be read, ST_LIMIT when the file would have 4 GiB, else failures as buf_append. */
enum status webp_container_close(struct webp_container *container, struct error *err);

#endif
