/* SPDX-License-Identifier: MIT
 * AVIF by libavif, with the encoder libaom (docs/adr/0025). */
#include <stdio.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_writer.h"
#include "core/deadline.h"

enum {
    QUALITY_MAX = 100,
    SPEED_FASTEST = 9, /* 10 is the same */
};

/* Nanoseconds a sample at each effort, whose speed is SPEED_FASTEST - effort, as in sharp and libheif: the
 * slowest found, for noise of full resolution. */
static const uint32_t effort_ns[AVIF_EFFORTS] = {200, 500, 750, 1000, 3000, 3500, 5000, 15000, 20000, 60000};

/* The strongest effort up to the asked one that fits into half the time: other work may share the cores. */
static unsigned affordable(const struct avif_writer *writer, const struct image_shape *shape) {
    const struct encode_options *options = &writer->options;
    uint64_t samples = avif_writer_samples(writer, shape);
    uint64_t half = (uint64_t)deadline_left(options->deadline_ns) / 2;
    unsigned effort = options->effort < AVIF_EFFORTS ? options->effort : AVIF_EFFORTS - 1;
    while (effort > 0 && samples * effort_ns[effort] > half) {
        effort--;
    }
    return effort;
}

/* The quality's quantizer, by the formula of libavif 1.0 and of libheif. Between wider bounds libaom would
 * choose another one for each frame of a sequence. */
static void set_quality(avifEncoder *encoder, const struct encode_options *options) {
    const int quality = options->quality;
    int quantizer = ((QUALITY_MAX - quality) * AVIF_QUANTIZER_WORST_QUALITY + QUALITY_MAX / 2) / QUALITY_MAX;
#if AVIF_VERSION >= 1000000
    encoder->quality = encoder->qualityAlpha = quality;
    if (options->pictures < 2) {
        return;
    }
#endif
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = quantizer;
}

/* libaom takes pictures with flat areas for screens. It then looks for parts that repeat, by hashes of every
 * block, with several times the memory and time. */
static void set_options(const struct avif_writer *writer, avifEncoder *encoder) {
    (void)writer->library->avifEncoderSetCodecSpecificOption(encoder, "enable-intrabc", "0");
}

/* Frames have the quality's quantizer instead of a rate, by which libaom 3.6 aborts on noise near its best.
 */
static void set_sequence_options(const struct avif_writer *writer, avifEncoder *encoder) {
    char level[12];
    (void)snprintf(level, sizeof level, "%d", encoder->maxQuantizer);
    (void)writer->library->avifEncoderSetCodecSpecificOption(encoder, "end-usage", "q");
    (void)writer->library->avifEncoderSetCodecSpecificOption(encoder, "cq-level", level);
}

enum status avif_writer_encoder(const struct avif_writer *writer, unsigned effort, avifEncoder **encoder,
                                struct error *err) {
    *encoder = writer->library->avifEncoderCreate();
    if (!*encoder) {
        return fail(err, ST_BUSY, "out of memory for the AVIF library");
    }
    (*encoder)->codecChoice = AVIF_CODEC_CHOICE_AOM;
    (*encoder)->maxThreads = 1;
    (*encoder)->speed = SPEED_FASTEST - (int)effort;
    set_quality(*encoder, &writer->options);
    set_options(writer, *encoder);
    if (writer->options.pictures > 1) {
        set_sequence_options(writer, *encoder);
    }
    return ST_OK;
}

static enum status write_with(const struct avif_writer *writer, avifEncoder *encoder, const avifImage *stored,
                              struct buf *output, struct error *err) {
    avifRWData file = {NULL, 0};
    avifResult result = writer->library->avifEncoderWrite(encoder, stored, &file);
    enum status status = result == AVIF_RESULT_OK
                             ? buf_append(output, file.data, file.size, err)
                             : avif_writer_fail(writer, result, encoder->diag.error, err);
    writer->library->avifRWDataFree(&file);
    return status;
}

enum status avif_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    const struct image_shape shape = image_shape(image);
    struct avif_writer writer;
    avifImage *stored = NULL;
    avifEncoder *encoder = NULL;
    enum status status = avif_writer_open(&writer, &shape, options, metadata, err);
    status = status == ST_OK ? avif_writer_image(&writer, image, &stored, err) : status;
    status =
        status == ST_OK ? avif_writer_encoder(&writer, affordable(&writer, &shape), &encoder, err) : status;
    status = status == ST_OK ? write_with(&writer, encoder, stored, output, err) : status;
    status = status == ST_OK ? deadline_check(options->deadline_ns, err) : status;
    if (encoder) {
        writer.library->avifEncoderDestroy(encoder);
    }
    avif_writer_free(&writer, stored);
    avif_writer_close(&writer);
    return status;
}

/* A pixel at the least effort, and the multiple that each effort takes. */
struct encode_cost avif_encode_cost(const struct encode_extent *extent,
                                    const struct encode_options *options) {
    static const float factor[AVIF_EFFORTS] = {1, 1, 3.5F, 4.5F, 6.5F, 6.5F, 15, 18, 32, 63};
    if (options->pictures > 1) {
        return (struct encode_cost){60 * extent->pixels,
                                    1}; /* both efforts of sequences take about as long */
    }
    return (struct encode_cost){60 * extent->pixels * factor[options->effort], 0};
}
