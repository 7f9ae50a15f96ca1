/* SPDX-License-Identifier: MIT
 * Reads the coefficients of a JPEG with several scans, such as a progressive one, for a GPU that does the
 * rest, or for jpeg_planes.h. An own entropy decoder, in a quarter of libjpeg-turbo's time. Thread-safe;
 * keeps no state. */
#ifndef BLURD_CODECS_JPEG_JPEG_COEFFICIENTS_H
#define BLURD_CODECS_JPEG_JPEG_COEFFICIENTS_H

#include "codecs/definition.h"
#include "core/jpeg/coefficients.h"

/* Bytes of memory to lend: the coefficients, and behind them what reading needs; and the part of these bytes
 * that is a table which reading trusts. */
size_t jpeg_coefficients_bytes(const struct coefficients_layout *layout);
size_t jpeg_coefficients_table(const struct coefficients_layout *layout);

/* Bytes of heap memory that reading takes besides. */
size_t jpeg_coefficients_state(void);

/* Fills `memory`, aligned like a picture, as core/jpeg/coefficients.h describes. `shape` is that of the
 * planes that codec_probe found. `plain`: refuses frames that our encoders do not write, since no blocks can
 * be kept of those on a GPU. They write numbers from 1 as names, table 0 for the first component and 1 for
 * the others, factors of 1 but for luma beside chroma. Steps above a byte are left to the GPU.
 *
 * ST_UNSUPPORTED: damaged, incomplete (libjpeg-turbo smooths such blocks) or unusual, so that codec_decode
 * has to decide. ST_LIMIT: the deadline. ST_BUSY: no memory. The memory is undefined then. */
enum status jpeg_coefficients_read(struct bytes input, const struct codec_limits *limits,
                                   const struct image_shape *shape, bool plain, uint8_t *memory,
                                   struct error *err);

struct jpeg_dec_header;
enum jpeg_order { JPEG_COLUMNS, JPEG_ROWS, JPEG_SCAN }; /* of the values of a block */

struct jpeg_coefficients_way {
    bool quick; /* by BMI2, which needs processor_extracts_bits() */
    bool plain;
    enum jpeg_order order;                /* core/jpeg/coefficients.h describes JPEG_COLUMNS */
    const struct jpeg_dec_header *header; /* of the input up to its first scan; NULL: not read yet */
    uint64_t *table; /* memory for the table, where another process may change the coefficients while
                        they are read; NULL: it is the end of `memory` */
};

/* The same in any way. */
enum status jpeg_coefficients_read_by(const struct jpeg_coefficients_way *way, struct bytes input,
                                      const struct codec_limits *limits, const struct image_shape *shape,
                                      uint8_t *memory, struct error *err);

/* What lies in the memory. */
struct jpeg_coefficients {
    struct coefficients_head *head;
    int16_t *values;
    uint64_t
        *filled; /* of each block: bit 63 - k is set where AC coefficient k of the scan's order is not 0 */
};
struct jpeg_coefficients jpeg_coefficients_in(uint8_t *memory, const struct coefficients_layout *layout);

#endif
