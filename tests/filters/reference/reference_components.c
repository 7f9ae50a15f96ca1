/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_components.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take_memory(size_t size) {
    void *memory = malloc(size);
    if (!memory) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    return memory;
}

/* Pixels that touch get the number of the first one; the others UINT32_MAX. */
static uint32_t *components(const int32_t *map, int width, int height, int32_t least) {
    uint32_t *labels = take_memory((size_t)width * (size_t)height * sizeof *labels);
    bool changed = true;
    for (int i = 0; i < width * height; i++) {
        labels[i] = map[i] >= least ? (uint32_t)i : UINT32_MAX;
    }
    for (bool back = false; changed; back = !back) {
        changed = false;
        for (int n = 0; n < width * height; n++) {
            const int i = back ? width * height - 1 - n : n;
            for (int by = 0; by < 9 && labels[i] != UINT32_MAX; by++) {
                const int x = i % width + by % 3 - 1, y = i / width + by / 3 - 1;
                if (x >= 0 && y >= 0 && x < width && y < height && labels[y * width + x] < labels[i]) {
                    labels[i] = labels[y * width + x];
                    changed = true;
                }
            }
        }
    }
    return labels;
}

static int by_place(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    const int order = one->y != other->y ? one->y - other->y : one->x - other->x;
    return order != 0 ? order : memcmp(one->sum, other->sum, sizeof one->sum);
}

static int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static void add_pixel(struct candidate *to, int32_t x, int32_t y, int32_t value) {
    to->x = x < to->x ? (uint16_t)x : to->x;
    to->y = y < to->y ? (uint16_t)y : to->y;
    to->sum[COMPONENT_PEAK] = larger(to->sum[COMPONENT_PEAK], value);
    to->sum[COMPONENT_RIGHT] = larger(to->sum[COMPONENT_RIGHT], x + 1);
    to->sum[COMPONENT_BOTTOM] = larger(to->sum[COMPONENT_BOTTOM], y + 1);
    to->sum[COMPONENT_PIXELS]++;
    struct moments moments;
    memcpy(&moments, &to->sum[COMPONENT_MOMENTS], sizeof moments);
    moments.x += (uint64_t)x;
    moments.y += (uint64_t)y;
    moments.xx += (uint64_t)x * (uint64_t)x;
    moments.xy += (uint64_t)x * (uint64_t)y;
    moments.yy += (uint64_t)y * (uint64_t)y;
    memcpy(&to->sum[COMPONENT_MOMENTS], &moments, sizeof moments);
}

void reference_components(const int32_t *map, uint32_t width, uint32_t height,
                          struct components_bounds bounds, struct candidates *expected) {
    uint32_t *labels = components(map, (int)width, (int)height, bounds.pixel);
    uint32_t *place = take_memory((size_t)width * height * sizeof *place);
    struct candidate *all = take_memory((size_t)width * height * sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < width * height; i++) {
        if (labels[i] == i) {
            place[i] = count;
            all[count++] = (struct candidate){.x = UINT16_MAX, .y = UINT16_MAX};
        }
        if (labels[i] != UINT32_MAX) {
            add_pixel(&all[place[labels[i]]], (int32_t)(i % width), (int32_t)(i / width), map[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].sum[COMPONENT_PEAK] >= bounds.peak && expected->count++ < CANDIDATES_MAX) {
            all[i].sum[COMPONENT_PEAK] |= bounds.mark << COMPONENT_MARK_SHIFT;
            expected->candidate[expected->count - 1] = all[i];
        }
    }
    if (expected->count > CANDIDATES_MAX) {
        memset(expected->candidate, 0, sizeof expected->candidate);
    } else {
        qsort(expected->candidate, expected->count, sizeof expected->candidate[0], by_place);
    }
    free(all);
    free(place);
    free(labels);
}
