/* SPDX-License-Identifier: MIT
 * Patching and turning a JPEG. The file's last six bytes, which it ignores, are the rectangle of the mask or
 * the part and the options. */
#include "codecs/jpeg/jpeg_patch.h"
#include "codecs/jpeg/jpeg_turn.h"

#include <string.h>

#include "core/orient.h"

#include "tests/fuzz/common/fuzz.h"

static void draw(const struct image *mask, struct bytes *input) {
    uint32_t x = fuzz_last_byte(input) * mask->width / 256, y = fuzz_last_byte(input) * mask->height / 256;
    uint32_t width = fuzz_last_byte(input), height = fuzz_last_byte(input);
    for (uint32_t j = 0; j < mask->height; j++) {
        memset(plane_row(&mask->plane[0], j), 0, mask->width);
    }
    for (uint32_t j = y; j < mask->height && j < y + height; j++) {
        uint32_t end = x + width < mask->width ? x + width : mask->width;
        memset(plane_row(&mask->plane[0], j) + x, 200, end - x);
    }
}

static bool is_empty(const struct image *mask) {
    for (uint32_t j = 0; j < mask->height; j++) {
        for (uint32_t i = 0; i < mask->width; i++) {
            if (plane_row(&mask->plane[0], j)[i]) {
                return false;
            }
        }
    }
    return true;
}

/* The patched file is readable; untouched blocks are unchanged. */
static void check(struct bytes output, const struct codec_limits *limits, const struct image_shape *shape,
                  const struct image *before) {
    struct codec_limits wide = *limits;
    struct picture picture;
    struct error err = {0};
    wide.max_scans = 100;
    fuzz_require(codec_probe(output, &wide, &picture, &err) == ST_OK, "a patched file has a header");
    fuzz_require(memcmp(&picture.native, shape, sizeof *shape) == 0 ||
                     memcmp(&picture.pixels, shape, sizeof *shape) == 0,
                 "a patched file has the shape that it had");
    struct image after = fuzz_image(shape, 0);
    fuzz_require(codec_decode(output, &picture, &wide, &after, &err) == ST_OK,
                 "a patched file can be decoded");
    fuzz_require(!before || fuzz_same_pixels(before, &after), "what was not touched is as it was");
    fuzz_image_free(&after);
}

static void patch(struct bytes input, const struct codec_limits *limits, const struct picture *picture,
                  const struct image *mask, uint8_t choice) {
    const struct image_shape *shape = choice & 1 ? &picture->native : &picture->pixels;
    struct encode_options options = {.progressive = choice & 2, .keep_metadata = choice & 4};
    struct image before = fuzz_image(shape, 0), result = fuzz_image(shape, 0xA5);
    struct error err = {0};
    struct buf output;
    buf_init(&output, 64 << 20);
    fuzz_paint(&result, choice);
    bool sound = codec_decode(input, picture, limits, &before, &err) == ST_OK;
    enum status status =
        jpeg_patch(input, limits, &result, mask, &options, &picture->metadata, &output, &err);
    fuzz_require(status == ST_OK || err.text[0], "a failure is explained");
    fuzz_require(status != ST_INTERNAL, "what probe accepts has the right shape");
    fuzz_require(status != ST_CORRUPT || !sound, "what can be decoded is not called corrupt");
    if (status == ST_OK && sound) {
        check(buf_bytes(&output), limits, shape, is_empty(mask) ? &before : NULL);
    }
    buf_finish(&output);
    fuzz_image_free(&before);
    fuzz_image_free(&result);
}

/* A turned file is readable, and has the part's size. */
static void turn(struct bytes input, const struct codec_limits *limits, const struct picture *picture,
                 struct bytes tail, uint8_t choice) {
    const struct image_shape *native = &picture->native;
    struct jpeg_turn turn = {0, 0, native->width, native->height, choice % 8 + 1};
    uint32_t x = fuzz_last_byte(&tail) * turn.width / 256, y = fuzz_last_byte(&tail) * turn.height / 256;
    uint32_t width = turn.width - x, height = turn.height - y;
    if (orient_turn(turn.orientation).transpose) {
        jpeg_turn_crop(&turn, y, x, height, width);
    } else {
        jpeg_turn_crop(&turn, x, y, width, height);
    }
    struct image_shape shape = *native;
    shape.width = turn.width;
    shape.height = turn.height;
    shape = orient_shape(&shape, turn.orientation);
    struct encode_options options = {.progressive = choice & 8};
    struct error err = {0};
    struct buf output;
    buf_init(&output, 64 << 20);
    enum status status = jpeg_turn_check(native, &turn, &err);
    if (status == ST_OK) {
        status = jpeg_turn(input, limits, &turn, &shape, &options, &picture->metadata, &output, &err);
    }
    fuzz_require(status == ST_OK || err.text[0], "a failure is explained");
    fuzz_require(status != ST_INTERNAL, "what can be read can be turned");
    if (status == ST_OK) {
        check(buf_bytes(&output), limits, &shape, NULL);
    }
    buf_finish(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size}, tail = input;
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    limits.local_blocks = true; /* else the decoder smooths over blocks that are no longer unfinished */
    if (codec_sniff(input) != codec_get(CODEC_JPEG) || codec_probe(input, &limits, &picture, &err) != ST_OK ||
        !picture.patchable) {
        return 0;
    }
    struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = picture.pixels.width, .height = picture.pixels.height};
    struct image mask = fuzz_image(&shape, 0xA5);
    uint8_t choice = fuzz_last_byte(&tail);
    turn(input, &limits, &picture, tail, choice);
    draw(&mask, &tail);
    patch(input, &limits, &picture, &mask, choice);
    fuzz_image_free(&mask);
    return 0;
}
