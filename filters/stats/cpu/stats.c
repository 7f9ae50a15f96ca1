/* SPDX-License-Identifier: MIT
 * 8-bit samples are counted in histograms only; 16-bit samples have sums and extremes as well. */
#include "cpu/filter.h"

#include <string.h>

#include "cpu/bands.h"

enum {
    PARTS = 4,     /* neighbours use different counters, since equal samples would wait for each other */
    COVERED = 128, /* least coverage of a counted pixel */
    WIDE_HISTOGRAM = 256 /* 16-bit sample values in a bin */
};

/* The counters of a seat. */
struct tally {
    uint32_t count[STATS_CHANNELS_MAX][PARTS][STATS_BINS]; /* the last `pending` pixels */
    uint32_t pending;
    struct measure measure; /* 16 bits only */
    struct stats stats;     /* all earlier pixels; sums and extremes follow at the end */
};

/* The loops take depth and channels as constants, so that the compiler unrolls them. */
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

/* Moves the counts to the statistics before they overflow. */
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

/* Takes sums and extremes from a histogram whose bins are the samples themselves. */
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
    for (unsigned lane = index; lane < MEASURE_LANES; lane += channels) {
        uint64_t minimum = measure->minimum[lane];
        uint64_t maximum = measure->maximum[lane];
        channel->sum += measure->sum[lane];
        channel->squares += measure->squares[lane];
        channel->minimum = minimum < channel->minimum ? minimum : channel->minimum;
        channel->maximum = maximum > channel->maximum ? maximum : channel->maximum;
    }
}

static void gather(struct tally *tally, const struct image *source, struct stats *stats) {
    unsigned channels = source->plane[0].channels;
    flush(tally, &tally->stats);
    stats->pixels += tally->stats.pixels;
    for (unsigned c = 0; c < channels; c++) {
        for (unsigned bin = 0; bin < STATS_BINS; bin++) {
            stats->channel[c].histogram[bin] += tally->stats.channel[c].histogram[bin];
        }
        if (source->depth == 16) {
            finish_wide(&stats->channel[c], &tally->measure, c, channels);
        }
    }
}

static void finish(const struct image *source, struct stats *stats) {
    for (unsigned c = 0; c < source->plane[0].channels; c++) {
        if (stats->pixels == 0) {
            stats->channel[c].minimum = 0;
        } else if (source->depth == 8) {
            finish_narrow(&stats->channel[c]);
        }
    }
}

struct counting {
    const struct row_set *rows;
    const struct image *source;
    const struct image *mask;
    struct tally *tally;
};

static void count_band(const void *context, const struct band *band) {
    const struct counting *all = context;
    struct tally *tally = &all->tally[band->seat];
    for (uint32_t y = band->from; y < band->to; y++) {
        if (all->source->width > UINT32_MAX - tally->pending) {
            flush(tally, &tally->stats);
        }
        if (all->mask) {
            count_covered(all->rows, tally, all->source, y, plane_row(&all->mask->plane[0], y));
        } else {
            count_run(all->rows, tally, all->source, y, 0, all->source->width);
        }
    }
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    (void)rows, (void)planned, (void)source;
    return (struct scratch_need){.seat = sizeof(struct tally)};
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct plane *plane = &source->plane[0];
    struct counting all = {.rows = context->rows, .source = source, .mask = context->mask};
    struct pass pass = {.rows = {plane->height},
                        .cost = {(uint64_t)plane->width * plane->channels},
                        .band = count_band,
                        .context = &all,
                        .deadline_ns = context->deadline_ns};
    const struct scratch_need own = need(context->rows, planned, source);
    unsigned seats = bands_seats(context->crew, &pass, own.seat);
    enum status status = scratch_seats(context->scratch, &own, &seats, err);
    if (status != ST_OK) {
        return status;
    }
    all.tally = (struct tally *)(void *)context->scratch->memory;
    for (unsigned i = 0; i < seats; i++) {
        memset(&all.tally[i], 0, sizeof all.tally[i]);
        memset(all.tally[i].measure.minimum, 0xff, sizeof all.tally[i].measure.minimum);
    }
    status = bands_run(context->crew, seats, &pass, err);
    if (status != ST_OK) {
        return status;
    }
    struct stats *stats = (struct stats *)(void *)plane_row(&target->plane[0], 0);
    memset(stats, 0, sizeof *stats);
    for (unsigned c = 0; c < plane->channels; c++) {
        stats->channel[c].minimum = UINT16_MAX;
    }
    for (unsigned i = 0; i < seats; i++) {
        gather(&all.tally[i], source, stats);
    }
    finish(source, stats);
    return ST_OK;
}

const struct cpu_filter cpu_filter_stats = {.run = run, .need = need};
