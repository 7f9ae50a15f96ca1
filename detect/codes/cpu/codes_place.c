/* SPDX-License-Identifier: MIT */
#include "detect/codes/cpu/codes_place.h"

#include <stdbool.h>

static const int16_t cosines[CODES_TURNS + 1] = {
    16384, 16379, 16364, 16340, 16305, 16261, 16207, 16143, 16069, 15986, 15893, 15791, 15679,
    15557, 15426, 15286, 15137, 14978, 14811, 14635, 14449, 14256, 14053, 13842, 13623, 13395,
    13160, 12916, 12665, 12406, 12140, 11866, 11585, 11297, 11003, 10702, 10394, 10080, 9760,
    9434,  9102,  8765,  8423,  8076,  7723,  7366,  7005,  6639,  6270,  5897,  5520,  5139,
    4756,  4370,  3981,  3590,  3196,  2801,  2404,  2006,  1606,  1205,  804,   402,   0};

enum {
    STRIPE_STEP = 4,     /* pixels between lines across stripes that are compared */
    SYMBOL_GROWTH = 200, /* pixels by which a symbol may grow on each side */
    MARGIN_MOST = 8,
    THIN = 4,
    REFINED_TURNS = 8,
    REFINED_LENGTH = 40,
    REFINED_REACH = 12, /* pixels */
    STRIPED = 236,      /* a larger share of gradients in one direction is that of stripes */
};

int32_t codes_cosine(unsigned turn) {
    unsigned quarter = turn / CODES_TURNS % 4, rest = turn % CODES_TURNS;
    switch (quarter) {
    case 0:
        return cosines[rest];
    case 1:
        return -cosines[CODES_TURNS - rest];
    case 2:
        return -cosines[rest];
    default:
        return cosines[CODES_TURNS - rest];
    }
}

int32_t codes_sine(unsigned turn) {
    return codes_cosine(turn + 3 * CODES_TURNS);
}

/* Sums over the gradients (gx, gy) of a part. */
struct gradients {
    int64_t xx, yy, xy;
    int64_t real, imaginary; /* of the fourth power, divided by the square of the length */
    int64_t length;          /* of that */
};

static void add_gradients(const struct codes_level *level, uint32_t cell, struct gradients *sums) {
    uint32_t left = cell % level->columns * CODES_CELL, top = cell / level->columns * CODES_CELL;
    for (uint32_t y = top; y < top + CODES_CELL; y++) {
        for (uint32_t x = left; x < left + CODES_CELL; x++) {
            if (x == 0 || y == 0 || x + 1 == level->width || y + 1 == level->height) {
                continue;
            }
            const uint8_t *pixel = level->grey + (size_t)y * level->width + x;
            int32_t gx = pixel[1] - pixel[-1];
            int32_t gy = *(pixel + level->width) - *(pixel - level->width);
            int64_t square = gx * gx - gy * gy, twice = 2 * gx * gy;
            const int64_t length = gx * gx + gy * gy + 1;
            sums->xx += gx * gx;
            sums->yy += gy * gy;
            sums->xy += gx * gy;
            sums->real += (square * square - twice * twice) / length;
            sums->imaginary += 2 * square * twice / length;
            sums->length += (square * square + twice * twice) / length;
        }
    }
}

static void find_turn(const struct gradients *sums, struct codes_place *place) {
    int64_t best = INT64_MIN;
    for (unsigned turn = 0; turn < CODES_TURNS; turn++) {
        int64_t along = sums->real * codes_cosine(4 * turn) + sums->imaginary * codes_sine(4 * turn);
        if (along > best) {
            best = along;
            place->turn = turn;
        }
    }
    const int64_t cos = codes_cosine(place->turn), sin = codes_sine(place->turn), all = sums->xx + sums->yy;
    const int64_t first = cos * cos / CODES_ONE * sums->xx + sin * sin / CODES_ONE * sums->yy +
                          2 * (cos * sin / CODES_ONE) * sums->xy;
    place->stripes = all > 0 ? (int32_t)(first / CODES_ONE * 256 / all) : 128;
    place->straight = sums->length > 0 ? (int32_t)(best / CODES_ONE * 256 / sums->length) : 0;
}

/* Where a pixel lies along an axis. */
static int32_t along(const struct codes_place *place, int axis, int32_t x, int32_t y) {
    const int32_t cos = codes_cosine(place->turn), sin = codes_sine(place->turn);
    const int64_t at = axis == 0 ? (int64_t)x * cos + (int64_t)y * sin : (int64_t)y * cos - (int64_t)x * sin;
    return (int32_t)((at + (at < 0 ? -CODES_ONE / 2 : CODES_ONE / 2)) / CODES_ONE);
}

static int64_t root(int64_t square) {
    int64_t low = 0, high = (int64_t)1 << 24;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        low = middle * middle <= square ? middle : low;
        high = middle * middle <= square ? high : middle - 1;
    }
    return low;
}

