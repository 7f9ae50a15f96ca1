/* SPDX-License-Identifier: MIT */
#include "core/jpeg/coefficients.h"

#include "core/numbers.h"

enum { BLOCKS_MAX = 1 << 20, SHIFTS_MAX = 3, SHIFT_MAX = 2 };

bool coefficients_lay_out(const struct image_shape *shape, struct coefficients_layout *layout) {
    bool chroma = shape->model == PIXEL_YCBCR;
    uint8_t shift_x = chroma ? shape->chroma_shift_x : 0, shift_y = chroma ? shape->chroma_shift_y : 0;
    if ((!chroma && shape->model != PIXEL_GRAY) || shape->depth != 8 || shift_x > SHIFT_MAX ||
        shift_y > SHIFT_MAX || shift_x + shift_y > SHIFTS_MAX || shape->width == 0 || shape->height == 0) {
        return false;
    }
    *layout = (struct coefficients_layout){.planes = chroma ? IMAGE_PLANES_MAX : 1,
                                           .h = (uint8_t)(1u << shift_x),
                                           .v = (uint8_t)(1u << shift_y)};
    uint32_t luma = (uint32_t)layout->h * layout->v;
    layout->in_mcu = luma + layout->planes - 1;
    layout->mcus_x = divide_up(shape->width, (uint32_t)COEFFICIENTS_SIDE * layout->h);
    layout->mcus_y = divide_up(shape->height, (uint32_t)COEFFICIENTS_SIDE * layout->v);
    uint64_t mcus = (uint64_t)layout->mcus_x * layout->mcus_y;
    if (mcus > BLOCKS_MAX / luma) {
        return false;
    }
    layout->blocks = (uint32_t)mcus * layout->in_mcu;
    return true;
}

size_t coefficients_size(const struct coefficients_layout *layout) {
    return sizeof(struct coefficients_head) + (size_t)layout->blocks * COEFFICIENTS_BLOCK * sizeof(int16_t);
}
