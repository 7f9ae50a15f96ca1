/* SPDX-License-Identifier: MIT */
#include "filters/resize/cpu/resize_group.h"

#include <string.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/numbers.h"

enum {
    TILE = 256,  /* floats of a row that are summed at once, so that the tile's rows stay in the cache */
    STORED = 64, /* columns that are summed along rows at once */
    CACHE_LINE = 64,
    VALUES_KEPT = 64, /* values of a kernel that are not computed twice */
};

/* Working memory, and the rows of the group. */
struct group {
    const struct resize_group *all;
    float *lines;          /* RESIZE_BLOCK rows of TILE floats, as loaded */
    float *sums;           /* RESIZE_ROWS rows of TILE floats */
    float *turned;         /* the vertical sums of all columns */
    float *made;           /* STORED columns of the result, turned */
    float *flat;           /* the same as rows */
    float *weight;         /* of the rows */
    size_t most;           /* weights of a row */
    uint32_t first, count; /* rows of the target */
    struct resize_span span[RESIZE_ROWS];
    uint32_t from, to; /* rows of the source */
};

struct resize_span resize_group_weights(float *weight, int32_t kernel, const struct resize_plane_axis *axis,
                                        uint32_t size, uint32_t i) {
    const struct resize_taps taps =
        resize_taps_at(kernel, axis->scale, axis->begin, (int32_t)size, (int32_t)i);
    const struct resize_span span = {(uint32_t)taps.from, (uint32_t)(taps.to - taps.from)};
    if (taps.hi - taps.lo > VALUES_KEPT) {
        double sum = resize_taps_sum(&taps);
        for (int32_t j = taps.from; j < taps.to; j++) {
            *weight++ = resize_taps_weight(&taps, sum, j);
        }
        return span;
    }
    double value[VALUES_KEPT], sum = 0;
    if (taps.kernel == RESIZE_LANCZOS3) { /* a loop that the compiler vectorises */
        for (int32_t j = taps.lo; j < taps.hi; j++) {
            value[j - taps.lo] = resize_taps_lanczos3(resize_taps_place(&taps, j));
        }
    } else {
        for (int32_t j = taps.lo; j < taps.hi; j++) {
            value[j - taps.lo] = resize_taps_value(&taps, j);
        }
    }
    for (int32_t j = taps.lo; j < taps.hi; j++) {
        sum = sum + value[j - taps.lo];
    }
    for (int32_t j = taps.from, next = taps.lo; j < taps.to; j++) {
        double added = value[next++ - taps.lo];
        const int32_t end = j == taps.to - 1 ? taps.hi : j + 1;
        while (next < end) {
            added = added + value[next++ - taps.lo];
        }
        *weight++ = (float)(added / sum);
    }
    return span;
}

/* ---- memory ---- */

/* Returns memory for the floats, *bytes behind `begin`, and adds its size to *bytes. */
static float *take(uint8_t *begin, size_t *bytes, size_t floats) {
    float *taken = begin ? (float *)(void *)(begin + *bytes) : NULL;
    *bytes += bytes_align_up(floats * sizeof(float), IMAGE_ALIGNMENT);
    return taken;
}

/* Lays the group over memory at `begin` (NULL: only counts); returns the bytes. */
static size_t place(struct group *group, uint8_t *begin) {
    const struct resize_group *all = group->all;
    size_t channels = all->format.channels;
    size_t columns = (size_t)(all->columns->to - all->columns->from) * channels;
    size_t bytes = 0;
    group->most = (size_t)resize_taps_most(all->kernel, all->y.scale, (int32_t)all->source->height);
    group->lines = take(begin, &bytes, (size_t)RESIZE_BLOCK * TILE);
    group->sums = take(begin, &bytes, (size_t)RESIZE_ROWS * TILE);
    group->turned = take(begin, &bytes, (columns + RESIZE_ROWS) * RESIZE_ROWS);
    group->made = take(begin, &bytes, STORED * channels * RESIZE_ROWS);
    group->flat = take(begin, &bytes, STORED * channels * RESIZE_ROWS);
    group->weight = take(begin, &bytes, group->most * RESIZE_ROWS);
    return bytes;
}

size_t resize_group_bytes(const struct resize_group *all) {
    struct group group = {.all = all};
    return place(&group, NULL);
}

/* ---- vertical sums ---- */

static void choose_rows(struct group *group, uint32_t index) {
    const struct resize_group *all = group->all;
    group->first = index * RESIZE_ROWS;
    group->count = min_u32(RESIZE_ROWS, all->y.count - group->first);
    group->from = UINT32_MAX;
    for (uint32_t r = 0; r < group->count; r++) {
        group->span[r] = resize_group_weights(group->weight + r * group->most, all->kernel, &all->y,
                                              all->source->height, group->first + r);
        group->from = min_u32(group->from, group->span[r].from);
        group->to = max_u32(group->to, group->span[r].from + group->span[r].count);
    }
}

