/* SPDX-License-Identifier: MIT
 * The headers of a JPEG's frame (SOF) and of its scans (SOS), of 8 bits and 1 or 3 components. A segment is
 * parsed from a copy, which no other process writes. Thread-safe. */
#ifndef BLURD_CORE_JPEG_FRAME_H
#define BLURD_CORE_JPEG_FRAME_H

#include "core/bytes.h"

enum { JPEG_FRAME_COMPONENTS = 3, JPEG_FRAME_FACTOR_MAX = 4 };

struct jpeg_component {
    uint8_t id;        /* unique within the frame */
    uint8_t h, v;      /* sampling factors, 1 to JPEG_FRAME_FACTOR_MAX */
    uint8_t quantiser; /* its table of quantisation, below JPEG_TABLES_MAX */
};

struct jpeg_frame_header {
    uint32_t width, height; /* 1 or more */
    uint32_t count;         /* components: 0 before the frame, then 1 or 3 */
    uint8_t h_max, v_max;   /* of the factors */
    struct jpeg_component component[JPEG_FRAME_COMPONENTS];
};

/* Parses the body of the frame's segment (SOF) into a *frame that is zero before; a second frame is refused.
 * Returns NULL, or the reason of a refusal, such as "its frame has no size"; *frame is then undefined. */
const char *jpeg_frame_read(struct jpeg_frame_header *frame, struct bytes segment);

/* Whether components are numbered from 1, luma has the first table of quantisation and chroma the second, and
 * only luma has several blocks in an MCU. The project's own encoders write such frames. */
bool jpeg_frame_is_plain(const struct jpeg_frame_header *frame);

/* A component's part of a scan. */
struct jpeg_scan_part {
    uint8_t component; /* index in the frame */
    uint8_t dc, ac;    /* tables of codes, below JPEG_TABLES_MAX; whether there are such is not checked */
};

struct jpeg_scan_header {
    uint32_t count;                                    /* components, in the order of the frame */
    struct jpeg_scan_part part[JPEG_FRAME_COMPONENTS]; /* libjpeg refuses most other orders */
    uint8_t from, to;                                  /* coefficients, in the order of the scan */
    uint8_t high, low; /* bits that were missing before and behind it; `high` is 0 for the first time */
};

/* Parses the body of a scan's segment (SOS) and returns as above. In sequential files the range of
 * coefficients in the header is ignored, and is always 0 to 63: Samsung phones write wrong numbers there. */
const char *jpeg_frame_read_scan(const struct jpeg_frame_header *frame, bool progressive,
                                 struct bytes segment, struct jpeg_scan_header *scan);

/* Whether the scan brings bits for which codes of DC or AC are needed. */
bool jpeg_scan_header_needs_dc(const struct jpeg_scan_header *scan);
bool jpeg_scan_header_needs_ac(const struct jpeg_scan_header *scan);

#endif
