/* SPDX-License-Identifier: MIT */
#include "detect/codes/cpu/codes_parts.h"

#include "detect/codes/cpu/codes_place.h"

#include <stdbool.h>
#include <string.h>

enum { CELLS_LEAST = 16 };

/* Bits of the mask. */
enum { DENSE = 1, KEPT = 2, WORK = 4, DIRECTION_SHIFT = 3, DIRECTIONS = 32, APART = 2 };

/* Whether two cells have nearly the same direction. */
static bool is_near(uint8_t one, uint8_t other) {
    unsigned apart = (unsigned)(one >> DIRECTION_SHIFT) - (unsigned)(other >> DIRECTION_SHIFT) + APART;
    return apart % DIRECTIONS <= 2 * APART;
}

/* Windows of codes with modules, which have edges in both directions. */
static bool has_modules(const struct codes_sums *sum) {
    return sum->across * 9 > sum->seen && sum->down * 9 > sum->seen && sum->dark * 10 > sum->seen * 3 &&
           sum->dark * 4 < sum->seen * 3;
}

/* Windows of lines that cross a few others, as those of codes with stacked rows are. */
static bool has_lines(const struct codes_sums *sum) {
    const int most = sum->across > sum->down ? sum->across : sum->down;
    const int least = sum->across > sum->down ? sum->down : sum->across;
    return (most * 7 > sum->seen && least * 20 < sum->seen) ||
           (most * 10 > sum->seen && least * 33 > sum->seen && (most - least) * 17 > sum->seen);
}

/* Windows of stripes: nearly all gradients have one direction. */
static bool has_stripes(const struct codes_sums *sum) {
    const int64_t all = (int64_t)sum->xx + sum->yy, apart = (int64_t)sum->xx - sum->yy,
                  mixed = 2 * (int64_t)sum->xy;
    return (sum->across + sum->down) * 14 > sum->seen &&
           (apart * apart + mixed * mixed) * 25 > all * all * 16;
}

static bool is_dense(const struct codes_sums *sum, enum codes_texture texture) {
    if (sum->seen * 10 < CODES_WINDOW_PIXELS * 4) {
        return false;
    }
    bool mixed = sum->dark * 4 > sum->seen && sum->dark * 5 < sum->seen * 4;
    switch (texture) {
    case CODES_MODULES:
        return has_modules(sum);
    case CODES_STRIPES:
        return has_stripes(sum);
    default:
        return has_modules(sum) || (has_lines(sum) && mixed);
    }
}

/* The direction of the gradients of a window, in 32nds of a half turn. */
static unsigned direction(const struct codes_sums *sum) {
    const int64_t apart = (int64_t)sum->xx - sum->yy, mixed = 2 * (int64_t)sum->xy;
    int64_t best = INT64_MIN;
    unsigned found = 0;
    for (unsigned turn = 0; turn < DIRECTIONS; turn++) {
        const unsigned twice = turn * 4 * CODES_TURNS / DIRECTIONS;
        int64_t along = apart * codes_cosine(twice) + mixed * codes_sine(twice);
        found = along > best ? turn : found;
        best = along > best ? along : best;
    }
    return found;
}

/* Sets `to` in each cell around which, itself included, at least so many ninths of the cells have `from`. */
static void spread(const struct codes_level *level, uint8_t from, uint8_t to, unsigned ninths) {
    for (uint32_t row = 0; row < level->rows; row++) {
        for (uint32_t column = 0; column < level->columns; column++) {
            unsigned count = 0, cells = 0;
            for (uint32_t y = row ? row - 1 : 0; y <= row + 1 && y < level->rows; y++) {
                for (uint32_t x = column ? column - 1 : 0; x <= column + 1 && x < level->columns; x++) {
                    count += (level->mask[(size_t)y * level->columns + x] & from) != 0;
                    cells++;
                }
            }
            uint8_t *mask = &level->mask[(size_t)row * level->columns + column];
            bool set = count > 0 && count * 9 >= ninths * cells;
            *mask = (uint8_t)((*mask & ~to) | (set ? to : 0));
        }
    }
}

/* Collects the cells that hang together with a first one, and takes them out of the mask. */
static uint32_t collect(const struct codes_level *level, uint32_t first) {
    uint32_t count = 0;
    level->mask[first] &= (uint8_t)~KEPT;
    level->stack[count++] = first;
    for (uint32_t done = 0; done < count; done++) {
        uint32_t column = level->stack[done] % level->columns, row = level->stack[done] / level->columns;
        const bool inside[4] = {column > 0, column + 1 < level->columns, row > 0, row + 1 < level->rows};
        const uint32_t next[4] = {level->stack[done] - 1, level->stack[done] + 1,
                                  level->stack[done] - level->columns, level->stack[done] + level->columns};
        for (int i = 0; i < 4; i++) {
            if (inside[i] && level->mask[next[i]] & KEPT &&
                is_near(level->mask[next[i]], level->mask[level->stack[done]])) {
                level->mask[next[i]] &= (uint8_t)~KEPT;
                level->stack[count++] = next[i];
            }
        }
    }
    return count;
}

void codes_parts_find(const struct codes_level *level, enum codes_texture texture,
                      void (*found)(void *context, const uint32_t *cells, uint32_t count), void *context) {
    const uint32_t cells = level->columns * level->rows;
    for (uint32_t i = 0; i < cells; i++) {
        unsigned turn = texture == CODES_STRIPES ? direction(&level->sum[i]) : 0;
        level->mask[i] = (uint8_t)(turn << DIRECTION_SHIFT | (is_dense(&level->sum[i], texture) ? DENSE : 0));
    }
    spread(level, DENSE, WORK, texture == CODES_STRIPES ? 6 : 9);
    spread(level, WORK, KEPT, 1);
    for (uint32_t i = 0; i < cells; i++) {
        if (level->mask[i] & KEPT) {
            uint32_t count = collect(level, i);
            if (count >= CELLS_LEAST) {
                found(context, level->stack, count);
            }
        }
    }
}
