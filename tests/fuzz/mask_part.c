/* SPDX-License-Identifier: MIT
 * The part `mask` of a form for a picture of its size: orientation and mode in the first byte, then the PNG.
 */
#include "server/picture/selection.h"

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

static void read(struct selection *selection, const struct image_shape *stored, uint8_t how) {
    struct error err = {0};
    selection->mask = fuzz_image(stored, 0xA5);
    selection->spare = fuzz_image(&selection->part.picture.pixels, 0x5A);
    enum status status = selection_read_part(selection, &err);
    fuzz_require(status == ST_OK || strncmp(err.text, "mask: ", 6) == 0, "a failure names the part");
    if (status == ST_OK) {
        draw(&selection->mask, how);
    }
    fuzz_image_free(&selection->mask);
    fuzz_image_free(&selection->spare);
}

/* A picture whose upright form has the size of the mask, if that has one. */
static struct picture picture_of(struct bytes mask, const struct codec_limits *limits, uint8_t orientation) {
    const uint8_t inverse = orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
    struct image_shape upright = {.width = 1, .height = 1};
    struct picture picture;
    if (codec_probe(mask, limits, &picture, NULL) == ST_OK) {
        upright = picture.pixels;
        codec_picture_finish(&picture);
    }
    return (struct picture){.pixels = orient_shape(&upright, inverse), .metadata.orientation = orientation};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct parameters parameters;
    struct bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    struct codec_limits limits = fuzz_limits();
    const struct picture picture = picture_of(input, &limits, (uint8_t)(how % 8 + 1));
    struct selection selection = {0};
    struct error err = {0};
    parameters.input.mask = input;
    enum status status = selection_open_part(&selection, &parameters, &picture, &limits, &err);
    fuzz_require(status == ST_OK || strncmp(err.text, "mask: ", 6) == 0, "a failure names the part");
    if (status == ST_OK && selection.part.input.data) {
        fuzz_require(selection_part_bytes(&selection) < 64 << 20, "the memory is bounded");
        read(&selection, &picture.pixels, how);
    }
    codec_picture_finish(&selection.part.picture);
    return 0;
}
