/* SPDX-License-Identifier: MIT
 * Any bytes as pixels, repeated to fill more than one strip: libpng and the fast decoder must read the pixels
 * that were written. */
#include "tests/fuzz/png.h"

enum { SETTINGS = 4, FILE_MAX = 1 << 24, ROWS_SIZE_MAX = 1 << 19, HEIGHT_MAX = 1 << 16 };

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
    struct image image = fuzz_image(&shape), back = fuzz_image(&shape);
    for (uint32_t y = 0; y < shape.height; y++) {
        memcpy(plane_row(&image.plane[0], y), data + SETTINGS + y % rows * row, row);
    }
    /* The highest efforts take libdeflate seconds under a sanitizer, and no other path of ours. */
    struct encode_options options = {.effort = data[2] % 7};
    struct codec_limits limits = fuzz_limits();
    struct error err = {0};
    struct buf file;
    buf_init(&file, FILE_MAX);
    fuzz_expect(codec_encode(CODEC_PNG, &image, &options, NULL, &file, &err) == ST_OK);
    fuzz_expect(png_decode_stream(buf_bytes(&file), &limits, &back, &err) == ST_OK);
    fuzz_same_pixels(&image, &back);
    fuzz_expect(fuzz_compare(buf_bytes(&file)) == ST_OK);
    buf_finish(&file);
    free(image.plane[0].data);
    free(back.plane[0].data);
    return 0;
}
