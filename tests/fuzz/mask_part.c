/* SPDX-License-Identifier: MIT
 * The part `mask` of a form for a picture of its size: orientation and mode in the first byte, then the PNG.
 */
#include "server/picture/mask_part.h"

#include <stdlib.h>
#include <string.h>

#include "core/orient.h"
#include "cpu/mask/mask.h"
#include "tests/fuzz/common/fuzz.h"

/* A redacted mask has two values, and covers every weight. */
static void draw(const struct image *mask, uint8_t how) {
    const struct mask_options options = {
        .invert = how & 8, .over = true, .outward = how & 16, .grid = {.width = 8, .height = 8}};
    const struct region_set none = {0};
    struct mask_report report;
    uint64_t covered = 0;
    fuzz_require(mask_draw(mask, &none, &options, &report, NULL) == ST_OK, "a mask is drawn");
    for (uint32_t y = 0; y < mask->height; y++) {
        for (uint32_t x = 0; x < mask->width; x++) {
            uint8_t value = plane_row(&mask->plane[0], y)[x];
            covered += value != 0;
            fuzz_require(!options.outward || value == 0 || value == 255, "a redacted mask has two values");
        }
    }
    fuzz_require(covered == report.covered, "the report counts right");
}

static void read(const struct mask_part *part, const struct codec_limits *limits, uint8_t how) {
    uint8_t orientation = (uint8_t)(how % 8 + 1);
    struct image_shape stored = orient_shape(&part->picture.pixels, orientation == 6   ? 8
                                                                    : orientation == 8 ? 6
                                                                                       : orientation);
    struct image mask = fuzz_image(&stored, 0xA5), spare = fuzz_image(&part->picture.pixels, 0x5A);
    struct error err = {0};
    enum status status = mask_part_read(part, orientation, limits, &mask, spare.plane[0].data, &err);
    fuzz_require(status == ST_OK || strncmp(err.text, "mask: ", 6) == 0, "a failure names the part");
    if (status == ST_OK) {
        draw(&mask, how);
    }
    fuzz_image_free(&mask);
    fuzz_image_free(&spare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    struct codec_limits limits = fuzz_limits();
    struct mask_part part = {0};
    struct picture picture;
    struct error err = {0};
    uint32_t width = 1, height = 1;
    if (codec_probe(input, &limits, &picture, NULL) == ST_OK) {
        width = picture.pixels.width, height = picture.pixels.height;
        codec_picture_finish(&picture);
    }
    enum status status = mask_part_open(&part, input, width, height, &limits, &err);
    fuzz_require(status == ST_OK || strncmp(err.text, "mask: ", 6) == 0, "a failure names the part");
    if (status == ST_OK && part.input.data) {
        fuzz_require(mask_part_bytes(&part) < 64 << 20, "the memory is bounded");
        read(&part, &limits, how);
    }
    mask_part_finish(&part);
    return 0;
}
