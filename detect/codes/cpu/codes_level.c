/* SPDX-License-Identifier: MIT */
#include "detect/codes/cpu/codes_level.h"

#include <string.h>

enum { CLEAR_SHARE = 10, CLEAR_PARTS = 3, RANGE_REACH = 2 };

static size_t aligned(size_t size) {
    return (size + 7) & ~(size_t)7;
}

size_t codes_level_bytes(uint32_t width, uint32_t height) {
    if (width < CODES_SIDE_LEAST || height < CODES_SIDE_LEAST) {
        return 0;
    }
    size_t columns = width / CODES_CELL, rows = height / CODES_CELL, cells = columns * rows;
    size_t pixels = cells * CODES_CELL * CODES_CELL;
    return 2 * aligned(pixels) + 3 * aligned(cells) + 2 * aligned(cells * sizeof(struct codes_sums)) +
           aligned(cells * sizeof(uint32_t));
}

static uint8_t *part(uint8_t **memory, size_t size) {
    uint8_t *at = *memory;
    *memory += aligned(size);
    return at;
}

void codes_level_place(struct codes_level *level, uint32_t width, uint32_t height, uint8_t *memory) {
    uint32_t columns = width / CODES_CELL, rows = height / CODES_CELL;
    size_t cells = (size_t)columns * rows, pixels = cells * CODES_CELL * CODES_CELL;
    *level = (struct codes_level){
        .width = columns * CODES_CELL, .height = rows * CODES_CELL, .columns = columns, .rows = rows};
    level->grey = part(&memory, pixels);
    level->tone = part(&memory, pixels);
    level->least = part(&memory, cells);
    level->most = part(&memory, cells);
    level->mask = part(&memory, cells);
    level->cell = (void *)part(&memory, cells * sizeof *level->cell);
    level->sum = (void *)part(&memory, cells * sizeof *level->sum);
    level->stack = (void *)part(&memory, cells * sizeof *level->stack);
}

void codes_level_halve(const struct codes_level *from, const struct codes_level *to) {
    for (uint32_t y = 0; y < to->height; y++) {
        const uint8_t *upper = from->grey + (size_t)2 * y * from->width, *lower = upper + from->width;
        uint8_t *row = to->grey + (size_t)y * to->width;
        for (uint32_t x = 0; x < to->width; x++) {
            row[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) / 4);
        }
    }
}

static void find_range(const struct codes_level *level, uint32_t column, uint32_t row) {
    const uint8_t *pixel = level->grey + (size_t)row * CODES_CELL * level->width + column * CODES_CELL;
    uint8_t least = UINT8_MAX, most = 0;
    for (unsigned y = 0; y < CODES_CELL; y++, pixel += level->width) {
        for (unsigned x = 0; x < CODES_CELL; x++) {
            least = pixel[x] < least ? pixel[x] : least;
            most = pixel[x] > most ? pixel[x] : most;
        }
    }
    level->least[(size_t)row * level->columns + column] = least;
    level->most[(size_t)row * level->columns + column] = most;
}

/* The cells of a window along one axis. */
struct cell_span {
    uint32_t from, to;
};

static struct cell_span window_of(uint32_t at, uint32_t reach, uint32_t count) {
    return (struct cell_span){at < reach ? 0 : at - reach, at + reach + 1 < count ? at + reach + 1 : count};
}

/* The tones of a cell, by the range of its window. */
static void set_tones(const struct codes_level *level, uint32_t column, uint32_t row) {
    const struct cell_span across = window_of(column, RANGE_REACH, level->columns),
                           down = window_of(row, RANGE_REACH, level->rows);
    int least = UINT8_MAX, most = 0;
    for (uint32_t y = down.from; y < down.to; y++) {
        for (uint32_t x = across.from; x < across.to; x++) {
            size_t at = (size_t)y * level->columns + x;
            least = level->least[at] < least ? level->least[at] : least;
            most = level->most[at] > most ? level->most[at] : most;
        }
    }
    struct codes_sums *cell = &level->cell[(size_t)row * level->columns + column];
    const size_t first = (size_t)row * CODES_CELL * level->width + column * CODES_CELL;
    const int contrast = most - least, twice = most + least;
    *cell = (struct codes_sums){0};
    for (unsigned y = 0; y < CODES_CELL; y++) {
        const uint8_t *pixel = level->grey + first + (size_t)y * level->width;
        uint8_t *tone = level->tone + first + (size_t)y * level->width;
        for (unsigned x = 0; x < CODES_CELL; x++) {
            int off = 2 * pixel[x] - twice, far = off < 0 ? -off : off;
            tone[x] = contrast <= CODES_CONTRAST ? CODES_FLAT : off > 0 ? CODES_LIGHT : CODES_DARK;
            cell->dark = (uint16_t)(cell->dark + (tone[x] == CODES_DARK));
            cell->seen = (uint16_t)(cell->seen + (tone[x] != CODES_FLAT));
            cell->clear = (uint16_t)(cell->clear + (tone[x] != CODES_FLAT &&
                                                    far * CLEAR_SHARE > contrast * CLEAR_PARTS * 2));
        }
    }
}

