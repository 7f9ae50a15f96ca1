/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/frames.h"
#include "core/clock.h"
#include "core/numbers.h"

size_t frames_writer_bytes(const struct image_shape *shape) {
    struct image image;
    return image_layout(&image, shape);
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
    image_layout(&writer->shown, shape);
    image_place(&writer->shown, memory);
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

enum status frames_writer_add(struct frames_writer *writer, const struct image *image,
                              const struct frame *frame, struct error *err) {
    const struct codec_frames *frames = codec_get(writer->id)->frames;
    struct frame written = {.width = image->width,
                            .height = image->height,
                            .delay = frame->delay,
                            .scale = frame->scale,
                            .disposal = FRAME_KEEP};
    const struct image_shape shape = image_shape(image);
    const bool whole = !frames->replaces && image_pixel_has_alpha(shape.model);
    if (!image_same_shape(&shape, &writer->shape)) {
        return fail(err, ST_INTERNAL, "a frame has another shape than the first one");
    }
    written.disposal = whole ? FRAME_CLEAR : FRAME_KEEP;
    if (writer->index > 0 && !whole) {
        find_changes(&writer->shown, image, &written);
    }
    const struct image part = cut(image, &written);
    enum status status = encode(writer, &part, err);
    status = status == ST_OK ? frames->add(writer, &written, buf_bytes(&writer->file), err) : status;
    keep(writer, image);
    writer->index++;
    return status;
}

enum status frames_writer_end(struct frames_writer *writer, struct error *err) {
    return writer->index == writer->frames ? codec_get(writer->id)->frames->end(writer, err)
                                           : fail(err, ST_INTERNAL, "some frames were not written");
}

void frames_writer_close(struct frames_writer *writer) {
    buf_finish(&writer->tail);
    buf_finish(&writer->file);
}

uint32_t frames_writer_time(struct frames_writer *writer, const struct frame *frame, uint32_t parts,
                            uint32_t least, uint32_t most) {
    const uint64_t part_ns = CLOCK_NS_PER_S / parts;
    writer->time_ns += (uint64_t)frame->delay * CLOCK_NS_PER_S / frame->scale;
    const uint64_t end = (writer->time_ns + part_ns / 2) / part_ns;
    const uint64_t exact = end > writer->units ? end - writer->units : 0;
    const uint32_t time = exact < least ? least : exact > most ? most : (uint32_t)exact;
    writer->units += time;
    if (exact != time) { /* no other frame makes up for it */
        writer->time_ns = writer->units * part_ns;
    }
    return time;
}