/* Adds rows from to to - 1 of the source to the sums of the rows that they have a weight in. */
static void add_lines(const struct group *group, uint32_t from, uint32_t to, size_t n) {
    const struct row_set *rows = group->all->rows;
    for (uint32_t r = 0; r < group->count; r++) {
        const struct resize_span *span = &group->span[r];
        uint32_t low = max_u32(from, span->from), high = min_u32(to, span->from + span->count);
        if (low >= high) {
            continue;
        }
        const float *row[RESIZE_BLOCK];
        for (uint32_t y = low; y < high; y++) {
            row[y - low] = group->lines + (size_t)(y - from) * TILE;
        }
        const float *weight = group->weight + r * group->most + (low - span->from);
        (low == span->from ? rows->filter.weigh : rows->resize.weigh_more)(group->sums + (size_t)r * TILE,
                                                                           row, weight, high - low, n);
    }
}

/* Has the next block of rows brought to the cache while the sums of this one are computed. */
static void fetch_lines(const struct group *group, uint32_t from, size_t offset, size_t bytes) {
    uint32_t to = min_u32(group->to, from + RESIZE_BLOCK);
    for (uint32_t y = from; y < to; y++) {
        const uint8_t *row = plane_row(group->all->source, y) + offset;
        for (size_t i = 0; i < bytes; i += CACHE_LINE) {
            __builtin_prefetch(row + i);
        }
    }
}

/* Sums up pixels x to x + pixels - 1 of the source, and turns the sums. */
static void sum_tile(const struct group *group, uint32_t x, uint32_t pixels) {
    const struct resize_group *all = group->all;
    size_t pixel = all->format.channels * (all->format.depth / 8);
    size_t n = (size_t)pixels * all->format.channels;
    for (uint32_t from = group->from, to; from < group->to; from = to) {
        to = min_u32(group->to, from - from % RESIZE_BLOCK + RESIZE_BLOCK);
        for (uint32_t y = from; y < to; y++) {
            all->rows->floating.load(group->lines + (size_t)(y - from) * TILE,
                                     plane_row(all->source, y) + x * pixel, &all->format, pixels);
        }
        fetch_lines(group, to, x * pixel, pixels * pixel);
        add_lines(group, from, to, n);
    }
    float *turned = group->turned + (size_t)(x - all->columns->from) * all->format.channels * RESIZE_ROWS;
    for (size_t i = 0; i < n; i += RESIZE_ROWS) {
        all->rows->resize.turn(turned + i * RESIZE_ROWS, RESIZE_ROWS, group->sums + i, TILE);
    }
}

static bool sum_columns(const struct group *group) {
    const struct resize_group *all = group->all;
    uint32_t tile = TILE / all->format.channels;
    for (uint32_t x = all->columns->from, pixels; x < all->columns->to; x += pixels) {
        if (all->deadline_ns && clock_ns() > all->deadline_ns) {
            return false;
        }
        pixels = min_u32(tile, all->columns->to - x);
        sum_tile(group, x, pixels);
    }
    return true;
}

/* ---- horizontal sums ---- */

static void store_columns(const struct group *group, uint32_t x, uint32_t pixels) {
    const struct resize_group *all = group->all;
    const struct row_format *format = &all->format;
    size_t stride = (size_t)STORED * format->channels, n = (size_t)pixels * format->channels;
    size_t offset = (size_t)(all->x.first + x) * format->channels * (format->depth / 8);
    for (size_t i = 0; i < n; i += RESIZE_ROWS) {
        all->rows->resize.turn(group->flat + i, stride, group->made + i * RESIZE_ROWS, RESIZE_ROWS);
    }
    for (uint32_t r = 0; r < group->count; r++) {
        float *row = group->flat + r * stride;
        if (format->alpha) {
            all->rows->filter.colour(row, row, 0, format->channels, pixels);
        }
        all->rows->filter.store(plane_row(all->target, all->y.first + group->first + r) + offset, row,
                                format->depth, n);
    }
}

static void sum_rows(const struct group *group) {
    const struct resize_group *all = group->all;
    const struct resize_columns *columns = all->columns;
    for (uint32_t x = 0, pixels; x < all->x.count; x += pixels) {
        pixels = min_u32(STORED, all->x.count - x);
        all->rows->resize.columns(group->made, group->turned, columns->from, columns->span + x,
                                  columns->weight + x * columns->most, columns->most, all->format.channels,
                                  pixels);
        store_columns(group, x, pixels);
    }
}

bool resize_group_run(const struct resize_group *all, uint32_t index, uint8_t *memory) {
    struct group group = {.all = all};
    place(&group, memory);
    choose_rows(&group, index);
    if (group.count < RESIZE_ROWS) { /* rows without a sum are turned, too */
        memset(group.sums, 0, (size_t)RESIZE_ROWS * TILE * sizeof(float));
    }
    if (!sum_columns(&group)) {
        return false;
    }
    sum_rows(&group);
    return true;
}
