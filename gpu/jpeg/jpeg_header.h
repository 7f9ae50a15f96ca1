/* SPDX-License-Identifier: MIT
 * What the walk over a JPEG's scan (gpu/jpeg/huffman_sync.h) and the decoder (gpu/jpeg/decode.h) have to
 * know, out of the file's header: no device is needed. Trusts no byte of it, nor that a byte stays as it is:
 * the file lies in memory that the front can still write. Of the header each segment is copied once, and only
 * the copy is looked at; of the data behind it only where it ends. Kernels read the data from a copy in the
 * GPU's memory.
 *
 * It takes baseline files (SOF0, and SOF1 of 8 bits) of one component, or of three in one scan, with the end
 * marker behind it; what comes behind that does not matter. It is stricter than decoders are, so that what it
 * takes is read alike by all of them: one frame, no marker that belongs elsewhere, tables that are complete,
 * no code of ones alone. */
#ifndef BLURD_GPU_JPEG_JPEG_HEADER_H
#define BLURD_GPU_JPEG_JPEG_HEADER_H

#include "core/bytes.h"
#include "core/image.h"
#include "gpu/jpeg/jpeg_kernels.h"

enum { JPEG_HEADER_SEGMENT_MAX = 4096 }; /* bytes of a segment of tables; usual ones have less than 1100 */

struct jpeg_header {
    size_t offset, size;      /* of the scan's bytes in the file, the end marker not included */
    struct image_shape shape; /* grey, or YCbCr: what three components stand for is not looked at */
    uint8_t h[3], v[3];       /* blocks of each component in an MCU: columns, rows */
};

/* Fills in *scan, and *tables for the kernels. ST_UNSUPPORTED for a file that is not taken, with the reason;
 * the CPU may take it. A microsecond or two; where the end marker is not the file's some tens for
 * each megabyte. Thread-safe. */
enum status jpeg_header_parse(struct bytes file, struct jpeg_header *scan, struct scan_tables *tables,
                              struct error *err);

#endif
