/* SPDX-License-Identifier: MIT */
#include "codecs/orient.h"

#include <string.h>

#include "core/bytes.h"

/* An orientation as three switches: exchange the axes of the target, then count the
 * source's columns or rows from the far end. */
struct turn {
    bool transpose;
    bool mirror_x; /* of the source */
    bool mirror_y;
};

static struct turn turn_of(uint8_t orientation) {
    static const struct turn turns[9] = {
        [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true},
        [5] = {true, false, false}, [6] = {true, false, true}, [7] = {true, true, true},
        [8] = {true, true, false},
    };
    return turns[orientation <= 8 ? orientation : 0];
}

struct image_shape orient_shape(const struct image_shape *shape, uint8_t orientation) {
    struct image_shape turned = *shape;
    if (turn_of(orientation).transpose) {
        turned.width = shape->height;
        turned.height = shape->width;
        turned.chroma_shift_x = shape->chroma_shift_y;
        turned.chroma_shift_y = shape->chroma_shift_x;
    }
    return turned;
}

bool orient_is_exact(const struct image_shape *shape, uint8_t orientation) {
    struct turn turn = turn_of(orientation);
    if (shape->model != PIXEL_YCBCR) {
        return true;
    }
    bool whole_x = shape->width % (1u << shape->chroma_shift_x) == 0;
    bool whole_y = shape->height % (1u << shape->chroma_shift_y) == 0;
    return (!turn.mirror_x || whole_x) && (!turn.mirror_y || whole_y);
}

/* Where a walk over the source starts and how many bytes it steps for one target column
 * and one target row. */
struct walk {
    const uint8_t *start;
    ptrdiff_t step_x;
    ptrdiff_t step_y;
};

static struct walk walk_of(const struct plane *source, struct turn turn, size_t size) {
    ptrdiff_t column = (ptrdiff_t)size, row = (ptrdiff_t)source->stride;
    const uint8_t *start = source->data;
    if (turn.mirror_x) {
        start += (ptrdiff_t)(source->width - 1) * column;
        column = -column;
    }
    if (turn.mirror_y) {
        start += (ptrdiff_t)(source->height - 1) * row;
        row = -row;
    }
    return turn.transpose ? (struct walk){start, row, column} : (struct walk){start, column, row};
}

/* Tiles keep both the rows that are read and those that are written in the cache. `size`
 * is a constant wherever this is inlined, so that memcpy becomes a move. */
static inline __attribute__((always_inline)) void copy_tiles(struct walk walk, const struct plane *target,
                                                             const size_t size) {
    enum { TILE = 32 };
    for (uint32_t top = 0; top < target->height; top += TILE) {
        uint32_t bottom = target->height - top < TILE ? target->height : top + TILE;
        for (uint32_t left = 0; left < target->width; left += TILE) {
            uint32_t right = target->width - left < TILE ? target->width : left + TILE;
            for (uint32_t y = top; y < bottom; y++) {
                const uint8_t *from = walk.start + (ptrdiff_t)y * walk.step_y + (ptrdiff_t)left * walk.step_x;
                uint8_t *to = plane_row(target, y) + left * size;
                for (uint32_t x = left; x < right; x++, from += walk.step_x, to += size) {
                    memcpy(to, from, size);
                }
            }
        }
    }
}

static void copy_rows(struct walk walk, const struct plane *target, size_t row_bytes) {
    for (uint32_t y = 0; y < target->height; y++) {
        memcpy(plane_row(target, y), walk.start + (ptrdiff_t)y * walk.step_y, row_bytes);
    }
}

static void turn_plane(const struct plane *source, struct turn turn, size_t size,
                       const struct plane *target) {
    struct walk walk = walk_of(source, turn, size);
    if (walk.step_x == (ptrdiff_t)size) {
        copy_rows(walk, target, (size_t)target->width * size);
        return;
    }
    switch (size) {
    case 1:
        copy_tiles(walk, target, 1);
        break;
    case 2:
        copy_tiles(walk, target, 2);
        break;
    case 3:
        copy_tiles(walk, target, 3);
        break;
    case 4:
        copy_tiles(walk, target, 4);
        break;
    case 6:
        copy_tiles(walk, target, 6);
        break;
    default:
        copy_tiles(walk, target, 8);
        break;
    }
}

void orient_image(const struct image *source, uint8_t orientation, const struct image *target) {
    struct turn turn = turn_of(orientation);
    for (unsigned p = 0; p < source->plane_count; p++) {
        size_t size = (size_t)source->plane[p].channels * (source->depth / 8);
        turn_plane(&source->plane[p], turn, size, &target->plane[p]);
    }
}
