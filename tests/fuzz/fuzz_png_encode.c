/* SPDX-License-Identifier: MIT
 * Any bytes as pixels, repeated to fill more than one strip, with all their colours or few: libpng and the
 * fast decoder must read the pixels that were written. */
#include "tests/fuzz/png.h"

enum {
    SETTINGS = 4,
    FILE_MAX = 1 << 24,
    ROWS_SIZE_MAX = 1 << 19,
    HEIGHT_MAX = 1 << 16,
    REDUCED = 16,
    GREY = 32
};

/* What a few bits of a byte are: 1, 2, 4 and 8 bits at equal distances, or the bits alone. */
static uint8_t sample_of(uint8_t byte, unsigned kind) {
    static const uint8_t masks[] = {255, 1, 3, 15, 255, 1, 3, 15}, steps[] = {1, 255, 85, 17, 1, 1, 1, 1};
    return (uint8_t)((byte & masks[kind]) * steps[kind]);
}

static void paint(struct image *image, const uint8_t *data, uint32_t rows, unsigned kind, bool grey) {
    const struct plane *plane = &image->plane[0];
    const size_t row = plane_row_bytes(plane, image->depth);
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *to = plane_row(plane, y);
        for (size_t i = 0; i < row; i++) {
            const bool copied = grey && image->depth == 8 && i % plane->channels > 0;
            to[i] = copied ? to[i - 1] : sample_of(data[y % rows * row + i], kind);
        }
    }
}

static unsigned sample_at(const struct image *image, uint32_t x, uint32_t y, unsigned channel) {
    const unsigned channels = image->plane[0].channels, size = image->depth / 8u;
    if (channel == 3 && channels % 2 != 0) {
        return image->depth == 16 ? 0xFFFF : 0xFF;
    }
    const unsigned at = channel == 3 ? channels - 1 : channels <= 2 ? 0 : channel;
    const uint8_t *p = plane_row(&image->plane[0], y) + ((size_t)x * channels + at) * size;
    uint16_t deep;
    memcpy(&deep, p, size);
    return size == 2 ? deep : *p;
}

/* As RGBA: another model of the file says the same. */
static void check_pixels(const struct image *image, struct bytes file) {
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    fuzz_expect(codec_probe(file, &limits, &picture, &err) == ST_OK);
    struct image back = fuzz_image(&picture.pixels);
    fuzz_expect(back.width == image->width && back.height == image->height && back.depth == image->depth);
    fuzz_expect(png_decode_stream(file, &limits, &back, &err) == ST_OK);
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            for (unsigned channel = 0; channel < 4; channel++) {
                fuzz_expect(sample_at(image, x, y, channel) == sample_at(&back, x, y, channel));
            }
        }
    }
    free(back.plane[0].data);
    codec_picture_finish(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < SETTINGS) {
        return 0;
    }
    struct image_shape shape = {.model = (enum pixel_model)(data[0] % 4), .depth = data[0] & 4 ? 16 : 8};
    shape.width = data[1] + 1u;
    size_t row = shape.width * image_pixel_channels(shape.model) * shape.depth / 8;
    uint32_t rows = (uint32_t)((size - SETTINGS) / row);
    if (rows == 0) {
        return 0;
    }
    uint32_t times = 1u << data[3] % 16;
    bool repeated = rows * row * times <= ROWS_SIZE_MAX && rows * times <= HEIGHT_MAX;
    shape.height = repeated ? rows * times : rows;
    struct image image = fuzz_image(&shape);
    paint(&image, data + SETTINGS, rows, data[0] >> 3 & 7, data[3] & GREY);
    /* The highest efforts take libdeflate seconds under a sanitizer, and no other path of ours. */
    struct encode_options options = {.effort = data[2] % 7, .reduce = data[3] & REDUCED};
    struct error err = {0};
    struct buf file;
    buf_init(&file, FILE_MAX);
    fuzz_expect(codec_encode(CODEC_PNG, &image, &options, NULL, &file, &err) == ST_OK);
    check_pixels(&image, buf_bytes(&file));
    fuzz_expect(fuzz_compare(buf_bytes(&file)) == ST_OK);
    buf_finish(&file);
    free(image.plane[0].data);
    return 0;
}
