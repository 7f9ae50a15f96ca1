/* SPDX-License-Identifier: MIT
 * Reads the segments of a JPEG before its first scan without libjpeg, whose jpeg_save_markers takes
 * quadratic time up to libjpeg-turbo 3.0.3. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_MARKERS_H
#define BLURD_CODECS_JPEG_JPEG_MARKERS_H

#include "codecs/definition.h"

enum {
    SEGMENT_APP0 = 0xE0,  /* JFIF */
    SEGMENT_APP1 = 0xE1,  /* EXIF, XMP */
    SEGMENT_APP2 = 0xE2,  /* ICC profile; a list of further pictures */
    SEGMENT_APP11 = 0xEB, /* C2PA */
    SEGMENT_APP13 = 0xED, /* Photoshop, with IPTC */
    SEGMENT_APP14 = 0xEE, /* Adobe: how colours are stored */
    SEGMENT_APP15 = 0xEF,
    SEGMENT_COM = 0xFE,
};

struct jpeg_segment {
    uint8_t marker;
    struct bytes data; /* behind the length; borrowed from the input */
};

/* Steps to the segment at or behind *position, which starts at 0, past fill bytes and garbage. Returns
 * false, with *position at the end of the search, at the first scan or at the end of the picture or data. */
bool jpeg_next_segment(struct bytes input, size_t *position, struct jpeg_segment *segment);

/* The frame header; all 0 when none precedes the first scan. */
struct jpeg_frame {
    uint8_t marker; /* 0xC0 to 0xCF */
    uint8_t precision;
    uint8_t components;
    uint32_t width;
    uint32_t height;
    size_t scan; /* offset of the first scan, or of the end */
};

/* Most segments before the first scan. The largest ICC profile and 20 MiB of extended XMP take some
 * hundreds; a file can hold millions. */
enum { JPEG_SEGMENTS_MAX = 10000 };

/* ST_CORRUPT when no complete frame header precedes the first scan, ST_LIMIT when too many segments do. */
enum status jpeg_read_frame(struct bytes input, struct jpeg_frame *frame, struct error *err);

/* Fills *metadata, which is all zero but for its source, from the first METADATA_MARKERS_MAX segments. The
 * first segment of EXIF, XMP and Photoshop resources counts. Chunks are the ICC profile's, then comments.
 * Damaged metadata is left out; the picture is not refused for it. */
void jpeg_read_metadata(struct bytes input, struct metadata *metadata);

/* As `peek` of struct codec. */
bool jpeg_peek(struct bytes input, struct peek *peek);

#endif
