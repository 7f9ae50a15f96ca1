/* SPDX-License-Identifier: MIT */
#include "detect/components.h"

#include <stdbool.h>
#include <string.h>

#include "core/bytes.h"
#include "core/deadline.h"
#include "core/image.h"
#include "core/numbers.h"

/* A run of pixels in a row, from `from` to before `to`, and its component in `parts`. */
struct run {
    uint32_t from, to, part;
};

/* A component of the rows so far. When two turn out to be one, the later in the list points to the earlier.
 */
struct growing {
    uint32_t into; /* itself: it is one */
    uint32_t kept; /* its place in the next row's list, plus 1; 0: no run of this row belongs to it */
    uint32_t left, top, right, bottom, pixels;
    uint8_t peak;
    struct moments moments;
};

/* A row, and the components of the rows so far that may go on. */
struct row {
    struct run *run;
    struct growing *part;
    uint32_t runs, parts;
};

/* At least one pixel lies between two runs. A row's list has the components of the row above, then the new
 * ones. */
static uint32_t most_runs(uint32_t width) {
    return (width + 1) / 2 + 1;
}

size_t components_bytes(uint32_t width) {
    const size_t runs = most_runs(width);
    return 2 * (bytes_align_up(runs * sizeof(struct run), IMAGE_ALIGNMENT) +
                bytes_align_up(2 * runs * sizeof(struct growing), IMAGE_ALIGNMENT));
}

static void place_rows(struct row row[2], uint32_t width, uint8_t *memory) {
    const size_t runs = most_runs(width);
    for (unsigned i = 0; i < 2; i++) {
        row[i] = (struct row){.run = (void *)memory};
        memory += bytes_align_up(runs * sizeof(struct run), IMAGE_ALIGNMENT);
        row[i].part = (void *)memory;
        memory += bytes_align_up(2 * runs * sizeof(struct growing), IMAGE_ALIGNMENT);
    }
}

/* ---- runs ---- */

/* The upper bit of each byte that is at least `least`; `add` is (128 - least) mod 128 in each byte. */
static uint64_t reaching(const uint8_t *from, uint64_t add, bool low) {
    const uint64_t upper = UINT64_C(0x8080808080808080);
    uint64_t bytes;
    memcpy(&bytes, from, sizeof bytes);
    const uint64_t carried = (bytes & ~upper) + add;
    return (low ? carried | bytes : carried & bytes) & upper;
}

/* The first pixel from x on that reaches, or does not reach, `least`; the width: there is none. */
static uint32_t next(const uint8_t *map, uint32_t x, uint32_t width, uint8_t least, bool wanted) {
    const bool low = least <= 128;
    const uint64_t add = UINT64_C(0x0101010101010101) * (low ? 128u - least : 256u - least);
    const uint64_t all = wanted ? 0 : UINT64_C(0x8080808080808080);
    while (x + 8 <= width && reaching(map + x, add, low) == all) {
        x += 8;
    }
    while (x < width && (map[x] >= least) != wanted) {
        x++;
    }
    return x;
}

static void find_runs(struct row *row, const uint8_t *map, uint32_t width, uint8_t least) {
    row->runs = 0;
    for (uint32_t x = next(map, 0, width, least, true); x < width; x = next(map, x, width, least, true)) {
        struct run *run = &row->run[row->runs++];
        run->from = x;
        run->to = x = next(map, x, width, least, false);
    }
}

/* ---- components ---- */

/* Shortens the path on the way. */
static uint32_t root(struct row *above, uint32_t part) {
    while (above->part[part].into != part) {
        part = above->part[part].into = above->part[above->part[part].into].into;
    }
    return part;
}

static void merge(struct growing *to, const struct growing *from) {
    to->left = min_u32(to->left, from->left);
    to->top = min_u32(to->top, from->top);
    to->right = max_u32(to->right, from->right);
    to->bottom = max_u32(to->bottom, from->bottom);
    to->pixels += from->pixels;
    to->peak = to->peak > from->peak ? to->peak : from->peak;
    moments_add(&to->moments, &from->moments);
}

/* Makes one component of two; returns it. */
static uint32_t unite(struct row *above, uint32_t a, uint32_t b) {
    a = root(above, a), b = root(above, b);
    if (a != b) {
        const uint32_t first = min_u32(a, b), other = max_u32(a, b);
        merge(&above->part[first], &above->part[other]);
        above->part[other].into = first;
        return first;
    }
    return a;
}

static struct growing part_of(const struct run *run, const uint8_t *map, uint32_t y) {
    struct growing part = {
        .left = run->from, .top = y, .right = run->to, .bottom = y + 1, .pixels = run->to - run->from};
    for (uint32_t x = run->from; x < run->to; x++) {
        part.peak = part.peak > map[x] ? part.peak : map[x];
    }
    moments_add_run(&part.moments, run->from, run->to, y);
    return part;
}

