/* SPDX-License-Identifier: MIT */
#include "filters/cost.h"

struct cost_shape cost_shape_of(const struct image_shape *shape) {
    bool reduced = shape->chroma_shift_x > 0 || shape->chroma_shift_y > 0;
    return (struct cost_shape){.width = shape->width,
                               .height = shape->height,
                               .samples = reduced ? 2 : (float)image_pixel_channels(shape->model),
                               .wide = shape->depth == 16,
                               .alpha = image_pixel_has_alpha(shape->model),
                               .real = shape->depth == 16 || image_pixel_has_alpha(shape->model)};
}
