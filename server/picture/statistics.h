/* SPDX-License-Identifier: MIT
 * Writes the answer of /stats. */
#ifndef BLURD_SERVER_PICTURE_STATISTICS_H
#define BLURD_SERVER_PICTURE_STATISTICS_H

#include "core/bytes.h"
#include "core/image.h"
#include "filters/stats.h"

/* Appends the statistics of a picture of this shape as JSON. The standard deviation is that of the whole
 * population. Without pixels mean and deviation are null. ST_BUSY without memory. */
enum status statistics_write(const struct stats *stats, const struct image_shape *shape, struct buf *body,
                             struct error *err);

#endif
