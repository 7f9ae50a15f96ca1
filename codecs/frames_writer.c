/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/frames.h"
#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/numbers.h"

enum {
    TIMESCALE_LEAST = 1000, /* parts of a second, in which times of any other scale come out well */
    TIMESCALE_MOST = 1000000,
};

static const struct codec_sequence_writer *sequence_of(enum codec_id id) {
    const struct codec_frames *frames = codec_get(id)->frames;
    return frames ? frames->writer : NULL;
}

/* A sequence takes whole frames, and compares them itself. */
size_t frames_writer_bytes(enum codec_id id, const struct image_shape *shape) {
    struct image image;
    return sequence_of(id) ? 0 : image_layout(&image, shape);
}

size_t frames_writer_file_bytes(enum codec_id id, size_t file) {
    return sequence_of(id) ? sequence_of(id)->file_bytes(file) : 0;
}

void frames_writer_open(struct frames_writer *writer, enum codec_id id, const struct image_shape *shape,
                        const struct animation *animation, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, uint8_t *memory) {
    *writer = (struct frames_writer){.id = id,
                                     .shape = *shape,
                                     .frames = animation->frames,
                                     .plays = animation->plays,
                                     .options = options,
                                     .metadata = metadata,
                                     .output = output,
                                     .start = output->size};
    if (!sequence_of(id)) {
        image_layout(&writer->shown, shape);
        image_place(&writer->shown, memory);
    }
    buf_init(&writer->tail, METADATA_WRITTEN_MAX);
    buf_init(&writer->file, output->maximum);
}

static size_t pixel_size(const struct image *image) {
    return (size_t)image->plane[0].channels * (image->depth / 8u);
}

/* Narrows *left and *right to the first and behind the last pixel in which the rows differ. */
static void compare_rows(const uint8_t *a, const uint8_t *b, uint32_t width, size_t pixel, uint32_t *left,
                         uint32_t *right) {
    uint32_t x = 0, end = width;
    while (x < *left && memcmp(a + x * pixel, b + x * pixel, pixel) == 0) {
        x++;
    }
    while (end > *right && memcmp(a + (end - 1) * pixel, b + (end - 1) * pixel, pixel) == 0) {
        end--;
    }
    *left = min_u32(*left, x);
    *right = max_u32(*right, end);
}

/* The smallest rectangle of even left and top that holds what differs, at least a pixel. */
static void find_changes(const struct image *a, const struct image *b, struct frame *frame) {
    const size_t size = plane_row_bytes(&a->plane[0], a->depth);
    uint32_t left = a->width, right = 0, top = a->height, bottom = 0;
    for (uint32_t y = 0; y < a->height; y++) {
        const uint8_t *from = plane_row(&a->plane[0], y), *to = plane_row(&b->plane[0], y);
        if (memcmp(from, to, size) != 0) {
            top = min_u32(top, y);
            bottom = y + 1;
            compare_rows(from, to, a->width, pixel_size(a), &left, &right);
        }
    }
    const bool same = bottom == 0;
    frame->left = same ? 0 : left & ~1u;
    frame->top = same ? 0 : top & ~1u;
    frame->width = same ? 1 : right - frame->left;
    frame->height = same ? 1 : bottom - frame->top;
}

/* The part of an interleaved picture that the frame covers. */
static struct image cut(const struct image *image, const struct frame *frame) {
    struct image part = *image;
    part.width = part.plane[0].width = frame->width;
    part.height = part.plane[0].height = frame->height;
    part.plane[0].data = plane_row(&image->plane[0], frame->top) + frame->left * pixel_size(image);
    return part;
}

static void keep(const struct frames_writer *writer, const struct image *image) {
    for (uint32_t y = 0; y < image->height; y++) {
        memcpy(plane_row(&writer->shown.plane[0], y), plane_row(&image->plane[0], y),
               plane_row_bytes(&image->plane[0], image->depth));
    }
}

/* Later frames leave their time to those behind them, and carry no metadata. */
static enum status encode(struct frames_writer *writer, const struct image *part, struct error *err) {
    struct encode_options options = *writer->options;
    const bool first = writer->index == 0;
    unsigned ignored = 0;
    options.pictures = writer->frames - writer->index;
    if (!first) {
        options.keep_metadata = false;
        options.losses = &ignored;
    }
    writer->file.size = 0;
    return codec_encode(writer->id, part, &options, first ? writer->metadata : NULL, &writer->file, err);
}

/* Appends a frame to a container of stills. */
static enum status add_still(struct frames_writer *writer, const struct image *image,
                             const struct frame *frame, struct error *err) {
    const struct codec_frames *frames = codec_get(writer->id)->frames;
    struct frame written = {.width = image->width,
                            .height = image->height,
                            .delay = frame->delay,
                            .scale = frame->scale,
                            .disposal = FRAME_KEEP};
    const bool whole = !frames->replaces && image_pixel_has_alpha(image->model);
    written.disposal = whole ? FRAME_CLEAR : FRAME_KEEP;
    if (writer->index > 0 && !whole) {
        find_changes(&writer->shown, image, &written);
    }
    const struct image part = cut(image, &written);
    enum status status = encode(writer, &part, err);
    status = status == ST_OK ? frames->add(writer, &written, buf_bytes(&writer->file), err) : status;
    keep(writer, image);
    return status;
}

