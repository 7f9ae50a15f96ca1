/* SPDX-License-Identifier: MIT
 * Reads the segments of a JPEG up to each scan: frame, tables, restart interval. It is stricter than
 * libjpeg-turbo, which gets every unusual file. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_HEADER_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_HEADER_H

#include <stdbool.h>

#include "core/bytes.h"

enum { JPEG_DEC_COMPONENTS_MAX = 3, JPEG_DEC_TABLES = 4, JPEG_DEC_STEPS = 64, JPEG_DEC_MCU_BLOCKS_MAX = 10 };

/* A Huffman table as the file has it. The symbols follow in the order of their codes. */
struct jpeg_dec_table {
    bool present;
    uint8_t counts[16]; /* codes of 1 to 16 bits */
    uint8_t symbols[256];
};

struct jpeg_dec_component {
    uint8_t id;
    uint8_t h, v; /* sampling factors, 1 to 4 */
    uint8_t steps;
};

/* A component's part of the scan. */
struct jpeg_dec_selector {
    uint8_t component; /* index in the frame */
    uint8_t dc, ac;    /* tables, which are present if the scan needs them */
};

struct jpeg_dec_header {
    struct bytes input;
    size_t at; /* behind what has been read */
    bool steps_present[JPEG_DEC_TABLES];
    uint16_t steps[JPEG_DEC_TABLES][JPEG_DEC_STEPS]; /* of quantisation, in the order of the scan */
    struct jpeg_dec_table dc[JPEG_DEC_TABLES], ac[JPEG_DEC_TABLES];
    uint32_t interval; /* MCUs between restart markers; 0: none */
    uint32_t width, height;
    unsigned component_count; /* 0 before the frame, then 1 or 3 */
    uint8_t h_max, v_max;
    bool takes_progressive, progressive; /* wanted by the caller; the frame's */
    struct jpeg_dec_component component[JPEG_DEC_COMPONENTS_MAX];
    unsigned scan_count; /* components of the scan */
    struct jpeg_dec_selector scan[JPEG_DEC_COMPONENTS_MAX];
    uint8_t from, to;  /* coefficients of the scan, in its order: 0 to 63 of a sequential one */
    uint8_t high, low; /* bits that were missing before and behind it; `high` is 0 for the first time */
};

enum jpeg_dec_next {
    JPEG_DEC_SCAN,    /* `scan` is filled in, `at` is that of its data */
    JPEG_DEC_END,     /* the end marker */
    JPEG_DEC_UNUSUAL, /* damaged, or something that this reader does not know */
};

/* Takes the start marker of a file. A progressive one is unusual unless `progressive`. */
enum jpeg_dec_next jpeg_dec_header_open(struct jpeg_dec_header *header, struct bytes input, bool progressive);

/* Reads on from the marker at `at`. */
enum jpeg_dec_next jpeg_dec_header_next(struct jpeg_dec_header *header);

#endif
