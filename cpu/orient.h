/* SPDX-License-Identifier: MIT
 * Turns a picture upright by its EXIF orientation, 1 to 8; core/orient.h has the arithmetic. */
#ifndef BLURD_CPU_ORIENT_H
#define BLURD_CPU_ORIENT_H

#include "core/orient.h"
#include "core/status.h"

/* Copies rows from to to - 1 of a plane of `target`, with `size` bytes a pixel. */
void orient_rows(const struct plane *source, uint8_t orientation, const struct plane *target, size_t size,
                 uint32_t from, uint32_t to);

/* Copies `source` turned upright to `target`, laid out with orient_shape. The images do not overlap. ST_LIMIT
 * at the deadline (core/deadline.h), with the target undefined. */
enum status orient_image(const struct image *source, uint8_t orientation, const struct image *target,
                         int64_t deadline_ns, struct error *err);

#endif
