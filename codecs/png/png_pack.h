/* SPDX-License-Identifier: MIT
 * Compresses the pixel data of a PNG with libdeflate. Internal to codecs/; one thread at a time per rows. */
#ifndef BLURD_CODECS_PNG_PNG_PACK_H
#define BLURD_CODECS_PNG_PNG_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct png_rows;

enum { PACK_LEVEL_MAX = 12 };

/* The most nanoseconds that packing `size` bytes of rows takes with that effort; 0 when it packs none. */
uint64_t png_pack_ns(unsigned effort, uint64_t size);

/* Writes a zlib stream of `level` (1 to PACK_LEVEL_MAX), with the filter that does best on a sample, to
 * `to`; *size is 0 when it does not fit in `room` bytes. Takes memory for all filtered rows, and one call
 * of libdeflate that cannot be interrupted: the caller bounds the size. ST_BUSY without memory. */
enum status png_pack(const struct png_rows *rows, int level, uint8_t *to, size_t room, size_t *size,
                     struct error *err);

/* Whether a sample of rows suggests that a search for matches pays: flat areas with sharp edges, as in
 * screenshots and drawings. */
enum status png_is_graphic(const struct png_rows *rows, bool *graphic, struct error *err);

#endif
