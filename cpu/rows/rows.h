/* SPDX-License-Identifier: MIT
 * Row primitives touch pixels in bulk. Each instruction set has two tables for the blur, one per kind of
 * arithmetic, and one for the other filters. All tables of a kind give the same bytes.
 *
 * Passes exchange *values*. Fixed point: int16_t, the sample times 128 (BLUR_STORE_BITS) less VALUE_BIAS. The
 * sum of two values then fits in 16 bits, and symmetric taps cost one multiplication. As all weights of a
 * pass sum to 32768, the bias goes through every pass unchanged, and the results are those of
 * docs/filters.md. Floating point: float, in samples, colour multiplied by alpha.
 *
 * The *source* of a plane is uint8_t in fixed point. In floating point it is uint16_t, except for pictures
 * with 16 bits and alpha, whose source is values, as colour multiplied by alpha has more than 16 bits. The
 * *output* is uint8_t, or values to be stored.
 *
 * Unless said otherwise a function may read and write ROW_SLACK elements beyond `n`, and rows must not
 * overlap. */
#ifndef BLURD_CPU_ROWS_ROWS_H
#define BLURD_CPU_ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filters/adjust/adjust.h"
#include "filters/blur/blur.h"
#include "filters/resize/resize_weights.h"

enum {
    VALUE_BIAS = 16384, /* 128 samples: 255 << 7 lies below twice of it */
    ROW_BLOCK = 64,     /* elements that are processed at once, at most */
    TAPS_GROUP = 4,     /* rows that taps_group makes */
    ROW_SLACK = 640,    /* ROW_BLOCK times 8, the largest step of a stage, and the radius */
    BLUR_FACTOR_MAX = 1 << BLUR_LEVELS_MAX,    /* enlargement */
    BLUR_ROWS_MAX = 2 * BLUR_RADIUS_MAX + 1,   /* rows that one pass reads */
    SOURCE_ROUND = 1 << 7,                     /* 15 bits of weight against 7 of the store: a shift by 8 */
    VALUE_ROUND = 1 << (BLUR_WEIGHT_BITS - 1), /* shift by 15 */
    LAST_SHIFT = BLUR_WEIGHT_BITS + BLUR_STORE_BITS, /* back to samples */
    LAST_ROUND = 1 << (LAST_SHIFT - 1),
};

/* A symmetric kernel: weight[k] is that of the rows at -k and +k. */
struct taps {
    unsigned radius;
    const int16_t *weight;
    const float *weight_float;
};

/* Enlargement of an axis by 1 << levels, see blur_enlarge(). */
struct cubic {
    unsigned levels;
    int16_t pair[2][BLUR_FACTOR_MAX][2]; /* [k / 2][phase][k % 2], as multiply-add of pairs wants it */
    float weight_float[BLUR_TAPS_ENLARGE][BLUR_FACTOR_MAX];
};

/* How samples of a plane become values in floating point and come back. */
struct row_format {
    unsigned channels;
    unsigned depth; /* 8 or 16 */
    bool alpha;     /* the last channel is; the others are multiplied by it on the way in */
};

/* Sums and extremes of samples of 16 bits. Sample i of a row belongs to lane i % MEASURE_LANES, and so lane i
 * to channel i % channels, whether there are 1, 2, 3 or 4. */
enum { MEASURE_LANES = 48 };

struct measure {
    uint64_t sum[MEASURE_LANES];
    uint64_t squares[MEASURE_LANES];
    uint16_t minimum[MEASURE_LANES];
    uint16_t maximum[MEASURE_LANES];
};

struct row_ops {
    size_t value; /* bytes of one */

    /* Source to values, unfiltered. */
    void (*widen)(void *to, const void *from, size_t n);

    /* to[i] = sum over k of weight[|k|] * row[radius + k][i]. The rows may overlap each other: taps along a
     * row are the same row, shifted. The _last form writes exactly n elements. */
    void (*taps_source)(void *to, const void *const *row, const struct taps *taps, size_t n);
    void (*taps)(void *to, const void *const *row, const struct taps *taps, size_t n);
    void (*taps_last)(void *to, const void *const *row, const struct taps *taps, size_t n);

    /* The same for TAPS_GROUP rows at once, to[j] from the rows from row[j] on. Reads each row once. In fixed
     * point taps_group is NULL, and taps_group_source is, too, where it is not faster. */
    void (*taps_group_source)(void *const *to, const void *const *row, const struct taps *taps, size_t n);
    void (*taps_group)(void *const *to, const void *const *row, const struct taps *taps, size_t n);

    /* Pixel i of to[j] = sum over k of weight[|k|] * pixel i + k of from[j], for TAPS_GROUP rows of three or
     * four channels. NULL where it is not faster. May write up to ROW_BLOCK elements beyond the end. */
    void (*across_group)(void *const *to, const void *const *from, const struct taps *taps, unsigned channels,
                         size_t pixels);

