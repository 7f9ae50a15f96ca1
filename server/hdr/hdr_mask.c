/* SPDX-License-Identifier: MIT */
#include "server/hdr/hdr_mask.h"

/* The pixels of a side that sample `at` stands for: from *from to *to - 1. */
static void range(uint32_t at, uint32_t base, uint32_t map, uint32_t *from, uint32_t *to) {
    *from = (uint32_t)((uint64_t)at * base / map);
    *to = (uint32_t)(((uint64_t)(at + 1) * base + map - 1) / map);
}

static uint8_t mean_of(const struct image *base, bool outward, uint32_t left, uint32_t right, uint32_t top,
                       uint32_t bottom) {
    uint64_t sum = 0, count = (uint64_t)(right - left) * (bottom - top);
    for (uint32_t y = top; y < bottom; y++) {
        const uint8_t *row = plane_row(&base->plane[0], y);
        for (uint32_t x = left; x < right; x++) {
            sum += row[x];
        }
    }
    return (uint8_t)(outward ? (sum > 0) * (uint64_t)UINT8_MAX : (sum + count / 2) / count);
}

void hdr_mask_reduce(const struct image *base, bool outward, const struct image *map) {
    for (uint32_t y = 0; y < map->height; y++) {
        uint8_t *row = plane_row(&map->plane[0], y);
        uint32_t top, bottom, left, right;
        range(y, base->height, map->height, &top, &bottom);
        for (uint32_t x = 0; x < map->width; x++) {
            range(x, base->width, map->width, &left, &right);
            row[x] = mean_of(base, outward, left, right, top, bottom);
        }
    }
}