/* The sides of a rectangle that is spread as widely as the cells are: a few cells that hang on to it move it
 * little. */
static void find_sides(const struct codes_level *level, const uint32_t *cells, uint32_t count,
                       struct codes_place *place) {
    for (int axis = 0; axis < 2; axis++) {
        int64_t sum = 0, squares = 0;
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (uint32_t i = 0; i < count; i++) {
            int32_t x = (int32_t)(cells[i] % level->columns) * CODES_CELL + CODES_CELL / 2 - place->x;
            int32_t y = (int32_t)(cells[i] / level->columns) * CODES_CELL + CODES_CELL / 2 - place->y;
            int32_t at = along(place, axis, x, y);
            sum += at;
            squares += (int64_t)at * at;
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        const int64_t mean = sum / count, far = root(3 * (squares / count - mean * mean));
        place->from[axis] = (int32_t)(mean - far > least ? mean - far : least);
        place->to[axis] = (int32_t)(mean + far < most ? mean + far : most);
    }
}

/* The tone at a point that is given by the axes. */
static uint8_t tone_at(const struct codes_level *level, const struct codes_place *place, int32_t first,
                       int32_t second) {
    const int32_t cos = codes_cosine(place->turn), sin = codes_sine(place->turn);
    int32_t x = place->x + (int32_t)(((int64_t)first * cos - (int64_t)second * sin + CODES_ONE / 2) >> 14);
    int32_t y = place->y + (int32_t)(((int64_t)first * sin + (int64_t)second * cos + CODES_ONE / 2) >> 14);
    if (x < 0 || y < 0 || x >= (int32_t)level->width || y >= (int32_t)level->height) {
        return CODES_FLAT;
    }
    return level->tone[(size_t)y * level->width + (size_t)x];
}

struct edge_line {
    int32_t edges, longest;
    int64_t squares;
};

/* Follows a line along an axis at a distance on the other one. */
static struct edge_line follow(const struct codes_level *level, const struct codes_place *place, int axis,
                               int32_t at) {
    struct edge_line line = {0};
    uint8_t tone = CODES_FLAT;
    int32_t begun = place->from[axis];
    for (int32_t i = place->from[axis]; i <= place->to[axis]; i++) {
        uint8_t next = axis == 0 ? tone_at(level, place, i, at) : tone_at(level, place, at, i);
        bool ends = i == place->to[axis];
        if ((next != CODES_FLAT && tone != CODES_FLAT && next != tone) || ends) {
            int32_t length = i - begun;
            line.edges += !ends;
            line.longest = length > line.longest ? length : line.longest;
            line.squares += (int64_t)length * length;
            begun = i;
        }
        tone = next != CODES_FLAT ? next : tone;
    }
    return line;
}

/* The share of pixels of a line along an axis that have the tone of the line at another distance, of 256. */
static int32_t alike(const struct codes_level *level, const struct codes_place *place, int axis, int32_t at,
                     int32_t other) {
    int32_t seen = 1, same = 0;
    for (int32_t i = place->from[axis]; i <= place->to[axis]; i++) {
        uint8_t one = axis == 0 ? tone_at(level, place, i, at) : tone_at(level, place, at, i);
        uint8_t two = axis == 0 ? tone_at(level, place, i, other) : tone_at(level, place, other, i);
        seen += two != CODES_FLAT;
        same += two != CODES_FLAT && one == two;
    }
    return same * 256 / seen;
}

static void sort(int32_t *number, int count) {
    for (int i = 1; i < count; i++) {
        int32_t moved = number[i];
        int at = i;
        for (; at > 0 && number[at - 1] > moved; at--) {
            number[at] = number[at - 1];
        }
        number[at] = moved;
    }
}

static struct codes_lines measure_lines(const struct codes_level *level, const struct codes_place *place,
                                        int axis) {
    const int32_t from = place->from[!axis], size = place->to[!axis] - from;
    const int32_t length = place->to[axis] - place->from[axis];
    struct codes_lines lines = {0};
    int32_t edges[CODES_LINES], longest[CODES_LINES];
    int64_t squares = 0;
    for (int i = 0; i < CODES_LINES; i++) {
        const int32_t at = from + size * (2 * i + 3) / (2 * CODES_LINES + 4);
        struct edge_line line = follow(level, place, axis, at);
        lines.alike += alike(level, place, axis, at,
                             from + size * (2 * ((i + 8) % CODES_LINES) + 3) / (2 * CODES_LINES + 4));
        edges[i] = line.edges;
        longest[i] = line.longest;
        squares += line.squares;
        lines.edges += line.edges;
    }
    sort(edges, CODES_LINES);
    sort(longest, CODES_LINES);
    lines.alike /= CODES_LINES;
    lines.fewest = edges[2];
    lines.most = edges[CODES_LINES - 3];
    lines.longest = longest[CODES_LINES / 2];
    lines.squares = length > 0 ? (int32_t)(squares * 16 / ((int64_t)length * CODES_LINES)) : 0;
    return lines;
}

/* Whether a line beyond a side has edges as others of the code have. */
static bool has_edges(const struct codes_level *level, const struct codes_place *place, int axis,
                      int32_t at) {
    struct edge_line line = follow(level, place, !axis, at);
    return line.edges * CODES_LINES * 3 > place->lines[!axis].edges && line.edges > 2;
}

/* Pixels between edges of lines along an axis. */
static int32_t stretch(const struct codes_place *place, int axis) {
    const int32_t length = place->to[axis] - place->from[axis];
    return length * CODES_LINES / (place->lines[axis].edges + CODES_LINES);
}

/* How far lines along an axis go on beyond a side with edges that are near each other: what most of them
 * reach. */
static int32_t reach(const struct codes_level *level, const struct codes_place *place, int axis, int32_t from,
                     int32_t most, int sign) {
    const int32_t low = place->from[!axis], size = place->to[!axis] - low, gap = 2 * stretch(place, axis) + 1;
    int32_t reached[CODES_LINES];
    for (int i = 0; i < CODES_LINES; i++) {
        const int32_t at = low + size * (2 * i + 3) / (2 * CODES_LINES + 4);
        uint8_t tone = CODES_FLAT;
        int32_t last = 0;
        for (int32_t step = 0; step <= most && step - last <= gap; step++) {
            const int32_t there = from + sign * step;
            uint8_t next = axis == 0 ? tone_at(level, place, there, at) : tone_at(level, place, at, there);
            last = next != CODES_FLAT && tone != CODES_FLAT && next != tone ? step : last;
            tone = next != CODES_FLAT ? next : tone;
        }
        reached[i] = last;
    }
    sort(reached, CODES_LINES);
    return reached[CODES_LINES / 2];
}

/* How many pixels the code goes on beyond a side. */
static int32_t beyond(const struct codes_level *level, const struct codes_place *place, int axis,
                      int32_t from, int32_t most, int sign) {
    const bool stripes[2] = {place->stripes<256 - STRIPED, place->stripes> STRIPED};
    if (stripes[!axis]) {
        return reach(level, place, axis, from, most, sign);
    }
    const int32_t gap = stripes[axis] || stretch(place, axis) > 24 ? 3 : stretch(place, axis) * 3 / 4 + 1;
    int32_t last = 0;
    for (int32_t step = 1; step <= most && step - last <= gap; step++) {
        const int32_t at = from + sign * step;
        bool goes_on = stripes[axis] ? alike(level, place, !axis, at, at - sign * STRIPE_STEP) > 192
                                     : has_edges(level, place, axis, at);
        last = goes_on ? step : last;
    }
    return last;
}

/* Moves the sides in, and then out for as long as the code goes on, by half of its size at most, or by `most`
 * more. */
static void grow(const struct codes_level *level, struct codes_place *place, int32_t most) {
    int32_t side[2][2];
    for (int axis = 0; axis < 2; axis++) {
        const int32_t size = place->to[axis] - place->from[axis], in = size < 40 ? size / 4 : 10;
        const int32_t far = in + size / 2 + 8 + most, least = in - 4;
        int32_t before = beyond(level, place, axis, place->from[axis] + in, far, -1);
        int32_t behind = beyond(level, place, axis, place->to[axis] - in, far, 1);
        side[axis][0] = place->from[axis] + in - (before > least ? before : least);
        side[axis][1] = place->to[axis] - in + (behind > least ? behind : least);
    }
    for (int axis = 0; axis < 2; axis++) {
        place->from[axis] = side[axis][0];
        place->to[axis] = side[axis][1];
    }
}

/* How alike lines across stripes are at a turn, around the middle of the place. */
static int32_t alike_at(const struct codes_level *level, struct codes_place turned, int axis,
                        const int32_t middle[2]) {
    const int32_t cross = along(&turned, axis, middle[0], middle[1]);
    const int32_t on = along(&turned, !axis, middle[0], middle[1]);
    int32_t sum = 0;
    turned.from[axis] = cross - REFINED_LENGTH;
    turned.to[axis] = cross + REFINED_LENGTH;
    for (int32_t far = 2; far <= REFINED_REACH; far += 2) {
        sum += alike(level, &turned, axis, on - far, on + far);
    }
    return sum;
}

/* Gradients of stripes that are hardly wider than a pixel have the wrong turn. */
static void refine_turn(const struct codes_level *level, struct codes_place *place) {
    const int axis = place->stripes > STRIPED ? 0 : 1; /* which crosses the stripes */
    const int64_t first = (place->from[0] + place->to[0]) / 2, second = (place->from[1] + place->to[1]) / 2;
    const int64_t cos = codes_cosine(place->turn), sin = codes_sine(place->turn);
    const int32_t middle[2] = {(int32_t)((first * cos - second * sin) / CODES_ONE),
                               (int32_t)((first * sin + second * cos) / CODES_ONE)};
    struct codes_place turned = *place;
    int32_t best = 0;
    unsigned found_turn = place->turn;
    for (unsigned i = 0; i <= 2 * REFINED_TURNS; i++) {
        turned.turn = place->turn + 4 * CODES_TURNS + i - REFINED_TURNS;
        int32_t found = alike_at(level, turned, axis, middle);
        if (found > best) {
            best = found;
            found_turn = turned.turn % (4 * CODES_TURNS);
        }
    }
    place->turn = found_turn;
}

static void measure_and_grow(const struct codes_level *level, struct codes_place *place, int32_t most) {
    for (int i = 0; i < 3; i++) {
        place->lines[0] = measure_lines(level, place, 0);
        place->lines[1] = measure_lines(level, place, 1);
        if (i < 2) {
            grow(level, place, most);
        }
    }
}

void codes_place_measure(const struct codes_level *level, const uint32_t *cells, uint32_t count,
                         struct codes_place *place) {
    struct gradients gradients = {0};
    *place = (struct codes_place){.cells = count};
    place->x = (int32_t)(cells[0] % level->columns) * CODES_CELL;
    place->y = (int32_t)(cells[0] / level->columns) * CODES_CELL;
    for (uint32_t i = 0; i < count; i++) {
        const struct codes_sums *cell = &level->cell[cells[i]];
        add_gradients(level, cells[i], &gradients);
        place->dark += cell->dark;
        place->seen += cell->seen;
        place->clear += cell->clear;
    }
    find_turn(&gradients, place);
    find_sides(level, cells, count, place);
    if (place->stripes > STRIPED || place->stripes < 256 - STRIPED) {
        refine_turn(level, place);
        find_sides(level, cells, count, place);
    }
    measure_and_grow(level, place, 0);
}

void codes_place_grow(const struct codes_level *level, const int32_t corner[4][2],
                      struct codes_place *place) {
    const int64_t dx = (int64_t)corner[1][0] - corner[0][0] + corner[2][0] - corner[3][0];
    const int64_t dy = (int64_t)corner[1][1] - corner[0][1] + corner[2][1] - corner[3][1];
    int64_t best = INT64_MIN;
    *place = (struct codes_place){.x = corner[0][0], .y = corner[0][1]};
    for (unsigned turn = 0; turn < 4 * CODES_TURNS; turn++) {
        const int64_t far = dx * codes_cosine(turn) + dy * codes_sine(turn);
        place->turn = far > best ? turn : place->turn;
        best = far > best ? far : best;
    }
    place->turn %= CODES_TURNS;
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 2; axis++) {
            int32_t at = along(place, axis, corner[i][0] - place->x, corner[i][1] - place->y);
            place->from[axis] = at < place->from[axis] ? at : place->from[axis];
            place->to[axis] = at > place->to[axis] ? at : place->to[axis];
        }
    }
    /* A line of a linear code. Others grow while lines across their rows are alike, as the bars at both ends
     * of stacked rows are, and along the second axis as far as there are edges. */
    place->stripes = place->to[1] - place->from[1] < THIN ? 256 : 0;
    const struct codes_place read = *place;
    measure_and_grow(level, place, SYMBOL_GROWTH);
    for (int axis = 0; axis < 2; axis++) { /* what was read is never left out */
        place->from[axis] = read.from[axis] < place->from[axis] ? read.from[axis] : place->from[axis];
        place->to[axis] = read.to[axis] > place->to[axis] ? read.to[axis] : place->to[axis];
    }
}

void codes_place_corners(const struct codes_place *place, int32_t corner[4][2]) {
    const int32_t cos = codes_cosine(place->turn), sin = codes_sine(place->turn);
    int32_t margin[2];
    for (int axis = 0; axis < 2; axis++) {
        const int32_t one = stretch(place, axis), other = stretch(place, !axis);
        margin[axis] =
            2 + ((one < other ? one : other) < MARGIN_MOST ? (one < other ? one : other) : MARGIN_MOST);
    }
    for (int i = 0; i < 4; i++) {
        int64_t first = i == 1 || i == 2 ? place->to[0] + margin[0] : place->from[0] - margin[0];
        int64_t second = i >= 2 ? place->to[1] + margin[1] : place->from[1] - margin[1];
        corner[i][0] = place->x + (int32_t)((first * cos - second * sin) / CODES_ONE);
        corner[i][1] = place->y + (int32_t)((first * sin + second * cos) / CODES_ONE);
    }
}
