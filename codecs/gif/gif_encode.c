/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "codecs/gif/gif.h"
#include "codecs/gif/gif_codes.h"
#include "codecs/gif/gif_palette.h"
#include "codecs/metadata/carried.h"
#include "core/deadline.h"

enum { RGBA = 4, ROWS_A_CHECK = 64 };

struct gif_encoder {
    struct gif_palette palette;
    struct gif_writer writer;
    uint8_t row[]; /* of RGBA, then of indices */
};

static enum status write_rows(struct gif_encoder *encoder, const struct image *image, int64_t deadline_ns,
                              struct buf *output, struct error *err) {
    uint8_t *index = encoder->row + (size_t)image->width * RGBA;
    enum status status = gif_writer_begin(&encoder->writer, encoder->palette.bits, output, err);
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        if (y % ROWS_A_CHECK == 0 && deadline_check(deadline_ns, err) != ST_OK) {
            return ST_LIMIT;
        }
        gif_row(image, y, encoder->row);
        gif_palette_apply(&encoder->palette, encoder->row, index, image->width);
        status = gif_writer_row(&encoder->writer, index, image->width, err);
    }
    return status == ST_OK ? gif_writer_end(&encoder->writer, err) : status;
}

/* A control is only needed for transparency, or for the time of a frame (gif_frames.c). */
static enum status write_file(struct gif_encoder *encoder, const struct image *image, int64_t deadline_ns,
                              struct buf *output, struct error *err) {
    const struct gif_palette *palette = &encoder->palette;
    const struct frame frame = {.width = image->width, .height = image->height};
    const struct bytes colours = {palette->colour[0], (size_t)3 << palette->bits};
    enum status status = gif_put_header(output, image->width, image->height, colours, err);
    if (status == ST_OK && palette->transparent >= 0) {
        status = gif_put_control(output, &frame, 0, palette->transparent, err);
    }
    status = status == ST_OK ? gif_put_image(output, &frame, false, (struct bytes){0}, err) : status;
    status = status == ST_OK ? write_rows(encoder, image, deadline_ns, output, err) : status;
    const uint8_t trailer = GIF_TRAILER;
    return status == ST_OK ? buf_append(output, &trailer, 1, err) : status;
}

enum status gif_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    const struct image_shape shape = image_shape(image);
    struct carried carried = {0};
    enum status status = carried_make(metadata, &codec_gif, &shape, options, &carried, err);
    struct gif_encoder *encoder =
        status == ST_OK ? malloc(sizeof *encoder + (size_t)image->width * (RGBA + 1)) : NULL;
    if (status == ST_OK && !encoder) {
        status = fail(err, ST_BUSY, "out of memory");
    }
    if (status == ST_OK) {
        status = gif_palette_make(&encoder->palette, image, options->deadline_ns, encoder->row, err);
    }
    status = status == ST_OK ? write_file(encoder, image, options->deadline_ns, output, err) : status;
    if (status == ST_OK) {
        carried_report(&carried, options);
    }
    carried_finish(&carried);
    free(encoder);
    return status;
}

size_t gif_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    (void)options;
    return sizeof(struct gif_encoder) + (size_t)shape->width * (RGBA + 1);
}
