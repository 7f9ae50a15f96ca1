/* SPDX-License-Identifier: MIT
 * Medians by histograms of columns (Perreault and Hebert 2007), in two levels of 16 counts. A count tells how
 * many samples are less, so that one vector addition counts a sample, and the number of counts below the
 * wanted one is the median. The window's fine counts follow only where a median lies.
 *
 * Included once per kind of count, after the definition of
 *     HISTOGRAM_COLUMN, HISTOGRAM_SUM   vectors of 16 counts: of a column, of a window (signed)
 *     HISTOGRAM_COUNT                   an element of the latter
 *     HISTOGRAM_WEIGHT                  an element of the former, where samples have weights
 *     HISTOGRAM_LESS                    from 16 - v on: what v adds to 16 counts, or a mask of its weight
 *     HISTOGRAM_WEIGHTED                samples count as often as their weight says, else once
 *     HISTOGRAM(name)                   names of this kind */

struct HISTOGRAM(columns) {
    HISTOGRAM_COLUMN *coarse; /* of each column */
    HISTOGRAM_COLUMN *fine;   /* the same for each coarse value */
    HISTOGRAM_COUNT *total;   /* weighted only */
    size_t count;             /* columns */
};

struct HISTOGRAM(window) {
    HISTOGRAM_SUM coarse;
    HISTOGRAM_SUM fine[16];
    int32_t first[16]; /* the first column that the fine counts have; negative: none */
    HISTOGRAM_COUNT total;
};

static inline int HISTOGRAM(below)(const HISTOGRAM_SUM *counts, HISTOGRAM_COUNT limit) {
#if HISTOGRAM_WEIGHTED
    const HISTOGRAM_SUM less = (*counts - limit) >> 31;
    return histogram_true(&less);
#else
    const uint64_t ones = UINT64_C(0x0101010101010101);
    bytes16 mask = __builtin_convertvector(*counts < limit, bytes16);
    uint64_t half[2];
    memcpy(half, &mask, sizeof half);
    return (int)((((half[0] & ones) + (half[1] & ones)) * ones) >> 56);
#endif
}

/* Fills in what a sample adds to 16 counts. */
static inline void HISTOGRAM(step)(HISTOGRAM_COLUMN *step, unsigned value, unsigned weight) {
    memcpy(step, HISTOGRAM_LESS + 16 - value, sizeof *step);
#if HISTOGRAM_WEIGHTED
    *step &= (HISTOGRAM_WEIGHT)weight;
#else
    (void)weight;
#endif
}

static inline void HISTOGRAM(enter)(const struct HISTOGRAM(columns) * columns, size_t x, unsigned value,
                                    unsigned weight) {
    HISTOGRAM_COLUMN coarse, fine;
    HISTOGRAM(step)(&coarse, value >> 4, weight);
    HISTOGRAM(step)(&fine, value & 15, weight);
    columns->coarse[x] += coarse;
    columns->fine[(value >> 4) * columns->count + x] += fine;
#if HISTOGRAM_WEIGHTED
    columns->total[x] += (HISTOGRAM_COUNT)weight;
#endif
}

static inline void HISTOGRAM(leave)(const struct HISTOGRAM(columns) * columns, size_t x, unsigned value,
                                    unsigned weight) {
    HISTOGRAM_COLUMN coarse, fine;
    HISTOGRAM(step)(&coarse, value >> 4, weight);
    HISTOGRAM(step)(&fine, value & 15, weight);
    columns->coarse[x] -= coarse;
    columns->fine[(value >> 4) * columns->count + x] -= fine;
#if HISTOGRAM_WEIGHTED
    columns->total[x] -= (HISTOGRAM_COUNT)weight;
#endif
}

static inline unsigned HISTOGRAM(weight_at)(const struct median_histogram *job, size_t at) {
#if HISTOGRAM_WEIGHTED
    return job->weight[at];
#else
    (void)job;
    (void)at;
    return 1;
#endif
}

/* The fine counts of that coarse value in the window that begins at column x. */
static inline const HISTOGRAM_SUM *HISTOGRAM(fine_at)(struct HISTOGRAM(window) * window,
                                                      const struct HISTOGRAM(columns) * columns, int value,
                                                      int32_t x, int32_t side) {
    const HISTOGRAM_COLUMN *column = columns->fine + (size_t)value * columns->count;
    HISTOGRAM_SUM sum = window->fine[value];
    int32_t from = window->first[value];
    if (from < 0 || 2 * (x - from) > side) {
        sum = (HISTOGRAM_SUM){0};
        for (int32_t i = x; i < x + side; i++) {
            sum += __builtin_convertvector(column[i], HISTOGRAM_SUM);
        }
    } else {
        for (int32_t i = from; i < x; i++) {
            sum += __builtin_convertvector(column[i + side], HISTOGRAM_SUM);
            sum -= __builtin_convertvector(column[i], HISTOGRAM_SUM);
        }
    }
    window->fine[value] = sum;
    window->first[value] = x;
    return &window->fine[value];
}

