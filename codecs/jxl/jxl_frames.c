/* SPDX-License-Identifier: MIT
 * The frames of an animated JPEG XL. libjxl puts layers together, which are frames without a time, and gives
 * whole canvases. */
#include <stdlib.h>

#include "codecs/frames.h"
#include "codecs/jxl/jxl.h"
#include "codecs/jxl/jxl_reader.h"
#include "core/deadline.h"

enum status jxl_frames_count(const struct jxl_reader *reader, const struct codec_limits *limits,
                             struct picture *picture, struct error *err) {
    JxlDecoderStatus got = JXL_DEC_FRAME;
    uint32_t count = 0;
    enum status status = ST_OK;
    while (status == ST_OK && got == JXL_DEC_FRAME && count <= limits->max_frames) {
        got = reader->library->JxlDecoderProcessInput(reader->decoder);
        count += got == JXL_DEC_FRAME;
        status = deadline_check(limits->deadline_ns, err);
    }
    picture->frames = count;
    picture->plays = reader->info.animation.num_loops;
    if (status == ST_OK && got != JXL_DEC_FRAME && got != JXL_DEC_SUCCESS) {
        return fail(err, ST_CORRUPT, "JPEG XL is damaged or cut short in frame %u",
                    count > 0 ? count - 1 : 0);
    }
    return status;
}

struct jxl_walk {
    struct jxl_reader reader;
    const struct codec_limits *limits;
};

static void close_walk(void *opened) {
    struct jxl_walk *walk = opened;
    jxl_reader_close(&walk->reader);
    free(walk);
}

static enum status open_walk(struct bytes input, const struct codec_limits *limits, void **opened,
                             struct error *err) {
    struct jxl_walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        return fail(err, ST_BUSY, "out of memory");
    }
    walk->limits = limits;
    enum status status =
        jxl_reader_open(&walk->reader, input, JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE, limits, err);
    if (status != ST_OK) {
        close_walk(walk);
        return status;
    }
    *opened = walk;
    return ST_OK;
}

static enum status read_time(const struct jxl_reader *reader, struct frame *frame, struct error *err) {
    const JxlAnimationHeader *animation = &reader->info.animation;
    JxlFrameHeader header;
    if (reader->library->JxlDecoderGetFrameHeader(reader->decoder, &header) != JXL_DEC_SUCCESS) {
        return fail(err, ST_CORRUPT, "JPEG XL data is damaged");
    }
    frames_set_time(frame, (uint64_t)header.duration * animation->tps_denominator, animation->tps_numerator);
    return ST_OK;
}

static enum status next(void *opened, const struct image *image, struct frame *frame, struct error *err) {
    struct jxl_walk *walk = opened;
    const struct jxl_reader *reader = &walk->reader;
    const struct image_shape shape = image_shape(image);
    if (!image_same_shape(&shape, &reader->pixels)) {
        return fail(err, ST_INTERNAL, "the memory to decode into does not have the picture's shape");
    }
    enum status status = jxl_reader_run(reader, JXL_DEC_FRAME, err);
    status = status == ST_OK ? read_time(reader, frame, err) : status;
    status = status == ST_OK ? jxl_decode_next(reader, image, err) : status;
    return status == ST_OK ? deadline_check(walk->limits->deadline_ns, err) : status;
}

static const struct codec_sequence sequence = {.open = open_walk, .next = next, .close = close_walk};

const struct codec_frames jxl_frames = {.sequence = &sequence};
