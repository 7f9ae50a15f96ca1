/* SPDX-License-Identifier: MIT
 * Medians of a tile of one channel, in the working memory of a seat. */
#ifndef BLURD_FILTERS_MEDIAN_CPU_MEDIAN_CHANNEL_H
#define BLURD_FILTERS_MEDIAN_CPU_MEDIAN_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/rows/rows.h"

enum { MEDIAN_CHANNELS_MAX = 4 };

struct median_tile {
    const struct rank_rows *rows;
    uint32_t radius_x, radius_y;
    uint32_t width, height; /* of the results: sides of the largest tile, when memory is laid out */
    unsigned bytes;         /* of a sample: 1 or 2 */
    unsigned channels;
    bool alpha;    /* the last channel is */
    size_t stride; /* elements of a row with margins */

    /* The samples with margins and the medians, channel by channel, and alpha as 16 bits. */
    uint8_t *sample[MEDIAN_CHANNELS_MAX], *result[MEDIAN_CHANNELS_MAX];
    uint16_t *weight;
    uint8_t *line; /* a row of the picture */

    /* Memory of median_channel(). */
    uint8_t *bin, *median;
    uint32_t *rest;
    uint16_t *value, *sorted_weight, *place, *order;
    uint8_t *x, *y;
    void *columns;
};

/* Lays out the memory of a tile whose numbers are set (NULL: only counts), and returns the bytes. */
size_t median_tile_place(struct median_tile *tile, uint8_t *memory);

/* Makes the medians of a channel; with `weighted` samples count as often as their weight says. */
void median_channel(const struct median_tile *tile, unsigned channel, bool weighted);

#endif