    /* Pixel i of `to` = sum over k of weight[|k|] * pixel (i << shift) + k of `from`. In fixed point pixels
     * have one channel. */
    void (*reduce)(void *to, const void *from, const struct taps *taps, unsigned shift, unsigned channels,
                   size_t pixels);

    /* Pixel i of `to` = the cubic spline through pixels -1, 0, ... of `from` at i / 2^levels. In fixed point
     * pixels have one channel. The _last form writes exactly the pixels in fixed point. */
    void (*enlarge)(void *to, const void *from, const struct cubic *cubic, unsigned channels, size_t pixels);
    void (*enlarge_last)(void *to, const void *from, const struct cubic *cubic, unsigned channels,
                         size_t pixels);

    /* The spline across rows: the row at `phase` between row[1] and row[2]. Writes exactly n elements. */
    void (*cubic_last)(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                       unsigned phase, size_t n);

    /* Floating point only, else NULL: cubic_last, then stored as samples. */
    void (*cubic_store)(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                        unsigned phase, const struct row_format *format, size_t pixels);

    /* Fixed point only, else NULL: interleaved pixels to one segment per channel, and back. `segment`:
     * elements from one to the next. */
    void (*split)(void *to, size_t segment, const void *from, unsigned channels, size_t pixels);
    void (*merge)(void *to, const void *from, size_t segment, unsigned channels, size_t pixels);

    /* Floating point only, else NULL: samples of 8 bits to a source row, exactly `pixels` pixels. */
    void (*multiply)(uint16_t *to, const uint8_t *from, const struct row_format *format, size_t pixels);

    /* Floating point only, else NULL: samples to values and back, exactly `pixels` pixels. */
    void (*load)(float *to, const void *from, const struct row_format *format, size_t pixels);
    void (*store)(void *to, const float *from, const struct row_format *format, size_t pixels);
};

/* How a row of pixels is adjusted (filters/adjust/adjust.h). Where pixels keep their channels, sample i of
 * the result is the sum of weight[o][i % ADJUST_PERIOD] * sample i + o - ADJUST_REACH over all o, plus
 * `added`: samples of other pixels have a weight of 0, which changes no sum. */
enum { ADJUST_REACH = 2, ADJUST_PERIOD = 48 }; /* whole pixels, and whole vectors of every instruction set */

struct adjust_row {
    unsigned depth;     /* 8 or 16 */
    bool alpha;         /* the last channel, which is copied */
    unsigned from, to;  /* colours of a pixel, 1 or 3 */
    const float *curve; /* of struct adjust_plan; NULL: the identity */
    float matrix[3][4];
    bool alone; /* no sample depends on others: only weight[ADJUST_REACH] counts */
    float weight[2 * ADJUST_REACH + 1][ADJUST_PERIOD];
    float added[ADJUST_PERIOD];
};

/* Row functions of the filters other than the blur, in addition to its load(). Floats are in samples. */
struct filter_rows {
    /* to[i] = weight[0] * row[0][i], and the others added in order. The rows may overlap each other. */
    void (*weigh)(float *to, const float *const *row, const float *weight, unsigned count, size_t n);

    /* value[i] = value[i] / divisor + bias. Exactly n elements, as all that follow. */
    void (*divide)(float *value, float divisor, float bias, size_t n);

    /* Makes colour of colour times alpha: divides all channels of a pixel but the last by the last channel of
     * `alpha`, and adds bias. The quotient is 0 where alpha is not positive. `pixel` and `alpha` may be the
     * same row. 2 or 4 channels. */
    void (*colour)(float *pixel, const float *alpha, float bias, unsigned channels, size_t pixels);

    /* blurred[i] becomes value[i] + amount * (value[i] - blurred[i]), or value[i] where the difference is
     * below the threshold. */
    void (*sharpen)(float *blurred, const float *value, float amount, float threshold, size_t n);

    /* Rounds half up to samples of `depth` bits. Values beyond their range become the nearest sample. */
    void (*store)(void *to, const float *from, unsigned depth, size_t n);

    /* Adds a row to sums, one per sample; colour counts times alpha. The sums are uint64_t for 16 bits with
     * alpha, else uint32_t: enough for PIXELATE_BLOCK_MAX rows. */
    void (*add)(void *sum, const void *from, const struct row_format *format, size_t pixels);

    /* Adjusts pixels, not in place. */
    void (*adjust)(void *to, const void *from, const struct adjust_row *how, size_t pixels);

    /* Measures 16-bit samples, the first one of channel 0. */
    void (*measure)(struct measure *measure, const uint16_t *from, size_t n);
};

/* The resize sums along rows in groups of RESIZE_ROWS. The group is *turned* for that: a pixel has
 * RESIZE_ROWS floats for each of its channels, one of each row. */
