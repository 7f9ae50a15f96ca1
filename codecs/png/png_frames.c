/* SPDX-License-Identifier: MIT
 * The container of APNG (PNG, third edition, sections 4.9 and 11.3.6): acTL says how many frames there are, a
 * chunk fcTL stands before the data of each. Those of the first are IDAT if it is also the still picture, all
 * others fdAT, which are IDAT behind a number. */
#include <string.h>

#include "codecs/frames.h"
#include "codecs/png/png.h"
#include "codecs/png/png_chunks.h"

enum {
    IHDR_SIZE = 13,
    ACTL_SIZE = 8,
    FCTL_SIZE = 26,
    SEQUENCE_SIZE = 4,
    KEEP = 0, /* disposal */
    CLEAR = 1,
    RESTORE = 2,
    OVER = 1,         /* blending; 0: the frame replaces the canvas */
    USUAL_SCALE = 100 /* of a time whose scale is 0 */
};

static enum status fail_frame(const char *what, uint32_t frame, struct error *err) {
    return fail(err, ST_CORRUPT, "PNG has %s frame %u", what, frame);
}

static struct frame frame_of(const uint8_t *p) {
    const uint32_t scale = bytes_be16(p + 22);
    return (struct frame){
        .width = bytes_be32(p + 4),
        .height = bytes_be32(p + 8),
        .left = bytes_be32(p + 12),
        .top = bytes_be32(p + 16),
        .delay = bytes_be16(p + 20),
        .scale = scale ? scale : USUAL_SCALE,
        .disposal = p[24] == CLEAR     ? FRAME_CLEAR
                    : p[24] == RESTORE ? FRAME_RESTORE
                                       : FRAME_KEEP,
        .blends = p[25] == OVER,
    };
}

/* ---- scanning ---- */

struct walk {
    struct bytes input;
    const struct codec_limits *limits;
    struct animation *animation;
    bool animated;     /* there is acTL before the pixels */
    bool pixels;       /* IDAT began */
    bool waits;        /* a frame has no data yet */
    bool alpha;        /* of all frames */
    uint32_t stated;   /* frames, as acTL says */
    uint32_t sequence; /* that follows */
};

static enum status take_control(struct walk *walk, const struct png_chunk *chunk, struct error *err) {
    if (walk->pixels || walk->animated) {
        return ST_OK;
    }
    if (chunk->data.size != ACTL_SIZE || !png_chunk_is_intact(chunk)) {
        return fail(err, ST_CORRUPT, "PNG has a damaged chunk acTL");
    }
    walk->animated = true;
    walk->stated = bytes_be32(chunk->data.data);
    walk->animation->plays = bytes_be32(chunk->data.data + 4);
    return ST_OK;
}

static bool lies_on(const struct frame *frame, const struct animation *animation) {
    return frame->width > 0 && frame->height > 0 && frame->left < animation->width &&
           frame->top < animation->height && frame->width <= animation->width - frame->left &&
           frame->height <= animation->height - frame->top;
}

static enum status take_frame(struct walk *walk, const struct png_chunk *chunk, struct error *err) {
    const uint32_t index = walk->animation->frames;
    if (walk->waits) {
        return fail_frame("no data for", index - 1, err);
    }
    if (chunk->data.size != FCTL_SIZE || !png_chunk_is_intact(chunk) || chunk->data.data[24] > RESTORE ||
        chunk->data.data[25] > OVER || bytes_be32(chunk->data.data) != walk->sequence++) {
        return fail_frame("a damaged header (fcTL) of", index, err);
    }
    const struct frame frame = frame_of(chunk->data.data);
    const bool whole = frame.width == walk->animation->width && frame.height == walk->animation->height;
    if (!lies_on(&frame, walk->animation) || (!walk->pixels && !whole)) {
        return fail(err, ST_CORRUPT, "PNG has a frame of %u x %u pixels at %u, %u on a canvas of %u x %u",
                    frame.width, frame.height, frame.left, frame.top, walk->animation->width,
                    walk->animation->height);
    }
    walk->waits = true;
    return frames_note(walk->animation, &frame, walk->alpha, walk->limits, err);
}

static enum status take_data(struct walk *walk, const struct png_chunk *chunk, struct error *err) {
    const bool fits = walk->animation->frames > 0 && chunk->data.size >= SEQUENCE_SIZE &&
                      bytes_be32(chunk->data.data) == walk->sequence++;
    walk->waits = false;
    return fits ? ST_OK : fail_frame("damaged data (fdAT) behind", walk->animation->frames, err);
}

