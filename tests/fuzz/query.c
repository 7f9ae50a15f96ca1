/* SPDX-License-Identifier: MIT
 * A query string at each endpoint: parameters, operations, matrices, regions; then plans for
 * pictures of several shapes, and masks in every orientation. */
#include <string.h>

#include "cpu/mask/mask.h"
#include "tests/fuzz/common/plan.h"

static const struct image_shape shapes[] = {
    {.model = PIXEL_RGB, .depth = 8, .width = 1, .height = 1},
    {.model = PIXEL_GRAY, .depth = 16, .width = 61, .height = 7},
    {.model = PIXEL_RGBA, .depth = 8, .width = 4000, .height = 3000},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = 33, .height = 65},
};

/* Only 0 and 255 are drawn, regardless of the memory's contents, and the report counts them. */
static void draw(struct region_set set, bool invert, bool outward, uint8_t orientation) {
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 67, .height = 41};
    const struct mask_options options = {
        .invert = invert, .outward = outward, .grid = {.width = 8, .height = 16}};
    struct image mask = fuzz_image(&shape, 0xA5);
    struct mask_report report;
    uint64_t covered = 0;
    region_turn(&set, orientation);
    mask_draw(&mask, &set, &options, &report, NULL);
    for (uint32_t y = 0; y < mask.height; y++) {
        for (uint32_t x = 0; x < mask.width; x++) {
            uint8_t value = plane_row(&mask.plane[0], y)[x];
            fuzz_require(value == 0 || value == 255, "a hard mask has two values");
            covered += value != 0;
        }
    }
    fuzz_require(report.covered == covered, "the report counts right");
    fuzz_image_free(&mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    static struct parameters parameters;
    static struct chain chain;
    if (size > 8192 || !fuzz_parameters(&input, &parameters)) {
        return 0;
    }
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (fuzz_takes(&parameters, &shapes[i])) {
            (void)fuzz_plan(&parameters, &shapes[i], &chain);
        }
    }
    if (parameters.input.region.count > 0) {
        bool redact = parameters.input.mode == MODE_REDACT;
        draw(parameters.input.region, parameters.input.invert, redact, (uint8_t)(size % 8 + 1));
    }
    return 0;
}
