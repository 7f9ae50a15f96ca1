/* SPDX-License-Identifier: MIT
 * Histograms, which tell everything about samples of 8 bits; for 16 bits sums and extremes beside them. */
#include "cpu/stats.h"

#include <string.h>

enum {
    PARTS = 4,           /* neighbours are counted apart: equal ones would wait for each other */
    COVERED = 128,       /* a mask's least coverage that counts */
    WIDE_HISTOGRAM = 256 /* samples of 16 bits in a bin */
};

struct tally {
    uint32_t count[STATS_CHANNELS_MAX][PARTS][STATS_BINS]; /* of the last `pending` pixels */
    uint32_t pending;
    struct measure measure; /* 16 bits only */
};

/* The loops take depth and channels as constants, so that they are unrolled. */
static inline __attribute__((always_inline)) void count_of(struct tally *tally, const void *row, size_t first,
                                                           size_t pixels, unsigned depth, unsigned channels) {
    const uint8_t *narrow = (const uint8_t *)row + (depth == 8 ? first * channels : 0);
    const uint16_t *wide = (const uint16_t *)row + (depth == 8 ? 0 : first * channels);
    for (size_t i = 0; i < pixels; i++) {
        for (unsigned c = 0; c < channels; c++) {
            unsigned bin = depth == 8 ? narrow[i * channels + c] : wide[i * channels + c] / WIDE_HISTOGRAM;
            tally->count[c][i % PARTS][bin]++;
        }
    }
}

static inline __attribute__((always_inline)) void count_depth(struct tally *tally, const void *row,
                                                              size_t first, size_t pixels, unsigned depth,
                                                              unsigned channels) {
    switch (channels) {
    case 1:
        count_of(tally, row, first, pixels, depth, 1);
        break;
    case 2:
        count_of(tally, row, first, pixels, depth, 2);
        break;
    case 3:
        count_of(tally, row, first, pixels, depth, 3);
        break;
    default:
        count_of(tally, row, first, pixels, depth, 4);
        break;
    }
}

/* Counts pixels of a row, from `first` on. */
static void count_run(const struct row_set *rows, struct tally *tally, const struct image *source, uint32_t y,
                      uint32_t first, uint32_t pixels) {
    unsigned channels = source->plane[0].channels;
    const uint8_t *row = plane_row(&source->plane[0], y);
    tally->pending += pixels;
    if (source->depth == 8) {
        count_depth(tally, row, first, pixels, 8, channels);
        return;
    }
    count_depth(tally, row, first, pixels, 16, channels);
    const uint16_t *samples = (const uint16_t *)(const void *)row;
    rows->filter.measure(&tally->measure, samples + (size_t)first * channels, (size_t)pixels * channels);
}

/* Counts the pixels of a row that the mask covers, run by run. */
static void count_covered(const struct row_set *rows, struct tally *tally, const struct image *source,
                          uint32_t y, const uint8_t *coverage) {
    uint32_t x = 0;
    while (x < source->width) {
        uint32_t first = x;
        bool covered = coverage[x] >= COVERED;
        while (x < source->width && (coverage[x] >= COVERED) == covered) {
            x++;
        }
        if (covered) {
            count_run(rows, tally, source, y, first, x - first);
        }
    }
}

/* Moves the counts to the result, before they could overflow. */
static void flush(struct tally *tally, struct stats *stats) {
    stats->pixels += tally->pending;
    for (unsigned c = 0; c < STATS_CHANNELS_MAX; c++) {
        for (unsigned part = 0; part < PARTS; part++) {
            for (unsigned bin = 0; bin < STATS_BINS; bin++) {
                stats->channel[c].histogram[bin] += tally->count[c][part][bin];
            }
        }
    }
    memset(tally->count, 0, sizeof tally->count);
    tally->pending = 0;
}

/* Sums and extremes out of a histogram whose bins are the samples themselves. */
static void finish_narrow(struct stats_channel *channel) {
    channel->minimum = STATS_BINS;
    for (uint64_t value = 0; value < STATS_BINS; value++) {
        uint64_t count = channel->histogram[value];
        channel->sum += value * count;
        channel->squares += value * value * count;
        if (count) {
            channel->minimum = value < channel->minimum ? value : channel->minimum;
            channel->maximum = value;
        }
    }
}

static void finish_wide(struct stats_channel *channel, const struct measure *measure, unsigned index,
                        unsigned channels) {
    channel->minimum = UINT16_MAX;
    for (unsigned lane = index; lane < MEASURE_LANES; lane += channels) {
        uint64_t minimum = measure->minimum[lane];
        uint64_t maximum = measure->maximum[lane];
        channel->sum += measure->sum[lane];
        channel->squares += measure->squares[lane];
        channel->minimum = minimum < channel->minimum ? minimum : channel->minimum;
        channel->maximum = maximum > channel->maximum ? maximum : channel->maximum;
    }
}

static void finish(const struct tally *tally, const struct image *source, struct stats *stats) {
    unsigned channels = source->plane[0].channels;
    for (unsigned c = 0; c < channels && stats->pixels > 0; c++) {
        if (source->depth == 8) {
            finish_narrow(&stats->channel[c]);
        } else {
            finish_wide(&stats->channel[c], &tally->measure, c, channels);
        }
    }
}

enum status cpu_stats(const struct row_set *rows, struct scratch *scratch, const struct image *source,
                      const struct image *mask, const struct image *target, struct error *err) {
    enum status status = scratch_reserve(scratch, sizeof(struct tally), err);
    if (status != ST_OK) {
        return status;
    }
    struct tally *tally = (struct tally *)(void *)scratch->memory;
    struct stats *stats = (struct stats *)(void *)plane_row(&target->plane[0], 0);
    memset(tally, 0, sizeof *tally);
    memset(tally->measure.minimum, 0xff, sizeof tally->measure.minimum);
    memset(stats, 0, sizeof *stats);
    for (uint32_t y = 0; y < source->height; y++) {
        if (source->width > UINT32_MAX - tally->pending) {
            flush(tally, stats);
        }
        if (mask) {
            count_covered(rows, tally, source, y, plane_row(&mask->plane[0], y));
        } else {
            count_run(rows, tally, source, y, 0, source->width);
        }
    }
    flush(tally, stats);
    finish(tally, source, stats);
    return ST_OK;
}