/* Without acTL before the pixels the other chunks have no meaning. */
static enum status take(struct walk *walk, const struct png_chunk *chunk, struct error *err) {
    if (chunk->tag == png_tag("acTL")) {
        return take_control(walk, chunk, err);
    }
    if (chunk->tag == png_tag("IDAT") && walk->animated) {
        if (!walk->pixels) {
            walk->animation->apart = walk->animation->frames == 0;
            walk->waits = false;
        }
        walk->pixels = true;
    }
    if (chunk->tag == png_tag("fcTL") && walk->animated) {
        return take_frame(walk, chunk, err);
    }
    return chunk->tag == png_tag("fdAT") && walk->animated ? take_data(walk, chunk, err) : ST_OK;
}

static bool may_be_animated(struct bytes input) {
    struct png_chunk chunk = {0};
    size_t position = PNG_SIGNATURE_SIZE;
    while (png_next_chunk(input, &position, &chunk) && chunk.tag != png_tag("acTL") &&
           chunk.tag != png_tag("IDAT")) {
    }
    return chunk.tag == png_tag("acTL");
}

static enum status scan(struct bytes input, const struct codec_limits *limits, struct animation *animation,
                        struct error *err) {
    struct walk walk = {.input = input, .limits = limits, .animation = animation};
    struct png_facts facts;
    struct png_chunk chunk = {0};
    size_t position = PNG_SIGNATURE_SIZE;
    if (!may_be_animated(input)) {
        return ST_OK;
    }
    enum status status = png_read_facts(input, &facts, err);
    if (status != ST_OK) {
        return status;
    }
    animation->width = facts.width;
    animation->height = facts.height;
    walk.alpha = facts.transparent || facts.color_type >= PNG_COLOR_TYPE_GRAY_ALPHA;
    bool more = true;
    while (status == ST_OK && more && chunk.tag != png_tag("IEND")) {
        more = png_next_chunk(input, &position, &chunk);
        status = more ? take(&walk, &chunk, err) : ST_OK;
    }
    if (status != ST_OK || !walk.animated) {
        return status;
    }
    if (!more || walk.waits) {
        return fail(err, ST_CORRUPT, "PNG is cut short behind frame %u", animation->frames);
    }
    return animation->frames == walk.stated
               ? ST_OK
               : fail(err, ST_CORRUPT, "PNG says that it has %u frames, and has %u", walk.stated,
                      animation->frames);
}

/* ---- frames as still pictures ---- */

static enum status copy_chunk(const struct png_chunk *chunk, struct buf *file, struct error *err) {
    return buf_append(file, chunk->data.data - 8, chunk->data.size + 12, err);
}

/* The header with the frame's size, and what tells the colours of pixels. */
static enum status write_head(struct bytes input, const struct frame *frame, struct buf *file,
                              struct error *err) {
    struct png_chunk chunk = {0};
    size_t position = PNG_SIGNATURE_SIZE;
    uint8_t header[IHDR_SIZE];
    enum status status = buf_append(file, input.data, PNG_SIGNATURE_SIZE, err);
    while (status == ST_OK && png_next_chunk(input, &position, &chunk) && chunk.tag != png_tag("IDAT")) {
        if (chunk.tag == png_tag("IHDR")) {
            memcpy(header, chunk.data.data, sizeof header);
            bytes_put_be32(header, frame->width);
            bytes_put_be32(header + 4, frame->height);
            status = png_put_chunk(file, chunk.tag, (struct bytes){header, sizeof header}, err);
        } else if (chunk.tag == png_tag("PLTE") || chunk.tag == png_tag("tRNS")) {
            status = copy_chunk(&chunk, file, err);
        }
    }
    return status;
}

/* The checksum of fdAT includes what is not copied. */
static enum status copy_data(const struct png_chunk *chunk, uint32_t frame, struct buf *file,
                             struct error *err) {
    if (chunk->tag == png_tag("IDAT")) {
        return copy_chunk(chunk, file, err);
    }
    const struct bytes data = {chunk->data.data + SEQUENCE_SIZE, chunk->data.size - SEQUENCE_SIZE};
    return png_chunk_is_intact(chunk) ? png_put_chunk(file, png_tag("IDAT"), data, err)
                                      : fail_frame("damaged data (fdAT) of", frame, err);
}

/* The cursor stands behind the chunk fcTL of the frame. */
static enum status write_data(struct bytes input, struct frame_cursor *cursor, struct buf *file,
                              struct error *err) {
    struct png_chunk chunk;
    size_t position = cursor->position;
    enum status status = ST_OK;
    while (status == ST_OK && png_next_chunk(input, &position, &chunk) && chunk.tag != png_tag("fcTL") &&
           chunk.tag != png_tag("IEND")) {
        cursor->position = position;
        if (chunk.tag == png_tag("IDAT") || chunk.tag == png_tag("fdAT")) {
            status = copy_data(&chunk, cursor->index, file, err);
        }
    }
    return status == ST_OK ? png_put_chunk(file, png_tag("IEND"), (struct bytes){0}, err) : status;
}

