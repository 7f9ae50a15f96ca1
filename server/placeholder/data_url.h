/* SPDX-License-Identifier: MIT
 * A thumbnail as text that pages show without a request: a tiny PNG in a data URL. */
#ifndef BLURD_SERVER_PLACEHOLDER_DATA_URL_H
#define BLURD_SERVER_PLACEHOLDER_DATA_URL_H

#include "core/bytes.h"
#include "server/placeholder/thumbnail.h"

enum {
    DATA_URL_MAX = 400,        /* characters */
    DATA_URL_PIXELS_MAX = 512, /* none with more is tried */
};

/* Appends the URL of a picture that fits, while one whose longer side has a pixel more does not: that side is
 * found by bisection. The other side is in proportion; halves are rounded up. ST_BUSY without memory. */
enum status data_url_write(const struct thumbnail *thumbnail, struct buf *text, struct error *err);

/* The most memory that it takes. */
size_t data_url_bytes(void);

/* Appends base64 with padding. */
enum status data_url_base64(struct bytes data, struct buf *text, struct error *err);

#endif
