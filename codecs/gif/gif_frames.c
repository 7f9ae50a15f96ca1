/* SPDX-License-Identifier: MIT */
#include "codecs/frames.h"
#include "codecs/gif/gif.h"
#include "codecs/gif/gif_blocks.h"

enum { DELAY_LEAST = 2, DELAY_MAX = UINT16_MAX }; /* readers take 0 and 1 for another time */

static enum status scan(struct bytes input, const struct codec_limits *limits, struct animation *animation,
                        struct error *err) {
    struct gif_file file;
    struct gif_image image;
    bool more = true;
    enum status status = gif_open(input, &file, err);
    if (status != ST_OK) {
        return status;
    }
    animation->width = file.width;
    animation->height = file.height;
    while (status == ST_OK && more) {
        status = gif_next(input, &file, &image, &more, err);
        if (status == ST_OK && more) {
            status = frames_note(animation, &image.frame, gif_image_has_alpha(&image), limits, err);
        }
    }
    animation->plays = file.plays;
    return status;
}

/* A file of the image alone, on a screen of its size. */
static enum status write_still(const struct gif_image *image, struct buf *file, struct error *err) {
    const struct frame still = {.width = image->frame.width, .height = image->frame.height};
    enum status status = gif_put_header(file, still.width, still.height, image->palette, err);
    if (status == ST_OK && image->transparent >= 0) {
        status = gif_put_control(file, &still, 0, image->transparent, err);
    }
    status =
        status == ST_OK ? gif_put_image(file, &still, image->interlaced, (struct bytes){0}, err) : status;
    return status == ST_OK ? buf_append(file, image->data.data, image->data.size, err) : status;
}

static enum status next(struct bytes input, struct frame_cursor *cursor, struct frame *frame,
                        struct buf *still, struct error *err) {
    struct gif_file file;
    struct gif_image image = {0};
    bool found = false;
    enum status status = gif_open(input, &file, err);
    file.position = cursor->index == 0 ? file.position : cursor->position;
    status = status == ST_OK ? gif_next(input, &file, &image, &found, err) : status;
    if (status == ST_OK && !found) {
        return fail(err, ST_CORRUPT, "GIF has only %u frames", cursor->index);
    }
    if (status != ST_OK) {
        return status;
    }
    *frame = image.frame;
    cursor->index++;
    cursor->position = file.position;
    return write_still(&image, still, err);
}

/* ---- writing ---- */

/* The first frame's palette is the global one; others have their own unless it is the same. */
static enum status add(struct frames_writer *writer, const struct frame *frame, struct bytes still,
                       struct error *err) {
    struct buf *output = writer->output;
    struct gif_file file;
    struct gif_image image;
    bool found = false;
    if (gif_open(still, &file, err) != ST_OK || gif_next(still, &file, &image, &found, err) != ST_OK ||
        !found) {
        return fail(err, ST_INTERNAL, "a GIF was written that cannot be read");
    }
    struct bytes palette = image.palette;
    enum status status = ST_OK;
    if (writer->index == 0) {
        writer->mark = output->size + GIF_HEADER;
        writer->flags = (unsigned)palette.size;
        status = gif_put_header(output, writer->shape.width, writer->shape.height, palette, err);
        status = status == ST_OK ? gif_put_plays(output, writer->plays, err) : status;
    }
    if (status == ST_OK && palette.size == writer->flags &&
        memcmp(output->data + writer->mark, palette.data, palette.size) == 0) {
        palette = (struct bytes){0};
    }
    const uint32_t delay = frames_writer_time(writer, frame, GIF_SCALE, DELAY_LEAST, DELAY_MAX);
    status = status == ST_OK ? gif_put_control(output, frame, delay, image.transparent, err) : status;
    status = status == ST_OK ? gif_put_image(output, frame, false, palette, err) : status;
    return status == ST_OK ? buf_append(output, image.data.data, image.data.size, err) : status;
}

static enum status end(struct frames_writer *writer, struct error *err) {
    const uint8_t trailer = GIF_TRAILER;
    return buf_append(writer->output, &trailer, 1, err);
}

const struct codec_frames gif_frames = {.scan = scan, .next = next, .add = add, .end = end};