/* Gives each run of a row its component in the list of the row above, to which new ones are added. */
static void connect(struct row *above, struct row *row, const uint8_t *map, uint32_t y) {
    uint32_t first = 0; /* run above that may touch */
    for (uint32_t i = 0; i < row->runs; i++) {
        struct run *run = &row->run[i];
        const struct growing own = part_of(run, map, y);
        uint32_t part = above->parts;
        while (first < above->runs && above->run[first].to < run->from) {
            first++;
        }
        for (uint32_t j = first; j < above->runs && above->run[j].from <= run->to; j++) {
            part = part == above->parts ? root(above, above->run[j].part)
                                        : unite(above, part, above->run[j].part);
        }
        if (part == above->parts) {
            above->part[above->parts++] = own;
            above->part[part].into = part;
        } else {
            merge(&above->part[part], &own);
        }
        run->part = part;
    }
}

static void put(const struct growing *part, const struct components_bounds *bounds,
                struct candidates *candidates) {
    if (part->peak >= bounds->peak && candidates->count++ < CANDIDATES_MAX) {
        struct candidate *to = &candidates->candidate[candidates->count - 1];
        *to = (struct candidate){.x = (uint16_t)part->left,
                                 .y = (uint16_t)part->top,
                                 .sum = {[COMPONENT_PEAK] = part->peak | bounds->mark << COMPONENT_MARK_SHIFT,
                                         [COMPONENT_RIGHT] = (int32_t)part->right,
                                         [COMPONENT_BOTTOM] = (int32_t)part->bottom,
                                         [COMPONENT_PIXELS] = (int32_t)part->pixels}};
        memcpy(&to->sum[COMPONENT_MOMENTS], &part->moments, sizeof part->moments);
    }
}

/* Copies the components that the row continues into its list, and writes the finished ones as candidates. */
static void carry(struct row *above, struct row *row, const struct components_bounds *bounds,
                  struct candidates *candidates) {
    for (uint32_t i = 0; i < above->parts; i++) {
        above->part[i].kept = 0;
    }
    row->parts = 0;
    for (uint32_t i = 0; i < row->runs; i++) {
        struct growing *part = &above->part[root(above, row->run[i].part)];
        if (part->kept == 0) {
            row->part[row->parts] = *part;
            row->part[row->parts].into = row->parts;
            part->kept = ++row->parts;
        }
        row->run[i].part = part->kept - 1;
    }
    for (uint32_t i = 0; i < above->parts; i++) {
        if (above->part[i].into == i && above->part[i].kept == 0) {
            put(&above->part[i], bounds, candidates);
        }
    }
}

bool components_bounds_of(const struct detector *detector, int32_t least, struct components_bounds *bounds) {
    const int32_t peak = least < detector->pixel_least ? detector->pixel_least : least;
    bounds->pixel = (uint8_t)detector->pixel_least;
    bounds->peak = (uint8_t)peak;
    bounds->mark = (uint8_t)detector->output;
    return peak <= UINT8_MAX;
}

enum status components_find(const uint8_t *map, size_t stride, uint32_t width, uint32_t height,
                            struct components_bounds bounds, int64_t deadline_ns, uint8_t *memory,
                            struct candidates *candidates, struct error *err) {
    enum { ROWS = 64 /* between two looks at the clock */ };
    struct row row[2];
    enum status status = ST_OK;
    place_rows(row, width, memory);
    for (uint32_t y = 0; y < height && status == ST_OK; y++, map += stride) {
        struct row *above = &row[y % 2], *below = &row[(y + 1) % 2];
        find_runs(below, map, width, bounds.pixel);
        connect(above, below, map, y);
        carry(above, below, &bounds, candidates);
        status = y % ROWS == 0 ? deadline_check(deadline_ns, err) : ST_OK;
    }
    row[(height + 1) % 2].runs = 0; /* nothing goes on */
    carry(&row[height % 2], &row[(height + 1) % 2], &bounds, candidates);
    candidates_sort(candidates);
    return status;
}

enum status components_select(struct candidates *candidates, unsigned mark, uint32_t marks,
                              struct error *err) {
    const uint32_t count = candidates->count < CANDIDATES_MAX ? candidates->count : CANDIDATES_MAX;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct candidate *from = &candidates->candidate[i];
        const uint32_t own = (uint32_t)from->sum[COMPONENT_PEAK] >> COMPONENT_MARK_SHIFT;
        if (own >= 32 || !(marks >> own & 1)) {
            return fail(err, ST_CORRUPT, "the search found what no detector looks for");
        }
        if (own == mark) {
            from->sum[COMPONENT_PEAK] &= UINT8_MAX;
            candidates->candidate[kept++] = *from;
        }
    }
    candidates->count = candidates->count > CANDIDATES_MAX ? candidates->count : kept;
    return ST_OK;
}
