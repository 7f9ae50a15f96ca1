/* SPDX-License-Identifier: MIT
 * The headers of a JPEG XL file, read by libjxl. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_READER_H
#define BLURD_CODECS_JXL_JXL_READER_H

#include "codecs/definition.h"
#include "codecs/jxl/jxl_library.h"

struct jxl_reader {
    const struct jxl_library *library;
    JxlDecoder *decoder;
    JxlBasicInfo info;
    struct image_shape pixels; /* as stored, not turned */
    bool others;               /* the file has channels that are left out */
};

/* Reads as far as the colours, and decodes nothing; behind them the decoder stops at `events`. The colours
 * that libjxl will write are chosen then (jxl_colours.h). The caller ends *reader with jxl_reader_close, also
 * after a failure. The input must stay valid until then. ST_UNSUPPORTED for an animation unless
 * limits->first_frame, and for CMYK. */
enum status jxl_reader_open(struct jxl_reader *reader, struct bytes input, int events,
                            const struct codec_limits *limits, struct error *err);

/* Runs the decoder until `event`. ST_CORRUPT when the file is damaged or ends before. */
enum status jxl_reader_run(const struct jxl_reader *reader, JxlDecoderStatus event, struct error *err);

/* Decodes the picture, or the next frame, into one of the shape `pixels`. */
enum status jxl_decode_next(const struct jxl_reader *reader, const struct image *image, struct error *err);

/* Counts the frames of a reader that stops at JXL_DEC_FRAME alone, but no more than one beyond the limit.
 * Their headers are read. Fails like jxl_reader_run. */
enum status jxl_frames_count(const struct jxl_reader *reader, const struct codec_limits *limits,
                             struct picture *picture, struct error *err);

/* Fills *metadata, whose store holds all of it. ST_BUSY without memory. */
enum status jxl_metadata_read(const struct jxl_reader *reader, struct bytes input, struct metadata *metadata,
                              struct error *err);

void jxl_reader_close(struct jxl_reader *reader);

#endif
