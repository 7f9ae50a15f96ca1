/* SPDX-License-Identifier: MIT
 * The compressions of TIFF. Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_COMPRESSION_H
#define BLURD_CODECS_TIFF_TIFF_COMPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { TIFF_UNCOMPRESSED = 1, TIFF_JPEG = 7 };

/* How the data of a file are compressed. */
struct tiff_compression {
    uint16_t number, predictor; /* the values of Compression and Predictor */
    uint16_t expansion;         /* the most bytes that a byte of data can become; 0: not known */
    bool lossy;
    const char *name; /* such as "LZW" */
};

/* Checks these values for samples of that many bits, and fills *coding. ST_UNSUPPORTED, which names the
 * compression, for all that are not read. */
enum status tiff_compression_check(uint64_t number, uint64_t predictor, unsigned samples, unsigned bits,
                                   struct tiff_compression *coding, struct error *err);

#endif