/* ---- sequences ---- */

static bool is_apart(const struct frames_writer *writer) {
    return codec_get(writer->id)->isolated && writer->options->link;
}

/* That of the first frame, or the least multiple that is not coarse, so that equal scales are exact. */
static uint32_t timescale_of(const struct frame *first) {
    const uint32_t scale = min_u32(first->scale, TIMESCALE_MOST);
    return (TIMESCALE_LEAST + scale - 1) / scale * scale;
}

static enum status add_apart(const struct frames_writer *writer, const struct sequence_shape *shape,
                             const struct image *image, uint32_t time, struct error *err) {
    const struct encode_options *options = writer->options;
    struct encode_options all = *options;
    all.pictures = writer->frames;
    const struct codec_add_call call = {
        .codec = writer->id,
        .first = writer->index == 0,
        .time = time,
        .timescale = shape->timescale,
        .plays = shape->plays,
        .memory = codec_encode_bytes(writer->id, &shape->frame, &all) +
                  frames_writer_file_bytes(writer->id, writer->output->maximum - writer->start),
    };
    return codec_link_add(options->link, &call, image, &all, call.first ? writer->metadata : NULL, err);
}

static enum status add_to_sequence(struct frames_writer *writer, const struct image *image,
                                   const struct frame *frame, struct error *err) {
    const struct codec_sequence_writer *sequence = sequence_of(writer->id);
    writer->timescale = writer->index == 0 ? timescale_of(frame) : writer->timescale;
    const uint32_t time = frames_writer_time(writer, frame, writer->timescale, 1, UINT32_MAX);
    const struct sequence_shape shape = {writer->shape, writer->timescale, writer->plays};
    if (is_apart(writer)) {
        return add_apart(writer, &shape, image, time, err);
    }
    struct encode_options options = *writer->options;
    options.pictures = writer->frames;
    enum status status =
        writer->walk ? ST_OK : sequence->open(&shape, &options, writer->metadata, &writer->walk, err);
    return status == ST_OK ? sequence->add(writer->walk, image, time, err) : status;
}

static enum status end_sequence(const struct frames_writer *writer, struct error *err) {
    const struct encode_options *options = writer->options;
    return is_apart(writer)
               ? codec_link_complete(options->link, writer->id, options->deadline_ns, writer->output, err)
               : sequence_of(writer->id)->end(writer->walk, writer->output, err);
}

/* ---- both ---- */

enum status frames_writer_add(struct frames_writer *writer, const struct image *image,
                              const struct frame *frame, struct error *err) {
    const struct image_shape shape = image_shape(image);
    if (!image_same_shape(&shape, &writer->shape)) {
        return fail(err, ST_INTERNAL, "a frame has another shape than the first one");
    }
    enum status status = sequence_of(writer->id) ? add_to_sequence(writer, image, frame, err)
                                                 : add_still(writer, image, frame, err);
    writer->index++;
    return status;
}

enum status frames_writer_end(struct frames_writer *writer, struct error *err) {
    if (writer->index != writer->frames) {
        return fail(err, ST_INTERNAL, "some frames were not written");
    }
    return sequence_of(writer->id) ? end_sequence(writer, err)
                                   : codec_get(writer->id)->frames->end(writer, err);
}

void frames_writer_close(struct frames_writer *writer) {
    if (writer->walk) {
        sequence_of(writer->id)->close(writer->walk);
        writer->walk = NULL;
    }
    buf_finish(&writer->tail);
    buf_finish(&writer->file);
}

/* In parts of a second, without an overflow. */
static uint64_t scaled(uint64_t value, uint64_t from, uint64_t to, uint64_t rounding) {
    return value / from * to + (value % from * to + rounding) / from;
}

uint32_t frames_writer_time(struct frames_writer *writer, const struct frame *frame, uint32_t parts,
                            uint32_t least, uint32_t most) {
    writer->time_ns += (uint64_t)frame->delay * CLOCK_NS_PER_S / frame->scale;
    const uint64_t end = scaled(writer->time_ns, CLOCK_NS_PER_S, parts, CLOCK_NS_PER_S / 2);
    const uint64_t exact = end > writer->units ? end - writer->units : 0;
    const uint32_t time = exact < least ? least : exact > most ? most : (uint32_t)exact;
    writer->units += time;
    if (exact != time) { /* no other frame makes up for it */
        writer->time_ns = scaled(writer->units, parts, CLOCK_NS_PER_S, 0);
    }
    return time;
}
