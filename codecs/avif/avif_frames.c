/* SPDX-License-Identifier: MIT
 * The frames of an AVIF sequence. */
#include <stdlib.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_reader.h"
#include "codecs/bmff/bmff.h"
#include "codecs/frames.h"
#include "core/deadline.h"

struct avif_walk {
    struct avif_reader reader;
    const struct codec_limits *limits;
};

static void close_walk(void *opened) {
    struct avif_walk *walk = opened;
    avif_reader_close(&walk->reader);
    free(walk);
}

static enum status open_walk(struct bytes input, const struct codec_limits *limits, void **opened,
                             struct error *err) {
    struct avif_walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        return fail(err, ST_BUSY, "out of memory");
    }
    walk->limits = limits;
    enum status status = avif_reader_open(&walk->reader, input, limits, err);
    if (status != ST_OK) {
        close_walk(walk);
        return status;
    }
    *opened = walk;
    return ST_OK;
}

static enum status next(void *opened, const struct image *image, struct frame *frame, struct error *err) {
    struct avif_walk *walk = opened;
    const struct image_shape shape = image_shape(image);
    if (!image_same_shape(&shape, &walk->reader.pixels)) {
        return fail(err, ST_INTERNAL, "the memory to decode into does not have the picture's shape");
    }
    enum status status = avif_decode_next(&walk->reader, image, err);
    const avifImageTiming *timing = &walk->reader.decoder->imageTiming;
    frames_set_time(frame, timing->durationInTimescales, timing->timescale);
    return status == ST_OK ? deadline_check(walk->limits->deadline_ns, err) : status;
}

/* The number of samples, behind a version and a size that all may share. */
static uint32_t estimate(struct bytes input) {
    static const char *const path[] = {"moov", "trak", "mdia", "minf", "stbl", "stsz"};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        bmff_find(input, path[i], &input);
    }
    return input.size >= 12 ? bytes_be32(input.data + 8) : 0;
}

static const struct codec_sequence sequence = {
    .open = open_walk, .next = next, .close = close_walk, .estimate = estimate};

const struct codec_frames avif_frames = {.sequence = &sequence, .writer = &avif_sequence_writer};
