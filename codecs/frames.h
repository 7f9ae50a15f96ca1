/* SPDX-License-Identifier: MIT
 * Animations: files of several frames that are shown one after the other on a canvas.
 *
 * A frame lies in its container as a still picture of the same format. `struct codec_frames` finds and writes
 * these, without a library; codec_decode and codec_encode do the rest, in the process of an isolated codec as
 * for any picture. The reader resolves how frames cover each other, so that callers see whole canvases. Both
 * hold a few canvases, never all frames.
 *
 * Where frames are predicted from others, the codec has a `struct codec_sequence` instead, whose decoder goes
 * through all of them, and gives whole canvases, or a `struct codec_sequence_writer`, whose encoder takes
 * them.
 *
 * All functions are for one thread at a time. */
#ifndef BLURD_CODECS_FRAMES_H
#define BLURD_CODECS_FRAMES_H

#include "codecs/frame.h"

/* What the container or the header says, without decoding a frame. */
struct animation {
    enum codec_id codec;
    uint32_t width, height;   /* of the canvas */
    uint32_t frames;          /* below 2: a still picture, and the rest is undefined */
    uint32_t plays;           /* 0: for ever */
    bool apart;               /* the still picture that other readers see is no frame */
    bool alpha;               /* the canvas may have transparent pixels */
    bool restores;            /* some frame has FRAME_RESTORE */
    size_t frame_bytes;       /* for the pixels of the largest frame */
    size_t decoder_bytes;     /* that the decoder of a sequence may take */
    struct image_shape shape; /* of the frames of a sequence */
};

/* Whether the build reads, or also writes, animations of the format. */
bool frames_reads(enum codec_id id);
bool frames_writes(enum codec_id id);

/* For `scan`: counts a frame of a canvas whose size is known. `alpha`: its picture may have transparent
 * pixels. ST_LIMIT: more than limits->max_frames, or with it more pixels than limits->max_animation. */
enum status frames_note(struct animation *animation, const struct frame *frame, bool alpha,
                        const struct codec_limits *limits, struct error *err);

/* Reads the container of a file of which codec_probe has made `picture`. Fails like `scan`. */
enum status frames_scan(const struct picture *picture, struct bytes input, const struct codec_limits *limits,
                        struct animation *animation, struct error *err);

/* Sets the frame's time to delay / scale seconds, cut to FRAME_SECONDS_MAX. scale > 0. */
void frames_set_time(struct frame *frame, uint64_t delay, uint64_t scale);

/* About how many frames the file has, from its first bytes alone, so that a file of any size takes some
 * hundred microseconds at most; 1 where these hold no two frames. */
enum { FRAMES_ESTIMATED_FROM = 256 << 10 };
uint32_t frames_estimate(enum codec_id id, struct bytes input);

/* Lays pixels of any interleaved model over a canvas of RGBA of the same depth, as the frame says. With
 * alpha a over b is a * A + b * B * (1 - A), divided by the new alpha, each rounded to the nearest. */
void frames_draw(const struct image *canvas, const struct frame *frame, const struct image *pixels);

/* Makes the frame's rectangle transparent, or copies it from another canvas. */
void frames_clear(const struct image *canvas, const struct frame *frame);
void frames_copy(const struct image *canvas, const struct frame *frame, const struct image *from);

/* Copies the canvas to a picture of the same size and depth; grey ones get red, others without alpha lose it.
 */
void frames_show(const struct image *canvas, const struct image *target);

/* Zero-initialise, then frames_reader_open. */
struct frames_reader {
    struct bytes input;
    const struct animation *animation;
    struct codec_limits limits;
    struct frame_cursor cursor;
    struct frame frame; /* the last one */
    struct image canvas, saved;
    uint8_t *memory; /* of the frame's pixels */
    struct buf file;
    void *walk; /* of a sequence that is decoded in this process */
};

/* Bytes that the reader needs for a canvas of that depth, aligned to IMAGE_ALIGNMENT. */
size_t frames_reader_bytes(const struct animation *animation, unsigned depth);

/* Input, animation, memory and what the limits point to must outlive the reader. */
void frames_reader_open(struct frames_reader *reader, struct bytes input, const struct animation *animation,
                        const struct codec_limits *limits, unsigned depth, uint8_t *memory);

/* Draws the next frame onto reader->canvas. Beside the errors of codec_probe and codec_decode ST_CORRUPT for
 * a frame that is not what its container says; the reader is of no use then. */
enum status frames_reader_next(struct frames_reader *reader, struct error *err);

/* Frees what the reader took. An all-zero struct is allowed. */
void frames_reader_close(struct frames_reader *reader);

/* Zero-initialise, then frames_writer_open. */
struct frames_writer {
    enum codec_id id;
    struct image_shape shape; /* of all frames */
    uint32_t frames, plays;   /* that will be written */
    const struct encode_options *options;
    const struct metadata *metadata; /* NULL: none */
    struct buf *output;
    size_t start;       /* of the file in the output */
    struct image shown; /* the frame before */
    uint32_t index;     /* of the next frame */
    uint64_t time_ns;   /* of all frames until now, */
    uint64_t units;     /* and what was written of it */
    size_t mark;        /* the codec's */
    uint32_t sequence;
    unsigned flags;
    struct buf tail;    /* the codec's: what comes behind the frames */
    struct buf file;    /* of a frame */
    uint32_t timescale; /* of a sequence */
    void *walk;         /* the encoder of one that is encoded in this process */
};

/* Bytes that the writer needs for frames of that shape, aligned to IMAGE_ALIGNMENT. */
size_t frames_writer_bytes(enum codec_id id, const struct image_shape *shape);

/* Bytes that the encoder of a sequence takes for a file of that size, beside those of codec_encode_bytes; 0
 * for formats whose frames are still pictures. */
size_t frames_writer_file_bytes(enum codec_id id, size_t file);

/* All but the shape must outlive the writer. Metadata are those of the whole file. */
void frames_writer_open(struct frames_writer *writer, enum codec_id id, const struct image_shape *shape,
                        const struct animation *animation, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, uint8_t *memory);

/* Appends a frame that is shown for the time of `frame`; what did not change since the frame before is not
 * written again. Fails like codec_encode. */
enum status frames_writer_add(struct frames_writer *writer, const struct image *image,
                              const struct frame *frame, struct error *err);

/* Completes the file, once all frames are there. */
enum status frames_writer_end(struct frames_writer *writer, struct error *err);

/* Frees what the writer took, also after a failure. An all-zero struct is allowed. */
void frames_writer_close(struct frames_writer *writer);

/* For `add`: the frame's time in parts of a second, at least `least` and at most `most`, such that rounding
 * does not add up over the frames. */
uint32_t frames_writer_time(struct frames_writer *writer, const struct frame *frame, uint32_t parts,
                            uint32_t least, uint32_t most);

#endif
