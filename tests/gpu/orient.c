/* SPDX-License-Identifier: MIT
 * Turning upright. */
#include <stdio.h>

#include "core/orient.h"
#include "tests/gpu/check.h"

/* Of those sizes that can be turned sample by sample. */
static void check_size(struct check *check, struct image_shape shape, uint32_t width, uint32_t height) {
    shape.width = width;
    shape.height = height;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        char text[32];
        snprintf(text, sizeof text, "orientation %u", orientation);
        if (orient_is_exact(&shape, orientation)) {
            check_turn(check, &shape, orientation, text);
        }
    }
}

void check_orient(struct check *check, bool quick) {
    static const uint32_t even[][2] = {{64, 32}, {100, 44}, {260, 68}, {36, 132}};
    for (size_t m = 0; m < CHECK_MODELS; m++) {
        const struct image_shape *model = &check_models[m];
        if (model->depth != 8 || (model->model != PIXEL_GRAY && model->model != PIXEL_YCBCR)) {
            continue;
        }
        for (size_t z = 0; z < CHECK_SIZES; z++) {
            check_size(check, *model, check_sizes[z][0], check_sizes[z][1]);
        }
        for (size_t z = 0; z < COUNT(even); z++) {
            check_size(check, *model, even[z][0], even[z][1]);
        }
        for (size_t z = 0; z < CHECK_LARGE_SIZES && !quick; z++) {
            check_size(check, *model, check_large_sizes[z][0], check_large_sizes[z][1]);
        }
    }
    check_report(check, "orientations");
}