static int differ(uint8_t one, uint8_t other) {
    return one + other == CODES_DARK + CODES_LIGHT && one != CODES_FLAT && other != CODES_FLAT;
}

/* Edges against the pixel on the left and the one above. */
static void count_edges(const struct codes_level *level, uint32_t column, uint32_t row) {
    struct codes_sums *cell = &level->cell[(size_t)row * level->columns + column];
    for (uint32_t y = row * CODES_CELL; y < (row + 1) * CODES_CELL; y++) {
        const uint8_t *tone = level->tone + (size_t)y * level->width;
        for (uint32_t x = column * CODES_CELL; x < (column + 1) * CODES_CELL; x++) {
            cell->across = (uint16_t)(cell->across + (x > 0 && differ(tone[x], tone[x - 1])));
            cell->down = (uint16_t)(cell->down + (y > 0 && differ(tone[x], *(tone + x - level->width))));
        }
    }
}

/* Without the pixels at the picture's edges. */
static void add_gradients(const struct codes_level *level, uint32_t column, uint32_t row) {
    struct codes_sums *cell = &level->cell[(size_t)row * level->columns + column];
    const uint32_t top = row > 0 ? row * CODES_CELL : 1, left = column > 0 ? column * CODES_CELL : 1;
    const uint32_t bottom = row + 1 < level->rows ? (row + 1) * CODES_CELL : level->height - 1;
    const uint32_t right = column + 1 < level->columns ? (column + 1) * CODES_CELL : level->width - 1;
    for (uint32_t y = top; y < bottom; y++) {
        const uint8_t *pixel = level->grey + (size_t)y * level->width;
        for (uint32_t x = left; x < right; x++) {
            const int32_t gx = pixel[x + 1] - pixel[x - 1];
            const int32_t gy = pixel[x + level->width] - *(pixel + x - level->width);
            cell->xx += gx * gx / 4;
            cell->yy += gy * gy / 4;
            cell->xy += gx * gy / 4;
        }
    }
}

static void sum_window(const struct codes_level *level, uint32_t column, uint32_t row) {
    const struct cell_span across = window_of(column, CODES_REACH, level->columns),
                           down = window_of(row, CODES_REACH, level->rows);
    struct codes_sums sum = {0};
    for (uint32_t y = down.from; y < down.to; y++) {
        for (uint32_t x = across.from; x < across.to; x++) {
            const struct codes_sums *cell = &level->cell[(size_t)y * level->columns + x];
            sum.across = (uint16_t)(sum.across + cell->across);
            sum.down = (uint16_t)(sum.down + cell->down);
            sum.dark = (uint16_t)(sum.dark + cell->dark);
            sum.seen = (uint16_t)(sum.seen + cell->seen);
            sum.clear = (uint16_t)(sum.clear + cell->clear);
            sum.xx += cell->xx;
            sum.yy += cell->yy;
            sum.xy += cell->xy;
        }
    }
    level->sum[(size_t)row * level->columns + column] = sum;
}

static void each_cell(const struct codes_level *level,
                      void (*work)(const struct codes_level *, uint32_t column, uint32_t row)) {
    for (uint32_t row = 0; row < level->rows; row++) {
        for (uint32_t column = 0; column < level->columns; column++) {
            work(level, column, row);
        }
    }
}

void codes_level_look(const struct codes_level *level) {
    each_cell(level, find_range);
    each_cell(level, set_tones);
    each_cell(level, count_edges);
    each_cell(level, add_gradients);
    each_cell(level, sum_window);
}
