/* SPDX-License-Identifier: MIT */
#include "detect/sort.h"

#include <stdint.h>
#include <string.h>

struct sorting {
    uint8_t *items;
    size_t count, size;
    int (*compare)(const void *, const void *);
};

static uint8_t *item(const struct sorting *sorting, size_t i) {
    return sorting->items + i * sorting->size;
}

/* Moves entry i down to its place; the last in order is at the top. */
static void sift(const struct sorting *sorting, size_t i) {
    uint8_t moved[SORT_ITEM_MAX];
    memcpy(moved, item(sorting, i), sorting->size);
    for (size_t child; (child = 2 * i + 1) < sorting->count; i = child) {
        if (child + 1 < sorting->count &&
            sorting->compare(item(sorting, child), item(sorting, child + 1)) < 0) {
            child++;
        }
        if (sorting->compare(moved, item(sorting, child)) >= 0) {
            break;
        }
        memcpy(item(sorting, i), item(sorting, child), sorting->size);
    }
    memcpy(item(sorting, i), moved, sorting->size);
}

void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    struct sorting sorting = {items, count, size, compare};
    for (size_t i = count / 2; i-- > 0;) {
        sift(&sorting, i);
    }
    while (sorting.count > 1) {
        uint8_t last[SORT_ITEM_MAX];
        sorting.count--;
        memcpy(last, item(&sorting, 0), size);
        memcpy(item(&sorting, 0), item(&sorting, sorting.count), size);
        memcpy(item(&sorting, sorting.count), last, size);
        sift(&sorting, 0);
    }
}
