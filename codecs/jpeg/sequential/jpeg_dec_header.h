/* SPDX-License-Identifier: MIT
 * Reads the segments of a JPEG up to each scan: frame, tables, restart interval. It is stricter than
 * libjpeg-turbo, which gets every unusual file. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_HEADER_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_HEADER_H

#include <stdbool.h>

#include "core/jpeg/frame.h"
#include "core/jpeg/tables.h"

enum {
    JPEG_DEC_COMPONENTS_MAX = JPEG_FRAME_COMPONENTS,
    JPEG_DEC_TABLES = JPEG_TABLES_MAX,
    JPEG_DEC_COEFFICIENTS = JPEG_TABLE_COEFFICIENTS,
    JPEG_DEC_MCU_BLOCKS_MAX = 10,
};

/* A Huffman table as the file has it. The symbols follow in the order of their codes. */
struct jpeg_dec_table {
    bool present;
    uint8_t counts[16]; /* codes of 1 to 16 bits */
    uint8_t symbols[256];
};

struct jpeg_dec_header {
    struct bytes input;
    size_t at;                         /* behind what has been read */
    struct jpeg_quantisers quantisers; /* of quantisation */
    struct jpeg_dec_table dc[JPEG_DEC_TABLES], ac[JPEG_DEC_TABLES];
    uint32_t interval; /* MCUs between restart markers; 0: none */
    bool progressive;  /* the frame's kind */
    struct jpeg_frame_header frame;
    struct jpeg_scan_header scan; /* its tables are present */
};

enum jpeg_dec_next {
    JPEG_DEC_SCAN,    /* `scan` is filled in, `at` is that of its data */
    JPEG_DEC_END,     /* the end marker */
    JPEG_DEC_UNUSUAL, /* damaged, or something that this reader does not know */
};

/* Reads from the start marker of a file on. */
enum jpeg_dec_next jpeg_dec_header_open(struct jpeg_dec_header *header, struct bytes input);

/* Reads on from the marker at `at`. */
enum jpeg_dec_next jpeg_dec_header_next(struct jpeg_dec_header *header);

#endif
