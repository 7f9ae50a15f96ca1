/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_walk.h"

static void end_decoder(struct codec_walk *walk) {
    if (walk->decoder) {
        walk->sequence->close(walk->decoder);
    }
    buf_finish(&walk->file);
    walk->sequence = NULL;
    walk->decoder = NULL;
    walk->reads = 0;
}

static void end_encoder(struct codec_walk *walk) {
    if (walk->encoder) {
        walk->writer->close(walk->encoder);
    }
    walk->writer = NULL;
    walk->encoder = NULL;
    walk->writes = 0;
}

bool codec_walk_has(const struct codec_call *call) {
    return call->operation == CODEC_FRAMES || call->operation == CODEC_ADDS ||
           call->operation == CODEC_COMPLETES;
}

bool codec_walk_prepare(struct codec_walk *walk, const struct codec_call *call) {
    const bool all = call->operation == CODEC_PROBES || call->operation == CODEC_REPACKS;
    const bool reads = call->operation == CODEC_FRAMES && call->first;
    const bool writes = call->operation == CODEC_ADDS && call->first;
    if (all || reads) {
        end_decoder(walk);
    }
    if (all || writes) {
        end_encoder(walk);
    }
    walk->reads = reads ? call->memory : walk->reads;
    walk->writes = writes ? call->memory : walk->writes;
    return !walk->decoder && !walk->encoder;
}

static enum status begin(struct codec_walk *walk, const struct codec_sequence *sequence,
                         const struct codec_call *call, struct bytes file, struct error *err) {
    walk->sequence = sequence;
    walk->limits = call->limits;
    buf_init(&walk->file, file.size);
    enum status status = buf_append(&walk->file, file.data, file.size, err);
    return status == ST_OK ? sequence->open(buf_bytes(&walk->file), &walk->limits, &walk->decoder, err)
                           : status;
}

enum status codec_walk_next(struct codec_walk *walk, const struct codec_call *call, const struct codec *codec,
                            struct bytes file, const struct image *image, struct frame *frame,
                            struct error *err) {
    const struct codec_sequence *sequence = codec->frames ? codec->frames->sequence : NULL;
    if (!sequence || (!call->first && sequence != walk->sequence)) {
        return fail(err, ST_INTERNAL, "the call is for no frame");
    }
    enum status status = call->first ? begin(walk, sequence, call, file, err) : ST_OK;
    status = status == ST_OK ? sequence->next(walk->decoder, image, frame, err) : status;
    if (status != ST_OK) {
        end_decoder(walk);
    }
    return status;
}

static enum status begin_writing(struct codec_walk *walk, const struct codec_sequence_writer *writer,
                                 const struct codec_call *call, const struct metadata *metadata,
                                 struct error *err) {
    const struct sequence_shape shape = {call->shape, call->timescale, call->plays};
    walk->writer = writer;
    return call->timescale > 0 ? writer->open(&shape, &call->options, metadata, &walk->encoder, err)
                               : fail(err, ST_INTERNAL, "the frames have no timescale");
}

enum status codec_walk_add(struct codec_walk *walk, const struct codec_call *call, const struct codec *codec,
                           const struct image *image, const struct metadata *metadata, struct error *err) {
    const struct codec_sequence_writer *writer = codec->frames ? codec->frames->writer : NULL;
    if (!writer || (!call->first && writer != walk->writer)) {
        return fail(err, ST_INTERNAL, "the frame is of no sequence");
    }
    enum status status = call->first ? begin_writing(walk, writer, call, metadata, err) : ST_OK;
    status = status == ST_OK ? writer->add(walk->encoder, image, call->time, err) : status;
    if (status != ST_OK) {
        end_encoder(walk);
    }
    return status;
}

enum status codec_walk_complete(struct codec_walk *walk, const struct codec *codec, struct buf *output,
                                struct error *err) {
    const struct codec_sequence_writer *writer = codec->frames ? codec->frames->writer : NULL;
    if (!writer || writer != walk->writer) {
        return fail(err, ST_INTERNAL, "there is no sequence to complete");
    }
    enum status status = writer->end(walk->encoder, output, err);
    end_encoder(walk);
    return status;
}