static enum status next(struct bytes input, struct frame_cursor *cursor, struct frame *frame,
                        struct buf *file, struct error *err) {
    struct png_chunk chunk = {0};
    bool more = true;
    cursor->position = cursor->index == 0 ? PNG_SIGNATURE_SIZE : cursor->position;
    while (more && chunk.tag != png_tag("fcTL")) {
        more = png_next_chunk(input, &cursor->position, &chunk);
    }
    if (!more || chunk.data.size != FCTL_SIZE) {
        return fail(err, ST_CORRUPT, "PNG has only %u frames", cursor->index);
    }
    *frame = frame_of(chunk.data.data);
    enum status status = write_head(input, frame, file, err);
    status = status == ST_OK ? write_data(input, cursor, file, err) : status;
    cursor->index++;
    return status;
}

/* ---- writing ---- */

/* Such that both numbers have 16 bits. */
static void write_time(const struct frame *frame, uint8_t p[4]) {
    uint32_t delay = frame->delay, scale = frame->scale;
    while (scale > UINT16_MAX || (delay > UINT16_MAX && scale > 1)) {
        const uint32_t by = scale % 10 == 0 ? 10 : 2;
        delay /= by;
        scale = scale / by > 0 ? scale / by : 1;
    }
    delay = delay < UINT16_MAX ? delay : UINT16_MAX;
    p[0] = (uint8_t)(delay >> 8), p[1] = (uint8_t)delay;
    p[2] = (uint8_t)(scale >> 8), p[3] = (uint8_t)scale;
}

static enum status put_control(struct frames_writer *writer, const struct frame *frame, struct error *err) {
    uint8_t data[FCTL_SIZE] = {[24] = frame->disposal == FRAME_CLEAR ? CLEAR : KEEP};
    bytes_put_be32(data, writer->sequence++);
    bytes_put_be32(data + 4, frame->width);
    bytes_put_be32(data + 8, frame->height);
    bytes_put_be32(data + 12, frame->left);
    bytes_put_be32(data + 16, frame->top);
    write_time(frame, data + 20);
    return png_put_chunk(writer->output, png_tag("fcTL"), (struct bytes){data, sizeof data}, err);
}

static enum status put_data(struct frames_writer *writer, const struct png_chunk *chunk, struct error *err) {
    struct buf *output = writer->output;
    const size_t start = output->size;
    uint8_t sequence[SEQUENCE_SIZE];
    if (writer->index == 0) {
        return copy_chunk(chunk, output, err);
    }
    bytes_put_be32(sequence, writer->sequence++);
    enum status status = png_open_chunk(output, png_tag("fdAT"), err);
    status = status == ST_OK ? buf_append(output, sequence, sizeof sequence, err) : status;
    status = status == ST_OK ? buf_append(output, chunk->data.data, chunk->data.size, err) : status;
    return status == ST_OK ? png_close_chunk(output, start, err) : status;
}

/* Chunks of the first file that stand before the pixels; acTL follows the header. */
static enum status put_front(struct frames_writer *writer, const struct png_chunk *chunk, struct error *err) {
    uint8_t control[ACTL_SIZE];
    if (writer->index > 0) {
        return ST_OK;
    }
    enum status status = copy_chunk(chunk, writer->output, err);
    if (status != ST_OK || chunk->tag != png_tag("IHDR")) {
        return status;
    }
    bytes_put_be32(control, writer->frames);
    bytes_put_be32(control + 4, writer->plays <= INT32_MAX ? writer->plays : INT32_MAX);
    return png_put_chunk(writer->output, png_tag("acTL"), (struct bytes){control, sizeof control}, err);
}

static enum status add(struct frames_writer *writer, const struct frame *frame, struct bytes file,
                       struct error *err) {
    struct png_chunk chunk;
    size_t position = PNG_SIGNATURE_SIZE;
    bool began = false;
    enum status status =
        writer->index == 0 ? buf_append(writer->output, file.data, PNG_SIGNATURE_SIZE, err) : ST_OK;
    while (status == ST_OK && png_next_chunk(file, &position, &chunk) && chunk.tag != png_tag("IEND")) {
        const bool pixels = chunk.tag == png_tag("IDAT");
        if (pixels && !began) {
            status = put_control(writer, frame, err);
            began = true;
        }
        if (status == ST_OK) {
            status = pixels ? put_data(writer, &chunk, err) : put_front(writer, &chunk, err);
        }
    }
    return status;
}

static enum status end(struct frames_writer *writer, struct error *err) {
    return png_put_chunk(writer->output, png_tag("IEND"), (struct bytes){0}, err);
}

const struct codec_frames png_frames = {
    .scan = scan, .next = next, .still = true, .replaces = true, .add = add, .end = end};
