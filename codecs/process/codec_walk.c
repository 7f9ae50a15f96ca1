/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_walk.h"

void codec_walk_end(struct codec_walk *walk) {
    if (walk->decoder) {
        walk->sequence->close(walk->decoder);
    }
    buf_finish(&walk->file);
    *walk = (struct codec_walk){0};
}

static enum status begin(struct codec_walk *walk, const struct codec_sequence *sequence,
                         const struct codec_call *call, struct bytes file, struct error *err) {
    walk->sequence = sequence;
    walk->limits = call->limits;
    walk->memory = call->memory;
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
        codec_walk_end(walk);
    }
    return status;
}
