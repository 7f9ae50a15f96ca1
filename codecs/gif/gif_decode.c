/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "codecs/gif/gif.h"
#include "codecs/gif/gif_blocks.h"
#include "codecs/gif/gif_codes.h"
#include "codecs/limits.h"
#include "codecs/peek.h"
#include "core/deadline.h"

enum { ROWS_A_CHECK = 64, STATE = 128 << 10 };

bool gif_peek(struct bytes input, struct peek *peek) {
    if (input.size < GIF_HEADER) {
        return false;
    }
    *peek = (struct peek){
        .width = gif_le16(input.data + 6), .height = gif_le16(input.data + 8), .depth = 8, .channels = 4};
    return true;
}

static bool covers(const struct gif_file *file, const struct gif_image *image) {
    const struct frame *frame = &image->frame;
    return frame->left == 0 && frame->top == 0 && frame->width >= file->width &&
           frame->height >= file->height;
}

static struct image_shape shape_of(const struct gif_file *file, const struct gif_image *image) {
    const bool alpha = gif_image_has_alpha(image) || !covers(file, image);
    return (struct image_shape){
        .model = alpha ? PIXEL_RGBA : PIXEL_RGB, .depth = 8, .width = file->width, .height = file->height};
}

/* Reads the header and the first image. */
static enum status open_first(struct bytes input, struct gif_file *file, struct gif_image *image,
                              struct error *err) {
    bool found = false;
    enum status status = gif_open(input, file, err);
    status = status == ST_OK ? gif_next(input, file, image, &found, err) : status;
    return status == ST_OK && !found ? fail(err, ST_CORRUPT, "GIF has no picture") : status;
}

enum status gif_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err) {
    struct gif_file file;
    struct gif_image image, second;
    bool more = false;
    enum status status = open_first(input, &file, &image, err);
    status = status == ST_OK ? limits_check_size(file.width, file.height, limits, err) : status;
    if (status == ST_OK && image.frame.width > 0 && image.frame.height > 0) {
        status = limits_check_size(image.frame.width, image.frame.height, limits, err);
    }
    if (status == ST_OK && !limits->first_frame) {
        status = gif_next(input, &file, &second, &more, err);
    }
    if (status == ST_OK && more) {
        return fail(err, ST_UNSUPPORTED, "GIF is animated; page=0 takes its first frame");
    }
    if (status == ST_OK) {
        picture->pixels = picture->native = shape_of(&file, &image);
        picture->progressive = image.interlaced;
        picture->metadata.losses = file.losses;
    }
    return status;
}

/* ---- pixels ---- */

/* The row of the picture that comes as number `index`. */
static uint32_t row_of(uint32_t index, uint32_t height, bool interlaced) {
    static const struct { uint8_t first, step; } passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
    if (!interlaced) {
        return index;
    }
    unsigned pass = 0;
    uint32_t rows = (height + 7) / 8;
    while (index >= rows) {
        index -= rows;
        pass++;
        rows = height > passes[pass].first
                   ? (height - passes[pass].first + passes[pass].step - 1) / passes[pass].step
                   : 0;
    }
    return passes[pass].first + index * passes[pass].step;
}

/* Pixels whose colour the palette lacks are black. */
static void put_row(const struct image *image, const struct gif_image *from, uint32_t y,
                    const uint8_t *index) {
    static const uint8_t black[3];
    const struct frame *frame = &from->frame;
    const unsigned channels = image->plane[0].channels;
    if (frame->top + y >= image->height || frame->left >= image->width) {
        return;
    }
    const uint32_t room = image->width - frame->left, width = frame->width < room ? frame->width : room;
    uint8_t *to = plane_row(&image->plane[0], frame->top + y) + (size_t)frame->left * channels;
    for (uint32_t x = 0; x < width; x++, to += channels) {
        const bool known = (size_t)3 * index[x] < from->palette.size;
        const bool clear = index[x] == from->transparent;
        memcpy(to, known && !clear ? from->palette.data + (size_t)3 * index[x] : black, 3);
        if (channels == 4) {
            to[3] = clear ? 0 : UINT8_MAX;
        }
    }
}

static enum status read_rows(struct gif_reader *reader, const struct gif_image *from, int64_t deadline_ns,
                             const struct image *image, uint8_t *row, struct error *err) {
    const uint32_t height = from->frame.width > 0 ? from->frame.height : 0;
    for (uint32_t i = 0; i < height; i++) {
        if (i % ROWS_A_CHECK == 0 && deadline_check(deadline_ns, err) != ST_OK) {
            return ST_LIMIT;
        }
        if (!gif_reader_row(reader, row, from->frame.width)) {
            return fail(err, ST_CORRUPT, "GIF data is damaged or cut short: it ends in row %u of %u", i,
                        height);
        }
        put_row(image, from, row_of(i, height, from->interlaced), row);
    }
    return ST_OK;
}

static void clear(const struct image *image) {
    for (uint32_t y = 0; y < image->height; y++) {
        memset(plane_row(&image->plane[0], y), 0, plane_row_bytes(&image->plane[0], image->depth));
    }
}

enum status gif_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err) {
    (void)picture;
    struct gif_file file;
    struct gif_image from;
    enum status status = open_first(input, &file, &from, err);
    if (status != ST_OK) {
        return status;
    }
    const struct image_shape shape = shape_of(&file, &from), given = image_shape(image);
    if (!image_same_shape(&shape, &given)) {
        return fail(err, ST_INTERNAL, "GIF does not have the shape that was probed");
    }
    struct gif_reader *reader = malloc(sizeof *reader + from.frame.width);
    if (!reader) {
        return fail(err, ST_BUSY, "out of memory");
    }
    if (!covers(&file, &from)) {
        clear(image);
    }
    gif_reader_init(reader, from.data);
    status = read_rows(reader, &from, limits->deadline_ns, image, (uint8_t *)(reader + 1), err);
    free(reader);
    return status;
}

size_t gif_decode_bytes(const struct picture *picture, size_t input) {
    (void)picture, (void)input;
    return STATE;
}
