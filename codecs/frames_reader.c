/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/frames.h"
#include "codecs/limits.h"
#include "codecs/process/codec_link.h"
#include "core/deadline.h"

enum { FILE_EXTRA = 4 << 10 }; /* bytes of a frame's file that are not in the animation's */

static struct image_shape canvas_shape(const struct animation *animation, unsigned depth) {
    return (struct image_shape){
        .model = PIXEL_RGBA, .depth = (uint8_t)depth, .width = animation->width, .height = animation->height};
}

size_t frames_reader_bytes(const struct animation *animation, unsigned depth) {
    struct image image;
    const struct image_shape shape = canvas_shape(animation, depth);
    const size_t canvas = image_layout(&image, &shape);
    return canvas * (animation->restores ? 2 : 1) + animation->frame_bytes;
}

void frames_reader_open(struct frames_reader *reader, struct bytes input, const struct animation *animation,
                        const struct codec_limits *limits, unsigned depth, uint8_t *memory) {
    const struct image_shape shape = canvas_shape(animation, depth);
    *reader = (struct frames_reader){.input = input, .animation = animation, .limits = *limits};
    reader->limits.progress = NULL;
    reader->limits.reduction = 0;
    const size_t size = image_layout(&reader->canvas, &shape);
    image_place(&reader->canvas, memory);
    memset(memory, 0, size);
    memory += size;
    if (animation->restores) {
        image_layout(&reader->saved, &shape);
        image_place(&reader->saved, memory);
        memory += size;
    }
    reader->memory = memory;
    buf_init(&reader->file, input.size + FILE_EXTRA);
}

/* Does with the last frame's rectangle what the frame asks for. */
static void dispose(struct frames_reader *reader) {
    if (reader->cursor.index == 0 || reader->frame.disposal == FRAME_KEEP) {
        return;
    }
    if (reader->frame.disposal == FRAME_CLEAR) {
        frames_clear(&reader->canvas, &reader->frame);
    } else {
        frames_copy(&reader->canvas, &reader->frame, &reader->saved);
    }
}

static enum status decode(struct frames_reader *reader, const struct picture *picture, struct error *err) {
    const struct frame *frame = &reader->frame;
    struct image image;
    const size_t size = image_layout(&image, &picture->pixels);
    if (picture->codec != reader->animation->codec || picture->pixels.width != frame->width ||
        picture->pixels.height != frame->height || picture->pixels.depth != reader->canvas.depth ||
        size > reader->animation->frame_bytes) {
        return fail(err, ST_CORRUPT, "frame %u is another picture than its container says",
                    reader->cursor.index - 1);
    }
    image_place(&image, reader->memory);
    image.room = reader->animation->frame_bytes - size;
    enum status status = codec_decode(buf_bytes(&reader->file), picture, &reader->limits, &image, err);
    if (status == ST_OK) {
        frames_draw(&reader->canvas, frame, &image);
    }
    return status;
}

/* The header is read here: that takes no library. */
static enum status draw(struct frames_reader *reader, struct error *err) {
    struct codec_limits limits = reader->limits;
    struct picture picture;
    limits.link = NULL;
    limits.first_frame = true;
    enum status status = codec_probe(buf_bytes(&reader->file), &limits, &picture, err);
    if (status == ST_OK) {
        status = decode(reader, &picture, err);
        codec_picture_finish(&picture);
    }
    return status;
}

/* Says which frame it is about. */
static enum status name_frame(const struct frames_reader *reader, enum status status, struct error *err) {
    const struct error cause = *err;
    return status == ST_OK || reader->cursor.index == 0
               ? status
               : fail(err, status, "frame %u: %.400s", reader->cursor.index - 1, cause.text);
}

static enum status decode_next(struct frames_reader *reader, const struct image *image, struct error *err) {
    const struct animation *animation = reader->animation;
    const struct codec *codec = codec_get(animation->codec);
    const struct codec_sequence *sequence = codec->frames->sequence;
    const struct codec_frame_call call = {
        .codec = animation->codec, .first = reader->cursor.index == 0, .memory = animation->decoder_bytes};
    reader->cursor.index++;
    if (codec->isolated && reader->limits.link) {
        return codec_link_frame(reader->limits.link, &call, reader->input, &reader->limits, image,
                                &reader->frame, err);
    }
    enum status status =
        reader->walk ? ST_OK : sequence->open(reader->input, &reader->limits, &reader->walk, err);
    return status == ST_OK ? sequence->next(reader->walk, image, &reader->frame, err) : status;
}

/* The next whole canvas. A still picture has no time. */
static enum status walk(struct frames_reader *reader, struct error *err) {
    const struct animation *animation = reader->animation;
    struct image image;
    image_layout(&image, &animation->shape);
    image_place(&image, reader->memory);
    reader->frame = (struct frame){.width = animation->width, .height = animation->height, .scale = 1};
    enum status status = decode_next(reader, &image, err);
    if (status == ST_OK) {
        frames_draw(&reader->canvas, &reader->frame, &image);
    }
    return name_frame(reader, status, err);
}

enum status frames_reader_next(struct frames_reader *reader, struct error *err) {
    const struct codec_frames *frames = codec_get(reader->animation->codec)->frames;
    struct frame *frame = &reader->frame;
    dispose(reader);
    reader->file.size = 0;
    enum status status = deadline_check(reader->limits.deadline_ns, err);
    if (status != ST_OK) {
        return status;
    }
    if (frames->sequence) {
        return walk(reader, err);
    }
    status = frames->next(reader->input, &reader->cursor, frame, &reader->file, err);
    if (status == ST_OK && frame->disposal == FRAME_RESTORE) {
        frames_copy(&reader->saved, frame, &reader->canvas);
    }
    if (status == ST_OK && frame->width > 0 && frame->height > 0) {
        status = draw(reader, err);
    }
    return name_frame(reader, status, err);
}

void frames_reader_close(struct frames_reader *reader) {
    if (reader->walk) {
        codec_get(reader->animation->codec)->frames->sequence->close(reader->walk);
        reader->walk = NULL;
    }
    buf_finish(&reader->file);
}
