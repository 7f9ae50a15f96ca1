/* SPDX-License-Identifier: MIT */
#include "codecs/orient.h"

#include <string.h>

/* Where a walk over the source starts and how many bytes it steps for one target column
 * and one target row. */
struct walk {
    const uint8_t *start;
    ptrdiff_t step_x;
    ptrdiff_t step_y;
};

static struct walk walk_of(const struct plane *source, struct orient_turn turn, size_t size) {
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

static void turn_plane(const struct plane *source, struct orient_turn turn, size_t size,
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
    struct orient_turn turn = orient_turn(orientation);
    for (unsigned p = 0; p < source->plane_count; p++) {
        size_t size = (size_t)source->plane[p].channels * (source->depth / 8);
        turn_plane(&source->plane[p], turn, size, &target->plane[p]);
    }
}
