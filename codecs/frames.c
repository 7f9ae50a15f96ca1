/* SPDX-License-Identifier: MIT */
#include "codecs/frames.h"

#include <inttypes.h>

#include "codecs/codec.h"
#include "core/numbers.h"

bool frames_reads(enum codec_id id) {
    return codec_get(id)->frames && codec_decodes(id);
}

bool frames_writes(enum codec_id id) {
    const struct codec_frames *frames = codec_get(id)->frames;
    return frames_reads(id) && (frames->add || frames->writer) && codec_encodes(id);
}

/* The most bytes that the pixels of a frame take in any model and depth, with room for the decoder; 0: they
 * exceed the address space. */
static size_t pixel_bytes(enum codec_id id, uint32_t width, uint32_t height) {
    struct image image;
    struct image_shape shape = {.model = PIXEL_RGBA, .depth = 16, .width = width, .height = height};
    const struct image_shape wide = shape;
    const size_t deep = image_layout(&image, &shape);
    shape.model = PIXEL_GRAY; /* which is padded */
    shape.depth = 8;
    const size_t grey = image_layout(&image, &shape);
    return deep == 0 || grey == 0 ? 0 : max_size(deep, grey) + codec_decode_room(id, &wide);
}

static enum status check_limits(const struct animation *animation, const struct codec_limits *limits,
                                struct error *err) {
    const uint64_t pixels = (uint64_t)animation->frames * animation->width * animation->height;
    if (animation->frames > limits->max_frames) {
        return fail(err, ST_LIMIT, "animation has more than %" PRIu32 " frames, which is the limit",
                    limits->max_frames);
    }
    return pixels <= limits->max_animation
               ? ST_OK
               : fail(err, ST_LIMIT,
                      "animation has more than %" PRIu64 " pixels in its frames together, which is the limit",
                      limits->max_animation);
}

enum status frames_note(struct animation *animation, const struct frame *frame, bool alpha,
                        const struct codec_limits *limits, struct error *err) {
    const bool covers = frame->left == 0 && frame->top == 0 && frame->width >= animation->width &&
                        frame->height >= animation->height;
    const bool first = animation->frames == 0;
    animation->alpha = animation->alpha || (first && !covers) || (alpha && (first || !frame->blends)) ||
                       frame->disposal == FRAME_CLEAR;
    animation->restores = animation->restores || frame->disposal == FRAME_RESTORE;
    animation->alpha = animation->alpha || (first && frame->disposal == FRAME_RESTORE);
    animation->frame_bytes =
        max_size(animation->frame_bytes, pixel_bytes(animation->codec, frame->width, frame->height));
    animation->frames++;
    return check_limits(animation, limits, err);
}

void frames_set_time(struct frame *frame, uint64_t delay, uint64_t scale) {
    while (delay > UINT32_MAX || scale > UINT32_MAX) {
        delay >>= 1;
        scale >>= 1;
    }
    const bool longer = scale == 0 || delay / scale >= FRAME_SECONDS_MAX;
    frame->delay = longer ? FRAME_SECONDS_MAX : (uint32_t)delay;
    frame->scale = longer ? 1 : (uint32_t)scale;
}

/* Each frame is a whole canvas. */
static enum status take_sequence(const struct picture *picture, size_t input,
                                 const struct codec_limits *limits, struct animation *animation,
                                 struct error *err) {
    animation->shape = picture->pixels;
    animation->width = picture->pixels.width;
    animation->height = picture->pixels.height;
    animation->frames = picture->frames;
    animation->plays = picture->plays;
    animation->alpha = image_pixel_has_alpha(picture->pixels.model);
    animation->frame_bytes = pixel_bytes(animation->codec, animation->width, animation->height);
    animation->decoder_bytes = codec_decode_bytes(picture, input);
    return check_limits(animation, limits, err);
}

uint32_t frames_estimate(enum codec_id id, struct bytes input) {
    const struct codec_limits limits = {
        .max_frames = UINT32_MAX, .max_animation = UINT64_MAX, .partial = true};
    const struct bytes part = {input.data, min_size(input.size, FRAMES_ESTIMATED_FROM)};
    struct animation animation = {.codec = id};
    const struct codec_frames *codec = codec_get(id)->frames;
    if (codec->sequence) {
        return codec->sequence->estimate ? max_u32(codec->sequence->estimate(part), 1) : 1;
    }
    (void)codec->scan(part, &limits, &animation, NULL);
    const uint64_t frames = animation.frames < 2 ? 1 : animation.frames * (uint64_t)input.size / part.size;
    return frames < UINT32_MAX ? (uint32_t)frames : UINT32_MAX;
}

enum status frames_scan(const struct picture *picture, struct bytes input, const struct codec_limits *limits,
                        struct animation *animation, struct error *err) {
    *animation = (struct animation){.codec = picture->codec};
    if (!frames_reads(picture->codec)) {
        return ST_OK;
    }
    const struct codec_frames *frames = codec_get(picture->codec)->frames;
    return frames->sequence ? take_sequence(picture, input.size, limits, animation, err)
                            : frames->scan(input, limits, animation, err);
}
