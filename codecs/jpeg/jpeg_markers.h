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

/* Returns the marker at *position and moves *position behind it and the fill bytes before it. 0: there is
 * none. */
uint8_t jpeg_marker_at(struct bytes input, size_t *position);

/* Finds the body behind the length at *position and moves *position behind it. False: it does not lie in the
 * input. */
bool jpeg_segment_body(struct bytes input, size_t *position, struct bytes *body);

/* Steps to the segment at or behind *position, which starts at 0, past fill bytes and garbage. Returns
 * false, with *position at the end of the search, at the first scan or at the end of the picture or data. */
bool jpeg_next_segment(struct bytes input, size_t *position, struct jpeg_segment *segment);

/* The first frame header; all 0 when none precedes the first scan. */
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

/* Reads the frame header and the metadata, for which *metadata is all zero but for its source. Metadata come
 * from the first METADATA_MARKERS_MAX segments. The first segment of EXIF, XMP and Photoshop resources
 * counts. Chunks are the ICC profile's, then comments. Damaged metadata is left out; the picture is not
 * refused for it. ST_CORRUPT when no complete frame header precedes the first scan, ST_LIMIT when too many
 * segments do. */
enum status jpeg_read_head(struct bytes input, struct jpeg_frame *frame, struct metadata *metadata,
                           struct error *err);

/* As `peek` of struct codec. */
bool jpeg_peek(struct bytes input, struct peek *peek);

#endif
