/* SPDX-License-Identifier: MIT
 * The container of animated WebP: a chunk ANIM with the background, which readers ignore, and the number of
 * plays, then a chunk ANMF for each frame, in which the chunks of a still picture lie. */
#include <string.h>

#include "codecs/frames.h"
#include "codecs/webp/webp.h"
#include "codecs/webp/webp_chunks.h"

enum {
    CLEARS = 1 << 0,   /* flags of a frame */
    REPLACES = 1 << 1, /* the frame does not blend */
    FLAGS_AT = 15,
    ANIM_SIZE = 6,
    PLAYS_MAX = UINT16_MAX,
    DELAY_MAX = (1 << 24) - 1,
    MS = 1000, /* a second */
};

/* The chunks of an extended file with the animation's flag; none of others. */
static enum status open_chunks(struct bytes input, bool partial, struct bytes *chunks, struct bytes *header,
                               struct error *err) {
    struct webp_chunk first;
    size_t position = 0;
    enum status status = ST_OK;
    if (partial && input.size >= WEBP_FILE_HEADER) {
        *chunks = (struct bytes){input.data + WEBP_FILE_HEADER, input.size - WEBP_FILE_HEADER};
    } else {
        status = webp_chunks_open(input, chunks, err);
    }
    bool extended = status == ST_OK && webp_chunks_next(*chunks, &position, &first) &&
                    first.tag == webp_tag("VP8X") && first.data.size >= WEBP_VP8X_SIZE &&
                    first.data.data[0] & WEBP_ANIMATION;
    *header = extended ? first.data : (struct bytes){0};
    return status;
}

static struct frame frame_of(const uint8_t *p, const struct webp_file *file) {
    return (struct frame){
        .left = file->frame_left,
        .top = file->frame_top,
        .width = file->frame_width,
        .height = file->frame_height,
        .delay = webp_le24(p + 12),
        .scale = MS,
        .disposal = p[FLAGS_AT] & CLEARS ? FRAME_CLEAR : FRAME_KEEP,
        .blends = !(p[FLAGS_AT] & REPLACES),
    };
}

static enum status note_frame(const struct webp_chunk *chunk, const struct codec_limits *limits,
                              struct animation *animation, struct error *err) {
    struct webp_file file = {0};
    enum status status = webp_chunks_read_frame(chunk, &file, err);
    if (status != ST_OK) {
        return status;
    }
    const struct frame frame = frame_of(chunk->data.data, &file);
    if (frame.width == 0 || frame.height == 0 || frame.left + frame.width > animation->width ||
        frame.top + frame.height > animation->height) {
        return fail(err, ST_CORRUPT, "WebP has a frame of %u x %u pixels at %u, %u on a canvas of %u x %u",
                    frame.width, frame.height, frame.left, frame.top, animation->width, animation->height);
    }
    return frames_note(animation, &frame, file.alpha, limits, err);
}

static enum status scan(struct bytes input, const struct codec_limits *limits, struct animation *animation,
                        struct error *err) {
    struct bytes chunks, header;
    struct webp_chunk chunk;
    size_t position = 0;
    enum status status = open_chunks(input, limits->partial, &chunks, &header, err);
    if (status != ST_OK || header.size == 0) {
        return status;
    }
    animation->width = webp_le24(header.data + 4) + 1;
    animation->height = webp_le24(header.data + 7) + 1;
    animation->plays = 1;
    while (status == ST_OK && webp_chunks_next(chunks, &position, &chunk)) {
        if (chunk.tag == webp_tag("ANIM") && chunk.data.size >= ANIM_SIZE) {
            animation->plays = chunk.data.data[4] | (uint32_t)chunk.data.data[5] << 8;
        } else if (chunk.tag == webp_tag("ANMF")) {
            status = note_frame(&chunk, limits, animation, err);
        }
    }
    return status == ST_OK && chunks.size - position >= WEBP_CHUNK_HEADER
               ? fail(err, ST_CORRUPT, "WebP is cut short behind frame %u", animation->frames)
               : status;
}

/* A file of the frame's chunks: VP8X is not needed. */
static enum status write_still(const struct webp_chunk *chunk, struct buf *file, struct error *err) {
    const struct bytes inner = {chunk->data.data + WEBP_ANMF_HEADER, chunk->data.size - WEBP_ANMF_HEADER};
    uint8_t head[WEBP_FILE_HEADER] = "RIFF????WEBP";
    webp_put_le32(head + 4, (uint32_t)inner.size + 4);
    enum status status = buf_append(file, head, sizeof head, err);
    return status == ST_OK ? buf_append(file, inner.data, inner.size, err) : status;
}

static enum status next(struct bytes input, struct frame_cursor *cursor, struct frame *frame,
                        struct buf *file, struct error *err) {
    struct bytes chunks, header;
    struct webp_chunk chunk;
    struct webp_file facts = {0};
    enum status status = open_chunks(input, false, &chunks, &header, err);
    bool found = false;
    while (status == ST_OK && !found && webp_chunks_next(chunks, &cursor->position, &chunk)) {
        found = chunk.tag == webp_tag("ANMF");
    }
    if (status == ST_OK && !found) {
        return fail(err, ST_CORRUPT, "WebP has only %u frames", cursor->index);
    }
    status = status == ST_OK ? webp_chunks_read_frame(&chunk, &facts, err) : status;
    if (status != ST_OK) {
        return status;
    }
    *frame = frame_of(chunk.data.data, &facts);
    cursor->index++;
    return write_still(&chunk, file, err);
}

