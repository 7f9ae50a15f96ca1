/* SPDX-License-Identifier: MIT */
#include "server/placeholder/data_url.h"

#include "codecs/codec.h"

static const char prefix[] = "data:image/png;base64,";

enum {
    FILE_MAX = (DATA_URL_MAX - (sizeof prefix - 1)) / 4 * 3,
    FILE_ROOM = 16 << 10, /* while a file is made; 512 pixels of RGBA have 2 KiB */
};

/* Higher efforts take megabytes of memory and save a few bytes of such a small file. */
static const struct encode_options options = {.effort = 5};

static void copy_pixels(const struct thumbnail *from, const struct image *image) {
    const unsigned channels = image_pixel_channels(image->model);
    const bool alpha = image_pixel_has_alpha(image->model);
    for (uint32_t y = 0; y < from->height; y++) {
        uint8_t *row = plane_row(&image->plane[0], y);
        for (uint32_t i = 0; i < from->width * channels; i++) {
            const uint8_t *pixel = from->pixel[y * from->width + i / channels];
            bool last = i % channels == channels - 1;
            row[i] = pixel[alpha && last ? 3 : i % channels];
        }
    }
}

static enum status encode(const struct thumbnail *small, struct buf *file, struct error *err) {
    enum { MEMORY = 16 << 10 };
    _Alignas(IMAGE_ALIGNMENT) uint8_t memory[MEMORY];
    struct image image;
    const struct image_shape shape = {
        .model = small->model, .depth = 8, .width = small->width, .height = small->height};
    if (image_layout(&image, &shape) > sizeof memory) {
        return fail(err, ST_INTERNAL, "a picture of a data URL is too large");
    }
    image_place(&image, memory);
    copy_pixels(small, &image);
    return codec_encode(CODEC_PNG, &image, &options, NULL, file, err);
}

static uint32_t longer_of(const struct thumbnail *thumbnail) {
    return thumbnail->width > thumbnail->height ? thumbnail->width : thumbnail->height;
}

static uint32_t in_proportion(uint32_t side, uint32_t longer, uint32_t length) {
    uint32_t part = (2 * side * length + longer) / (2 * longer);
    return part > 0 ? part : 1;
}

enum status data_url_base64(struct bytes data, struct buf *text, struct error *err) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum status status = ST_OK;
    for (size_t i = 0; i < data.size && status == ST_OK; i += 3) {
        size_t left = data.size - i;
        uint32_t bits = (uint32_t)data.data[i] << 16;
        bits |= left > 1 ? (uint32_t)data.data[i + 1] << 8 : 0;
        bits |= left > 2 ? data.data[i + 2] : 0;
        const char quad[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              left > 1 ? digits[bits >> 6 & 63] : '=', left > 2 ? digits[bits & 63] : '='};
        status = buf_append(text, quad, sizeof quad, err);
    }
    return status;
}

/* Makes the file whose longer side has that length. */
static enum status try_length(const struct thumbnail *thumbnail, uint32_t length, struct buf *file,
                              struct error *err) {
    struct thumbnail small;
    const uint32_t longer = longer_of(thumbnail);
    file->size = 0;
    thumbnail_shrink(thumbnail, in_proportion(thumbnail->width, longer, length),
                     in_proportion(thumbnail->height, longer, length), &small);
    return encode(&small, file, err);
}

/* The first length, from the thumbnail's own down, that has not too many pixels. */
static uint32_t longest_tried(const struct thumbnail *thumbnail) {
    const uint32_t longer = longer_of(thumbnail);
    uint32_t length = longer;
    while (in_proportion(thumbnail->width, longer, length) *
               in_proportion(thumbnail->height, longer, length) >
           DATA_URL_PIXELS_MAX) {
        length--;
    }
    return length;
}

enum status data_url_write(const struct thumbnail *thumbnail, struct buf *text, struct error *err) {
    struct buf file[2];
    unsigned best = 0; /* of the files: the largest one that fits */
    uint32_t fits = 0, exceeds = longest_tried(thumbnail) + 1;
    enum status status = ST_OK;
    buf_init(&file[0], FILE_ROOM);
    buf_init(&file[1], FILE_ROOM);
    while (exceeds - fits > 1 && status == ST_OK) {
        uint32_t length = (fits + exceeds) / 2;
        status = try_length(thumbnail, length, &file[!best], err);
        if (file[!best].size <= FILE_MAX) {
            best = !best;
            fits = length;
        } else {
            exceeds = length;
        }
    }
    status = status == ST_OK ? buf_append(text, prefix, sizeof prefix - 1, err) : status;
    status = status == ST_OK ? data_url_base64(buf_bytes(&file[best]), text, err) : status;
    buf_finish(&file[0]);
    buf_finish(&file[1]);
    return status;
}

size_t data_url_bytes(void) {
    const struct image_shape shape = {
        .model = PIXEL_RGBA, .depth = 8, .width = DATA_URL_PIXELS_MAX, .height = 1};
    return (size_t)2 * FILE_ROOM + codec_encode_bytes(CODEC_PNG, &shape, &options);
}
