/* SPDX-License-Identifier: MIT
 * Splits a series of JPEGs, one behind the other (MJPEG), into frames while it arrives. It follows the
 * segments of ITU-T T.81, annex B: markers inside of segments, such as those of a thumbnail in EXIF, mean
 * nothing, and neither do restart markers. What stands between a frame's EOI and the next SOI is no frame. A
 * frame without EOI ends at the next SOI or with the series. A JPEG that begins where the MPF segment of the
 * frame before it (CIPA DC-007) says that a further picture begins, such as a gain map, is left out.
 *
 * Nothing is allocated or kept but the state, whose size does not depend on the input. */
#ifndef BLURD_SERVER_SERIES_MJPEG_H
#define BLURD_SERVER_SERIES_MJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MJPEG_INDEX_MAX = 256, /* bytes of an MPF segment that are looked at: room for an index of 8 pictures */
    MJPEG_FURTHER_MAX = 8, /* pictures of a file beside the first */
};

enum mjpeg_event {
    MJPEG_PART,    /* nothing happened */
    MJPEG_BEGIN,   /* a frame begins: its first bytes are those of mjpeg_begin */
    MJPEG_END,     /* the frame ends with the bytes that were kept */
    MJPEG_CUT,     /* the frame has no EOI: it ends with the bytes that were kept and those of mjpeg_end */
    MJPEG_FOREIGN, /* the series does not begin with a JPEG, or a frame has no marker behind its SOI, or a
                      segment of an impossible length */
};

struct mjpeg_piece {
    enum mjpeg_event event;
    size_t read; /* bytes of the input that are done with; may be 0 where a frame begins or is cut */
    size_t kept; /* the first so many of them belong to the frame */
};

/* Zero-initialise. */
struct mjpeg {
    unsigned state;
    bool open;     /* a frame has begun and not ended */
    bool further;  /* what is read is a JPEG that is left out */
    bool scanned;  /* it has a scan */
    uint8_t code;  /* of the segment */
    uint32_t left; /* bytes of the segment that are to come */
    uint64_t at;   /* bytes since the last frame began */
    /* The index of the frame's file. */
    uint64_t index_at; /* where its offsets count from, like `at` */
    size_t index_size;
    uint8_t index[MJPEG_INDEX_MAX];
    unsigned furthers;
    uint64_t further_at[MJPEG_FURTHER_MAX];
};

extern const uint8_t mjpeg_begin[2], mjpeg_end[2]; /* SOI and EOI */

/* Reads up to the next event, or all `size` bytes. Returns MJPEG_PART only after all bytes. After
 * MJPEG_FOREIGN it must not be called again. */
struct mjpeg_piece mjpeg_read(struct mjpeg *mjpeg, const uint8_t *data, size_t size);

/* To be called behind the last byte. MJPEG_CUT: as above, with no bytes kept. MJPEG_FOREIGN: the last frame
 * ends before its first scan. MJPEG_PART: there is nothing left, unless the frame was one that is left out.
 */
enum mjpeg_event mjpeg_finish(struct mjpeg *mjpeg);

#endif
