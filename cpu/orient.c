/* SPDX-License-Identifier: MIT */
#include "cpu/orient.h"

#include <string.h>

#include "core/deadline.h"

/* First source byte, and bytes from one target column and one target row to the next. */
struct orient_walk {
    const uint8_t *start;
    ptrdiff_t step_x;
    ptrdiff_t step_y;
};

static struct orient_walk orient_walk(const struct plane *source, struct orient_turn turn, size_t size) {
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
    return turn.transpose ? (struct orient_walk){start, row, column}
                          : (struct orient_walk){start, column, row};
}

enum { TILE = 32 }; /* samples a side: the rows of a tile fit in the cache */

/* Copies a row backwards, from its last pixel. */
static inline __attribute__((always_inline)) void
mirror_row(const uint8_t *restrict last, uint8_t *restrict to, uint32_t width, const size_t size) {
    for (uint32_t x = 0; x < width; x++) {
        memcpy(to + x * size, last - x * size, size);
    }
}

/* Makes rows top to bottom - 1 of the target. `size` is a constant where this is inlined, so that memcpy
 * becomes a move. */
static inline __attribute__((always_inline)) void copy_tiles(struct orient_walk walk,
                                                             const struct plane *target, uint32_t top,
                                                             uint32_t bottom, const size_t size) {
    if (walk.step_x == -(ptrdiff_t)size) {
        for (uint32_t y = top; y < bottom; y++) {
            mirror_row(walk.start + (ptrdiff_t)y * walk.step_y, plane_row(target, y), target->width, size);
        }
        return;
    }
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

static void copy_rows(struct orient_walk walk, const struct plane *target, uint32_t top, uint32_t bottom,
                      size_t size) {
    if (walk.step_x == (ptrdiff_t)size) {
        for (uint32_t y = top; y < bottom; y++) {
            memcpy(plane_row(target, y), walk.start + (ptrdiff_t)y * walk.step_y, target->width * size);
        }
        return;
    }
    switch (size) {
    case 1:
        copy_tiles(walk, target, top, bottom, 1);
        break;
    case 2:
        copy_tiles(walk, target, top, bottom, 2);
        break;
    case 3:
        copy_tiles(walk, target, top, bottom, 3);
        break;
    case 4:
        copy_tiles(walk, target, top, bottom, 4);
        break;
    case 6:
        copy_tiles(walk, target, top, bottom, 6);
        break;
    default:
        copy_tiles(walk, target, top, bottom, 8);
        break;
    }
}

void orient_rows(const struct plane *source, uint8_t orientation, const struct plane *target, size_t size,
                 uint32_t from, uint32_t to) {
    struct orient_walk walk = orient_walk(source, orient_turn(orientation), size);
    for (uint32_t top = from; top < to; top += TILE) {
        copy_rows(walk, target, top, to - top < TILE ? to : top + TILE, size);
    }
}

static enum status turn_plane(struct orient_walk walk, const struct plane *target, size_t size,
                              int64_t deadline_ns, struct error *err) {
    enum status status = ST_OK;
    for (uint32_t top = 0; top < target->height && status == ST_OK; top += TILE) {
        uint32_t bottom = target->height - top < TILE ? target->height : top + TILE;
        status = deadline_check(deadline_ns, err);
        if (status == ST_OK) {
            copy_rows(walk, target, top, bottom, size);
        }
    }
    return status;
}

enum status orient_image(const struct image *source, uint8_t orientation, const struct image *target,
                         int64_t deadline_ns, struct error *err) {
    struct orient_turn turn = orient_turn(orientation);
    enum status status = ST_OK;
    for (unsigned p = 0; p < source->plane_count && status == ST_OK; p++) {
        size_t size = (size_t)source->plane[p].channels * (source->depth / 8);
        struct orient_walk walk = orient_walk(&source->plane[p], turn, size);
        status = turn_plane(walk, &target->plane[p], size, deadline_ns, err);
    }
    return status;
}
