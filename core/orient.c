/* SPDX-License-Identifier: MIT */
#include "core/orient.h"

struct orient_turn orient_turn(uint8_t orientation) {
    static const struct orient_turn turns[9] = {
        [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true},
        [5] = {true, false, false}, [6] = {true, false, true}, [7] = {true, true, true},
        [8] = {true, true, false},
    };
    return turns[orientation <= 8 ? orientation : 0];
}

bool orient_turns(uint8_t orientation) {
    struct orient_turn turn = orient_turn(orientation);
    return turn.transpose || turn.mirror_x || turn.mirror_y;
}

uint8_t orient_compose(uint8_t first, uint8_t second) {
    const struct orient_turn a = orient_turn(first), b = orient_turn(second);
    const bool transpose = a.transpose != b.transpose;
    const bool mirror_x = a.mirror_x != (a.transpose ? b.mirror_y : b.mirror_x);
    const bool mirror_y = a.mirror_y != (a.transpose ? b.mirror_x : b.mirror_y);
    uint8_t orientation = 1;
    for (uint8_t i = 2; i <= 8; i++) {
        const struct orient_turn turn = orient_turn(i);
        if (turn.transpose == transpose && turn.mirror_x == mirror_x && turn.mirror_y == mirror_y) {
            orientation = i;
        }
    }
    return orientation;
}

struct image_shape orient_shape(const struct image_shape *shape, uint8_t orientation) {
    struct image_shape turned = *shape;
    if (orient_turn(orientation).transpose) {
        turned.width = shape->height;
        turned.height = shape->width;
        turned.chroma_shift_x = shape->chroma_shift_y;
        turned.chroma_shift_y = shape->chroma_shift_x;
    }
    return turned;
}

bool orient_is_exact(const struct image_shape *shape, uint8_t orientation) {
    struct orient_turn turn = orient_turn(orientation);
    if (shape->model != PIXEL_YCBCR) {
        return true;
    }
    bool whole_x = shape->width % (1u << shape->chroma_shift_x) == 0;
    bool whole_y = shape->height % (1u << shape->chroma_shift_y) == 0;
    return (!turn.mirror_x || whole_x) && (!turn.mirror_y || whole_y);
}
