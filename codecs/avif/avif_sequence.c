/* SPDX-License-Identifier: MIT
 * AVIF sequences by libavif. libaom encodes them in its mode for calls: it keeps a few frames instead of
 * looking ahead over twenty and more, and has a frame done with the call that gives it (docs/adr/0090). */
#include <stdlib.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_movie.h"
#include "codecs/avif/avif_writer.h"
#include "codecs/frame.h"
#include "core/deadline.h"

enum {
    SIDE_MAX = UINT16_MAX, /* pixels, which a track can hold */
    COPIES = 3,            /* of the file: the library's frames, and its output while that grows */
};

struct avif_sequence {
    struct avif_writer writer;
    struct image_shape frame;
    uint32_t plays;
    avifEncoder *encoder;
};

static void close_writer(void *opened) {
    struct avif_sequence *sequence = opened;
    if (sequence->encoder) {
        sequence->writer.library->avifEncoderDestroy(sequence->encoder);
    }
    avif_writer_close(&sequence->writer);
    free(sequence);
}

static unsigned effort_of(const struct encode_options *options) {
    return options->effort < AVIF_SEQUENCE_EFFORT ? options->effort : AVIF_SEQUENCE_EFFORT;
}

static enum status begin(struct avif_sequence *sequence, const struct sequence_shape *shape,
                         const struct encode_options *options, const struct metadata *metadata,
                         struct error *err) {
    sequence->frame = shape->frame;
    sequence->plays = shape->plays;
    if (shape->frame.width > SIDE_MAX || shape->frame.height > SIDE_MAX) {
        return fail(err, ST_LIMIT, "an AVIF sequence has at most %u pixels a side", (unsigned)SIDE_MAX);
    }
    enum status status = avif_writer_open(&sequence->writer, &shape->frame, options, metadata, err);
    status = status == ST_OK
                 ? avif_writer_encoder(&sequence->writer, effort_of(options), &sequence->encoder, err)
                 : status;
    if (status == ST_OK) {
        sequence->encoder->timescale = shape->timescale;
    }
    return status;
}

static enum status open_writer(const struct sequence_shape *shape, const struct encode_options *options,
                               const struct metadata *metadata, void **opened, struct error *err) {
    struct avif_sequence *sequence = calloc(1, sizeof *sequence);
    if (!sequence) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = begin(sequence, shape, options, metadata, err);
    if (status != ST_OK) {
        close_writer(sequence);
        return status;
    }
    *opened = sequence;
    return ST_OK;
}

static enum status add(void *opened, const struct image *image, uint32_t time, struct error *err) {
    struct avif_sequence *sequence = opened;
    const struct avif_writer *writer = &sequence->writer;
    const struct image_shape shape = image_shape(image);
    avifImage *stored = NULL;
    if (!image_same_shape(&shape, &sequence->frame)) {
        return fail(err, ST_INTERNAL, "a frame has another shape than the first one");
    }
    enum status status = avif_writer_image(writer, image, &stored, err);
    if (status == ST_OK) {
        const avifResult result =
            writer->library->avifEncoderAddImage(sequence->encoder, stored, time, AVIF_ADD_IMAGE_FLAG_NONE);
        status = result == AVIF_RESULT_OK
                     ? deadline_check(writer->options.deadline_ns, err)
                     : avif_writer_fail(writer, result, sequence->encoder->diag.error, err);
    }
    avif_writer_free(writer, stored);
    return status;
}

/* The encoder goes before the file is copied: it holds all frames. */
static enum status end(void *opened, struct buf *output, struct error *err) {
    struct avif_sequence *sequence = opened;
    const struct avif_writer *writer = &sequence->writer;
    avifRWData file = {NULL, 0};
    const avifResult result = writer->library->avifEncoderFinish(sequence->encoder, &file);
    enum status status = result == AVIF_RESULT_OK
                             ? ST_OK
                             : avif_writer_fail(writer, result, sequence->encoder->diag.error, err);
    writer->library->avifEncoderDestroy(sequence->encoder);
    sequence->encoder = NULL;
    if (status == ST_OK) {
        status = avif_movie_write((struct bytes){file.data, file.size}, sequence->plays, output, err);
    }
    writer->library->avifRWDataFree(&file);
    return status == ST_OK ? deadline_check(writer->options.deadline_ns, err) : status;
}

static size_t file_bytes(size_t file) {
    return COPIES * file;
}

const struct codec_sequence_writer avif_sequence_writer = {
    .open = open_writer, .add = add, .end = end, .close = close_writer, .file_bytes = file_bytes};