/* Writes the result for the window that begins at column x. */
static inline void HISTOGRAM(find)(struct HISTOGRAM(window) * window,
                                   const struct HISTOGRAM(columns) * columns,
                                   const struct median_histogram *job, size_t at, int32_t x) {
    const int32_t side = 2 * (int32_t)job->radius_x + 1;
#if HISTOGRAM_WEIGHTED
    HISTOGRAM_COUNT wanted = (window->total + 1) / 2;
    if (wanted == 0) {
        job->median[at] = 0;
        job->rest[at] = 0;
        return;
    }
#else
    HISTOGRAM_COUNT wanted = (HISTOGRAM_COUNT)(side * (2 * (int32_t)job->radius_y + 1) / 2 + 1);
#endif
    int coarse = HISTOGRAM(below)(&window->coarse, wanted) - 1;
    wanted = (HISTOGRAM_COUNT)(wanted - window->coarse[coarse]);
    const HISTOGRAM_SUM *fine = HISTOGRAM(fine_at)(window, columns, coarse, x, side);
    int value = HISTOGRAM(below)(fine, wanted) - 1;
    job->median[at] = (uint8_t)(16 * coarse + value);
    if (job->rest) {
        job->rest[at] = (uint32_t)(wanted - (*fine)[value]);
    }
}

static void HISTOGRAM(row)(const struct HISTOGRAM(columns) * columns, const struct median_histogram *job,
                           uint32_t y) {
    const uint32_t reach = 2 * job->radius_x;
    const size_t enters = (y + 2 * job->radius_y) * job->stride, leaves = (size_t)(y - 1) * job->stride;
    struct HISTOGRAM(window) window;
    window.coarse = (HISTOGRAM_SUM){0};
    window.total = 0;
    memset(window.first, 0xff, sizeof window.first);
    for (uint32_t x = 0; x < job->width + reach; x++) {
        HISTOGRAM(enter)(columns, x, job->bin[enters + x], HISTOGRAM(weight_at)(job, enters + x));
        if (y > 0) {
            HISTOGRAM(leave)(columns, x, job->bin[leaves + x], HISTOGRAM(weight_at)(job, leaves + x));
        }
        window.coarse += __builtin_convertvector(columns->coarse[x], HISTOGRAM_SUM);
#if HISTOGRAM_WEIGHTED
        window.total += columns->total[x];
#endif
        if (x < reach) {
            continue;
        }
        uint32_t first = x - reach;
        HISTOGRAM(find)(&window, columns, job, y * job->stride + first, (int32_t)first);
        window.coarse -= __builtin_convertvector(columns->coarse[first], HISTOGRAM_SUM);
#if HISTOGRAM_WEIGHTED
        window.total -= columns->total[first];
#endif
    }
}

static void HISTOGRAM(medians)(const struct median_histogram *job) {
    struct HISTOGRAM(columns) columns = {.count = job->width + 2 * (size_t)job->radius_x};
    size_t vectors = 17 * columns.count;
    columns.coarse = job->memory;
    columns.fine = columns.coarse + columns.count;
    columns.total = (HISTOGRAM_COUNT *)(void *)(columns.coarse + vectors);
    memset(job->memory, 0, vectors * sizeof *columns.coarse + columns.count * sizeof *columns.total);
    for (uint32_t y = 0; y < 2 * job->radius_y; y++) {
        for (uint32_t x = 0; x < columns.count; x++) {
            size_t at = y * job->stride + x;
            HISTOGRAM(enter)(&columns, x, job->bin[at], HISTOGRAM(weight_at)(job, at));
        }
    }
    for (uint32_t y = 0; y < job->height; y++) {
        HISTOGRAM(row)(&columns, job, y);
    }
}

#undef HISTOGRAM_COLUMN
#undef HISTOGRAM_SUM
#undef HISTOGRAM_COUNT
#undef HISTOGRAM_WEIGHT
#undef HISTOGRAM_LESS
#undef HISTOGRAM_WEIGHTED
#undef HISTOGRAM