enum { RESIZE_ROWS = 16 };

/* Samples of the source that have a weight. */
struct resize_span {
    uint32_t from, count;
};

struct resize_rows {
    /* Adds what filter_rows.weigh computes to `to`. */
    void (*weigh_more)(float *to, const float *const *row, const float *weight, unsigned count, size_t n);

    /* to[i * to_stride + k] = from[k * from_stride + i] for i and k below RESIZE_ROWS. */
    void (*turn)(float *to, size_t to_stride, const float *from, size_t from_stride);

    /* Sums up `n` pixels, in blocks of RESIZE_BLOCK. `to` and `from` are turned; pixel i has the weights from
     * weight[i * most] on, and from[0] belongs to column `first` of the source. */
    void (*columns)(float *to, const float *from, uint32_t first, const struct resize_span *span,
                    const float *weight, size_t most, unsigned channels, size_t n);
};

/* How elements are ordered: unsigned numbers of `bytes` bytes. */
struct rank_order {
    unsigned bytes; /* 1, 2 or 4 */
    bool largest;   /* the larger one is taken, else the smaller one */
};

/* A tile of one channel, with margins as wide as the radii. */
struct median_histogram {
    const uint8_t *bin;          /* of each element */
    const uint16_t *weight;      /* of each element; NULL: 1 */
    bool heavy;                  /* weights have 16 bits, not 8 */
    size_t stride;               /* elements from one row to the next, of the results too */
    uint32_t width, height;      /* of the results */
    uint32_t radius_x, radius_y; /* at most 25: counts of columns have 8 bits */
    void *memory;                /* MEDIAN_COLUMN_BYTES for each column with margins, aligned to 64 */
    uint8_t
        *median; /* the least bin up to which at least half of the window's weights lie; 0 without weights */
    uint32_t *rest; /* half of the weights, rounded up, less those of smaller bins; NULL: not wanted. Not NULL
                       with weights */
};

enum { MEDIAN_COLUMN_BYTES = 17 * 64 + 4 };

enum { MEDIAN_ENTRY_BLOCK = 16 };

/* All elements of a tile, in order. Those of bin b begin at b * bin. The block after the last element is
 * filled with entries whose y is 255, which no window reaches. */
struct median_entries {
    const uint16_t *value;
    const uint16_t *weight; /* NULL: 1 */
    const uint8_t *x, *y;   /* in the tile with its margins */
    uint32_t bin;           /* entries of a bin: whole blocks */
};

/* A window that begins at element (x, y) of a tile with its margins. */
struct median_window {
    uint8_t x, y, width, height;
};

/* Row functions of the filters that order samples. They write exactly n elements. Their results do not
 * overlap other rows; the rows that they read may overlap each other. */
struct rank_rows {
    /* to[i] = the extreme of a[i] and b[i]. */
    void (*extreme)(void *to, const void *a, const void *b, struct rank_order order, size_t n);

    /* running[i] becomes the extreme of itself and a[i]; to[i] is the extreme of that and b[i]. */
    void (*extremes)(void *to, void *running, const void *a, const void *b, struct rank_order order,
                     size_t n);

    /* Samples with alpha to elements of twice their size, and back: colour is multiplied by alpha, exactly.
     * On the way back it is floor((c + floor(alpha / 2)) / alpha), 0 where alpha is 0. */
    void (*multiply)(void *to, const void *from, const struct row_format *format, size_t pixels);
    void (*divide)(void *to, const void *from, const struct row_format *format, size_t pixels);

    /* to[i] = the median of the elements i to i + side - 1 of `side` rows; 3 or 5, of 1 or 2 bytes. */
    void (*median)(void *to, const void *const *row, unsigned side, unsigned bytes, size_t n);

    /* The medians of larger windows, of a whole tile, in bytes. */
    void (*histogram)(const struct median_histogram *job);

    /* to[x] = the value of the first entry of bin[x] with which the entries of that bin in the window sum up
     * to rest[x]; 0 where rest[x] is 0. The window moves to the right with x. */
    void (*select)(uint16_t *to, const struct median_entries *entries, const uint8_t *bin,
                   const uint32_t *rest, const struct median_window *window, size_t n);
};

/* All kinds for one instruction set. */
struct row_set {
    struct row_ops fixed;
    struct row_ops floating;
    struct filter_rows filter;
    struct resize_rows resize;
    struct rank_rows rank;
};

/* Each function fills the whole set. The caller checks that the processor has the instructions. */
void row_set_plain(struct row_set *set);
void row_set_baseline(struct row_set *set);
#if defined(__x86_64__)
void row_set_avx2(struct row_set *set);
void row_set_avx512(struct row_set *set);
#elif defined(__aarch64__)
void row_set_neon(struct row_set *set);
#endif

#endif
