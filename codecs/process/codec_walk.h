/* SPDX-License-Identifier: MIT
 * The decoder of frames (struct codec_sequence) that a process keeps between calls. Internal to
 * codecs/process/. */
#ifndef BLURD_CODECS_PROCESS_CODEC_WALK_H
#define BLURD_CODECS_PROCESS_CODEC_WALK_H

#include "codecs/frame.h"
#include "codecs/process/codec_wire.h"

/* Zero-initialise. */
struct codec_walk {
    const struct codec_sequence *sequence; /* NULL: none */
    void *decoder;
    struct buf file; /* a copy: later calls overwrite the exchange */
    struct codec_limits limits;
    size_t base;     /* bytes of data of the process before the decoder was opened */
    uint64_t memory; /* that all of it may take */
};

/* Decodes the next frame of the call's codec, with call->first of a new decoder for `file`. ST_INTERNAL when
 * there is none to go on with; else fails like struct codec_sequence. There is no decoder after a failure. */
enum status codec_walk_next(struct codec_walk *walk, const struct codec_call *call, const struct codec *codec,
                            struct bytes file, const struct image *image, struct frame *frame,
                            struct error *err);

/* Frees the decoder and the file. An all-zero struct is allowed. */
void codec_walk_end(struct codec_walk *walk);

#endif
