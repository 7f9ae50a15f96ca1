/* SPDX-License-Identifier: MIT
 * Small windows are sorted by networks. Histograms do the others: of samples of 8 bits, or of 256 bins of
 * equal numbers of samples. The median of 16 bits is in the bin that the histogram finds, and is searched
 * among these samples of the tile: so many that the time is bounded for every picture. */
#include "filters/median/cpu/median_channel.h"

#include <string.h>

#include "core/bytes.h"
#include "core/image.h"

enum { BINS = 256, NETWORK_RADIUS = 2 };

static uint8_t *take(uint8_t *memory, size_t *offset, size_t size) {
    size_t at = *offset;
    *offset += bytes_align_up(size, IMAGE_ALIGNMENT);
    return memory ? memory + at : NULL;
}

size_t median_tile_place(struct median_tile *tile, uint8_t *memory) {
    const size_t columns = tile->width + 2 * (size_t)tile->radius_x;
    tile->stride = bytes_align_up(columns, IMAGE_ALIGNMENT);
    const size_t all = tile->stride * (tile->height + 2 * (size_t)tile->radius_y),
                 results = tile->stride * tile->height;
    const size_t entries = tile->bytes == 2 ? all + MEDIAN_ENTRY_BLOCK : 0;
    size_t size = 0;
    for (unsigned c = 0; c < tile->channels; c++) {
        tile->sample[c] = take(memory, &size, all * tile->bytes);
        tile->result[c] = take(memory, &size, results * tile->bytes);
    }
    tile->weight = (uint16_t *)(void *)take(memory, &size, tile->alpha ? all * sizeof *tile->weight : 0);
    tile->line = take(memory, &size, tile->stride * tile->channels * tile->bytes);
    tile->rest =
        (uint32_t *)(void *)take(memory, &size, tile->alpha || entries ? results * sizeof *tile->rest : 0);
    tile->bin = take(memory, &size, entries);
    tile->median = take(memory, &size, entries ? results : 0);
    tile->value = (uint16_t *)(void *)take(memory, &size, entries * sizeof *tile->value);
    tile->sorted_weight = (uint16_t *)(void *)take(memory, &size, entries * sizeof *tile->sorted_weight);
    tile->place = (uint16_t *)(void *)take(memory, &size, entries * sizeof *tile->place);
    tile->order = (uint16_t *)(void *)take(memory, &size, entries * sizeof *tile->order);
    tile->x = take(memory, &size, entries);
    tile->y = take(memory, &size, entries);
    tile->columns = take(memory, &size, columns * MEDIAN_COLUMN_BYTES);
    return size;
}

static void networks(const struct median_tile *tile, unsigned channel) {
    const unsigned side = 2 * tile->radius_y + 1;
    const size_t row = tile->stride * tile->bytes;
    for (uint32_t y = 0; y < tile->height; y++) {
        const void *rows[2 * NETWORK_RADIUS + 1];
        for (unsigned i = 0; i < side; i++) {
            rows[i] = tile->sample[channel] + (y + i) * row;
        }
        tile->rows->median(tile->result[channel] + y * row, rows, side, tile->bytes, tile->width);
    }
}

static struct median_histogram histogram_of(const struct median_tile *tile, bool weighted) {
    return (struct median_histogram){.weight = weighted ? tile->weight : NULL,
                                     .heavy = tile->bytes == 2,
                                     .stride = tile->stride,
                                     .width = tile->width,
                                     .height = tile->height,
                                     .radius_x = tile->radius_x,
                                     .radius_y = tile->radius_y,
                                     .memory = tile->columns};
}

static void narrow(const struct median_tile *tile, unsigned channel, bool weighted) {
    struct median_histogram job = histogram_of(tile, weighted);
    job.bin = tile->sample[channel];
    job.median = tile->result[channel];
    job.rest = weighted ? tile->rest : NULL;
    tile->rows->histogram(&job);
}

/* Sorts the places of the samples, y * 256 + x, by one byte of the samples after the other. */
static void sort(const struct median_tile *tile, const uint16_t *sample, uint32_t columns, uint32_t rows) {
    uint32_t low[BINS + 1] = {0}, high[BINS + 1] = {0};
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            unsigned value = sample[y * tile->stride + x];
            low[value % 256 + 1]++;
            high[value / 256 + 1]++;
        }
    }
    for (unsigned i = 0; i < BINS; i++) {
        low[i + 1] += low[i];
        high[i + 1] += high[i];
    }
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            tile->place[low[sample[y * tile->stride + x] % 256]++] = (uint16_t)(y * 256 + x);
        }
    }
    for (uint32_t i = 0; i < rows * columns; i++) {
        unsigned place = tile->place[i];
        tile->order[high[sample[place / 256 * tile->stride + place % 256] / 256]++] = (uint16_t)place;
    }
}

/* Lists the samples in order, and gives each its bin. */
static struct median_entries list(const struct median_tile *tile, unsigned channel, bool weighted) {
    const uint16_t *sample = (const uint16_t *)(const void *)tile->sample[channel];
    const uint32_t columns = tile->width + 2 * tile->radius_x, rows = tile->height + 2 * tile->radius_y;
    const uint32_t count = columns * rows;
    const uint32_t bin = (uint32_t)bytes_align_up((count + BINS - 1) / BINS, MEDIAN_ENTRY_BLOCK);
    sort(tile, sample, columns, rows);
    for (uint32_t i = 0; i < count; i++) {
        unsigned x = tile->order[i] % 256, y = tile->order[i] / 256;
        size_t at = y * tile->stride + x;
        tile->value[i] = sample[at];
        tile->x[i] = (uint8_t)x;
        tile->y[i] = (uint8_t)y;
        tile->bin[at] = (uint8_t)(i / bin);
        if (weighted) {
            tile->sorted_weight[i] = tile->weight[at];
        }
    }
    memset(tile->y + count, 255, MEDIAN_ENTRY_BLOCK);
    return (struct median_entries){.value = tile->value,
                                   .weight = weighted ? tile->sorted_weight : NULL,
                                   .x = tile->x,
                                   .y = tile->y,
                                   .bin = bin};
}

static void wide(const struct median_tile *tile, unsigned channel, bool weighted) {
    const struct median_entries entries = list(tile, channel, weighted);
    struct median_histogram job = histogram_of(tile, weighted);
    job.bin = tile->bin;
    job.median = tile->median;
    job.rest = tile->rest;
    tile->rows->histogram(&job);
    uint16_t *result = (uint16_t *)(void *)tile->result[channel];
    struct median_window window = {.width = (uint8_t)(2 * tile->radius_x + 1),
                                   .height = (uint8_t)(2 * tile->radius_y + 1)};
    for (uint32_t y = 0; y < tile->height; y++) {
        size_t at = y * tile->stride;
        window.y = (uint8_t)y;
        tile->rows->select(result + at, &entries, tile->median + at, tile->rest + at, &window, tile->width);
    }
}

void median_channel(const struct median_tile *tile, unsigned channel, bool weighted) {
    if (!weighted && tile->radius_x == tile->radius_y && tile->radius_x <= NETWORK_RADIUS) {
        networks(tile, channel);
    } else if (tile->bytes == 1) {
        narrow(tile, channel, weighted);
    } else {
        wide(tile, channel, weighted);
    }
}
