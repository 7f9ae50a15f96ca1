/* SPDX-License-Identifier: MIT
 * What a process keeps between calls: a decoder of frames (struct codec_sequence), and an encoder of them
 * (struct codec_sequence_writer). Both may stand at once, within one limit of memory. Internal to
 * codecs/process/. */
#ifndef BLURD_CODECS_PROCESS_CODEC_WALK_H
#define BLURD_CODECS_PROCESS_CODEC_WALK_H

#include "codecs/frame.h"
#include "codecs/process/codec_wire.h"

/* Zero-initialise. */
struct codec_walk {
    const struct codec_sequence *sequence; /* NULL: there is no decoder */
    void *decoder;
    struct buf file; /* a copy: later calls overwrite the exchange */
    struct codec_limits limits;
    const struct codec_sequence_writer *writer; /* NULL: there is no encoder */
    void *encoder;
    size_t base;            /* bytes of data of the process before the first of them was opened */
    uint64_t reads, writes; /* bytes that the decoder may take, and the encoder */
};

/* Ends what does not outlive the call, and counts the memory of what it opens. Probes and repacking are about
 * another picture; other calls may lie between two frames. True when nothing stands: the caller sets `base`.
 */
bool codec_walk_prepare(struct codec_walk *walk, const struct codec_call *call);

/* Whether the call is one of those within the limit of what stands, base + reads + writes. */
bool codec_walk_has(const struct codec_call *call);

/* Decodes the next frame of the call's codec, with call->first of a new decoder for `file`. ST_INTERNAL when
 * there is none to go on with; else fails like struct codec_sequence. There is no decoder after a failure. */
enum status codec_walk_next(struct codec_walk *walk, const struct codec_call *call, const struct codec *codec,
                            struct bytes file, const struct image *image, struct frame *frame,
                            struct error *err);

/* Encodes a frame, with call->first by a new encoder. `metadata` as of `encode`. ST_INTERNAL when there is
 * none to go on with; else fails like struct codec_sequence_writer. There is no encoder after a failure. */
enum status codec_walk_add(struct codec_walk *walk, const struct codec_call *call, const struct codec *codec,
                           const struct image *image, const struct metadata *metadata, struct error *err);

/* Appends the file, and ends the encoder. Fails like codec_walk_add. */
enum status codec_walk_complete(struct codec_walk *walk, const struct codec *codec, struct buf *output,
                                struct error *err);

#endif
