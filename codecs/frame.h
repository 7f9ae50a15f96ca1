/* SPDX-License-Identifier: MIT
 * A frame of an animation, and the functions for frames that a codec has (codecs/frames.h). */
#ifndef BLURD_CODECS_FRAME_H
#define BLURD_CODECS_FRAME_H

#include "codecs/definition.h"

struct animation;
struct frames_writer;

enum frame_disposal {
    FRAME_KEEP,    /* the canvas stays as it is */
    FRAME_CLEAR,   /* the frame's rectangle becomes transparent */
    FRAME_RESTORE, /* it becomes what it was before the frame */
};

struct frame {
    uint32_t left, top, width, height; /* its rectangle, of which what lies off the canvas is cut; a side of 0
                                          draws nothing */
    uint32_t delay, scale;             /* it is shown for delay / scale seconds, at most FRAME_SECONDS_MAX;
                                          scale > 0 */
    enum frame_disposal disposal;      /* what becomes of its rectangle afterwards */
    bool blends;                       /* drawn over the canvas; false: replaces it */
};

enum { FRAME_SECONDS_MAX = UINT16_MAX }; /* the most that PNG holds */

/* Where a walk over the frames of a file is. Zero-initialise. */
struct frame_cursor {
    size_t position;
    uint32_t index;
};

/* The decoder of a sequence. In the process of an isolated codec it stays until the request ends. */
struct codec_sequence {
    /* The input and what the limits point to must outlive *walk. On failure there is none. */
    enum status (*open)(struct bytes input, const struct codec_limits *limits, void **walk,
                        struct error *err);
    /* Decodes the next frame into `image`, which has the shape picture->pixels of the probe, and sets the
     * frame's time. After a failure only `close` is allowed. */
    enum status (*next)(void *walk, const struct image *image, struct frame *frame, struct error *err);
    void (*close)(void *walk);
    /* How many frames the first bytes of a file claim, without a library; 0: unknown. NULL: always. */
    uint32_t (*estimate)(struct bytes input);
};

/* What the frames of a sequence have in common. */
struct sequence_shape {
    struct image_shape frame;
    uint32_t timescale; /* times of frames are parts of a second: 1 / timescale */
    uint32_t plays;     /* 0: for ever */
};

/* The encoder of a sequence, whose frames it predicts from others. In the process of an isolated codec it
 * stays until the file is complete, or the request ends. */
struct codec_sequence_writer {
    /* Options and metadata as of `encode`; options->pictures frames will follow. Only what `link` and `crew`
     * point to must outlive *writer. On failure there is none. */
    enum status (*open)(const struct sequence_shape *shape, const struct encode_options *options,
                        const struct metadata *metadata, void **writer, struct error *err);
    /* Encodes a frame of the shape that is shown for `time` parts, at least 1. After a failure only `close`
     * is allowed. */
    enum status (*add)(void *writer, const struct image *image, uint32_t time, struct error *err);
    /* Appends the file, once. Only `close` is allowed afterwards. */
    enum status (*end)(void *writer, struct buf *output, struct error *err);
    void (*close)(void *writer);
    /* Bytes of memory that stand beside the encoder (codec_encode_bytes) for a file of so many bytes. */
    size_t (*file_bytes)(size_t file);
};

/* A codec's container of frames. */
struct codec_frames {
    const struct codec_sequence
        *sequence; /* in place of `scan` and `next`: `probe` counts the frames; or NULL */
    /* Fills *animation, all zero but for the codec, by frames_note for each frame. ST_CORRUPT: what follows
     * the first frame is damaged or cut short; ST_LIMIT as frames_note. */
    enum status (*scan)(struct bytes input, const struct codec_limits *limits, struct animation *animation,
                        struct error *err);
    /* The next frame of a file that `scan` accepted, and appends to `file` a still picture of it. */
    enum status (*next)(struct bytes input, struct frame_cursor *cursor, struct frame *frame,
                        struct buf *file, struct error *err);
    bool still;    /* the file is also a still picture, which readers without animations see */
    bool replaces; /* a frame can make pixels transparent that were not */
    const struct codec_sequence_writer *writer; /* in place of `add` and `end`; or NULL */
    /* Appends a frame, and takes the metadata of the first one's file; completes the file. */
    enum status (*add)(struct frames_writer *writer, const struct frame *frame, struct bytes file,
                       struct error *err);
    enum status (*end)(struct frames_writer *writer, struct error *err);
};

#endif
