/* SPDX-License-Identifier: MIT
 * The header of a picture whose coefficients the front has read (core/jpeg/coefficients.h), in place of that
 * of a JPEG. The front can write to it meanwhile, so it is copied once. Thread-safe. */
#ifndef BLURD_GPU_JPEG_COEFFICIENTS_HEADER_H
#define BLURD_GPU_JPEG_COEFFICIENTS_HEADER_H

#include "core/jpeg/coefficients.h"
#include "gpu/jpeg/jpeg_header.h"

/* Fills in *header, and *tables as for an intact scan. `header->plain` leaves out the names of components,
 * which only the front has seen. ST_UNSUPPORTED for a step of 0, for another size of the input, and for a
 * shape without a layout. */
enum status coefficients_header_parse(struct bytes input, const struct image_shape *shape,
                                      struct jpeg_header *header, struct scan_tables *tables,
                                      struct error *err);

#endif