/* ---- writing ---- */

static struct webp_chunk at(const struct bytes *chunks, size_t *position, bool *more) {
    struct webp_chunk chunk = {0};
    *more = webp_chunks_next(*chunks, position, &chunk);
    return chunk;
}

/* Puts what describes the whole file before the frames, and what follows them into the tail. */
static enum status begin(struct frames_writer *writer, struct bytes chunks, struct error *err) {
    uint8_t vp8x[WEBP_VP8X_SIZE] = {0};
    uint8_t anim[ANIM_SIZE] = {[4] = (uint8_t)writer->plays, [5] = (uint8_t)(writer->plays >> 8)};
    if (writer->plays > PLAYS_MAX) {
        anim[4] = anim[5] = UINT8_MAX;
    }
    webp_put_le24(vp8x + 4, writer->shape.width - 1);
    webp_put_le24(vp8x + 7, writer->shape.height - 1);
    writer->flags = WEBP_ANIMATION;
    enum status status = buf_append(writer->output, "RIFF\0\0\0\0WEBP", WEBP_FILE_HEADER, err);
    status = status == ST_OK
                 ? webp_chunks_put(writer->output, webp_tag("VP8X"), (struct bytes){vp8x, sizeof vp8x}, err)
                 : status;
    size_t position = 0;
    bool more = true;
    while (status == ST_OK && more) {
        const struct webp_chunk chunk = at(&chunks, &position, &more);
        const bool profile = chunk.tag == webp_tag("ICCP");
        const bool exif = chunk.tag == webp_tag("EXIF"), xmp = chunk.tag == webp_tag("XMP ");
        if (profile || exif || xmp) {
            writer->flags |= profile ? WEBP_ICC : exif ? WEBP_EXIF : WEBP_XMP;
            status = webp_chunks_put(profile ? writer->output : &writer->tail, chunk.tag, chunk.data, err);
        }
    }
    return status == ST_OK
               ? webp_chunks_put(writer->output, webp_tag("ANIM"), (struct bytes){anim, sizeof anim}, err)
               : status;
}

static enum status put_picture(struct frames_writer *writer, struct bytes chunks, struct error *err) {
    enum status status = ST_OK;
    size_t position = 0;
    bool more = true;
    while (status == ST_OK && more) {
        const struct webp_chunk chunk = at(&chunks, &position, &more);
        if (chunk.tag == webp_tag("ALPH") || chunk.tag == webp_tag("VP8 ") || chunk.tag == webp_tag("VP8L")) {
            status = webp_chunks_put(writer->output, chunk.tag, chunk.data, err);
        }
    }
    return status;
}

static enum status add(struct frames_writer *writer, const struct frame *frame, struct bytes file,
                       struct error *err) {
    struct buf *output = writer->output;
    struct webp_file facts;
    struct bytes chunks;
    uint8_t head[WEBP_CHUNK_HEADER + WEBP_ANMF_HEADER] = "ANMF";
    if (webp_chunks_read(file, &facts, err) != ST_OK || webp_chunks_open(file, &chunks, err) != ST_OK) {
        return fail(err, ST_INTERNAL, "WebP library wrote a file that cannot be read");
    }
    enum status status = writer->index == 0 ? begin(writer, chunks, err) : ST_OK;
    writer->flags |= facts.alpha ? WEBP_ALPHA : 0u;
    webp_put_le24(head + 8, frame->left / 2);
    webp_put_le24(head + 11, frame->top / 2);
    webp_put_le24(head + 14, frame->width - 1);
    webp_put_le24(head + 17, frame->height - 1);
    webp_put_le24(head + 20, frames_writer_time(writer, frame, MS, 0, DELAY_MAX));
    head[WEBP_CHUNK_HEADER + FLAGS_AT] = REPLACES;
    const size_t chunk = output->size;
    status = status == ST_OK ? buf_append(output, head, sizeof head, err) : status;
    status = status == ST_OK ? put_picture(writer, chunks, err) : status;
    if (status == ST_OK) { /* of chunks with padding */
        webp_put_le32(output->data + chunk + 4, (uint32_t)(output->size - chunk - WEBP_CHUNK_HEADER));
    }
    return status;
}

static enum status end(struct frames_writer *writer, struct error *err) {
    enum { VP8X_FLAGS_AT = WEBP_FILE_HEADER + WEBP_CHUNK_HEADER };
    struct buf *output = writer->output;
    enum status status = buf_append(output, writer->tail.data, writer->tail.size, err);
    const size_t size = output->size - writer->start - 8;
    if (status == ST_OK && size > UINT32_MAX) {
        return fail(err, ST_LIMIT, "a WebP would have %zu bytes; the format's limit is 4 GiB", size);
    }
    if (status == ST_OK) {
        webp_put_le32(output->data + writer->start + 4, (uint32_t)size);
        output->data[writer->start + VP8X_FLAGS_AT] = (uint8_t)writer->flags;
    }
    return status;
}

const struct codec_frames webp_frames = {
    .scan = scan, .next = next, .replaces = true, .add = add, .end = end};
