/* SPDX-License-Identifier: MIT
 * Parses the header of a JPEG for gpu/jpeg/huffman_sync.h and gpu/jpeg/decode.h, without a device. The front
 * can write to the file meanwhile, so no byte is trusted. Each segment of the header is copied once and
 * parsed from the copy; of the data behind it only the end is located. Kernels read a copy of the data in GPU
 * memory.
 *
 * It takes baseline files (SOF0, and SOF1 of 8 bits) of one component, or of three in one scan, followed
 * by an end marker; later bytes do not matter. It is stricter than decoders, so that all of them read an
 * accepted file alike: one frame, no misplaced marker, complete tables, no code of ones alone. */
#ifndef BLURD_GPU_JPEG_JPEG_HEADER_H
#define BLURD_GPU_JPEG_JPEG_HEADER_H

#include "core/bytes.h"
#include "core/image.h"
#include "core/jpeg/segments.h"
#include "gpu/jpeg/jpeg_kernels.h"

enum { JPEG_HEADER_SEGMENT_MAX = 4096 }; /* bytes of a segment of tables; usually below 1100 */

struct jpeg_header {
    size_t offset, size;      /* of the scan in the file, without the end marker */
    struct image_shape shape; /* grey or YCbCr; the colour space of three components is not checked */
    uint8_t h[3], v[3];       /* blocks of each component in an MCU: columns, rows */
    /* Whether our encoders write such frames: numbers from 1 as names, steps of a byte in table 0 for the
     * first component and 1 for the others, factors of 1 except for luma beside chroma. */
    bool plain;
    uint16_t quantiser[JPEG_QUANTISERS][JPEG_COEFFICIENTS]; /* row by row; only if `plain` */
};

/* Fills in *scan, and *tables for the kernels. ST_UNSUPPORTED with the reason for a refused file, which the
 * CPU may take. Takes 1 to 2 microseconds, and tens per megabyte when bytes follow the end marker.
 * Thread-safe. */
enum status jpeg_header_parse(struct bytes file, struct jpeg_header *scan, struct scan_tables *tables,
                              struct error *err);

#endif
