/* SPDX-License-Identifier: MIT
 * A chunk of channels of a depthwise layer with VNNI. Included once per width in bits, WIDTH, with PREFIX
 * and NAME for the names of instructions and functions. The samples of a column, of three rows, and a zero
 * lie side by side; a column serves three pixels. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define OP(name) PASTE(PREFIX, name)
#define VEC PASTE(PASTE(__m, WIDTH), i)
#define LOAD(from) PASTE(PASTE(PREFIX, loadu_si), WIDTH)((const void *)(from))
#define FLT FLOATS(WIDTH)
#define COLUMN PASTE(NAME, _column)
#define PIXEL PASTE(NAME, _pixel)

struct COLUMN {
    VEC part[4];
};

INLINE struct COLUMN PASTE(NAME, _mix)(VEC a, VEC b, VEC c, VEC d) {
    const VEC ab_low = OP(unpacklo_epi8)(a, b), ab_high = OP(unpackhi_epi8)(a, b);
    const VEC cd_low = OP(unpacklo_epi8)(c, d), cd_high = OP(unpackhi_epi8)(c, d);
    return (struct COLUMN){{OP(unpacklo_epi16)(ab_low, cd_low), OP(unpackhi_epi16)(ab_low, cd_low),
                            OP(unpacklo_epi16)(ab_high, cd_high), OP(unpackhi_epi16)(ab_high, cd_high)}};
}

INLINE struct COLUMN PASTE(NAME, _load)(const uint8_t *const row[3], size_t at) {
    return PASTE(NAME, _mix)(LOAD(row[0] + at), LOAD(row[1] + at), LOAD(row[2] + at),
                             PASTE(PASTE(PREFIX, setzero_si), WIDTH)());
}

INLINE VEC PASTE(NAME, _part)(const struct depth_columns *chunk, VEC left, VEC middle, VEC right,
                              const VEC weights[3][4], const unsigned v) {
    const unsigned lanes = WIDTH / 32;
    VEC sum = LOAD(chunk->bias + v * lanes);
    sum = OP(dpbusd_epi32)(sum, left, weights[0][v]);
    sum = OP(dpbusd_epi32)(sum, middle, weights[1][v]);
    return OP(dpbusd_epi32)(sum, right, weights[2][v]);
}

/* Makes bytes of the sums of a chunk. */
INLINE void PASTE(NAME, _put)(const struct depth_columns *chunk, const VEC sum[4], uint8_t *to) {
    VEC part[4];
#pragma GCC unroll 4
    for (unsigned v = 0; v < 4; v++) {
        FLT t = OP(mul_ps)(OP(cvtepi32_ps)(sum[v]), OP(loadu_ps)(chunk->scale + v * (WIDTH / 32)));
        if (!chunk->plain) {
            t = chunk->relu ? OP(max_ps)(t, OP(setzero_ps)()) : t;
            t = OP(add_ps)(t, OP(set1_ps)(chunk->offset));
        }
        part[v] = OP(cvtps_epi32)(t);
    }
    const VEC low = OP(packs_epi32)(part[0], part[1]), high = OP(packs_epi32)(part[2], part[3]);
    PASTE(PASTE(PREFIX, storeu_si), WIDTH)((void *)to, OP(packus_epi16)(low, high));
}

INLINE void PIXEL(const struct depth_columns *chunk, const struct COLUMN *left, const struct COLUMN *middle,
                  const struct COLUMN *right, const VEC weights[3][4], uint8_t *to) {
    VEC sum[4];
#pragma GCC unroll 4
    for (unsigned v = 0; v < 4; v++) {
        sum[v] = PASTE(NAME, _part)(chunk, left->part[v], middle->part[v], right->part[v], weights, v);
    }
    PASTE(NAME, _put)(chunk, sum, to);
}

static void NAME(const struct detect_depth *job, const struct depth_columns *chunk) {
    const size_t channels = job->layer->outputs;
    const uint8_t *const row[3] = {job->from[0] + chunk->first, job->from[1] + chunk->first,
                                   job->from[2] + chunk->first};
    uint8_t *to = (uint8_t *)job->to + chunk->first;
    VEC weights[3][4];
    for (unsigned i = 0; i < 12; i++) {
        weights[i / 4][i % 4] = LOAD(chunk->weights + i * (WIDTH / 8));
    }
    struct COLUMN left = PASTE(NAME, _load)(row, 0), middle, right;
    if (job->stride == 2) {
        for (size_t i = 0; i < job->pixels; i++) {
            middle = PASTE(NAME, _load)(row, (2 * i + 1) * channels);
            right = PASTE(NAME, _load)(row, (2 * i + 2) * channels);
            PIXEL(chunk, &left, &middle, &right, weights, to + i * channels);
            left = right;
        }
        return;
    }
    middle = PASTE(NAME, _load)(row, channels);
    for (size_t i = 0; i < job->pixels; i++) {
        right = PASTE(NAME, _load)(row, (i + 2) * channels);
        PIXEL(chunk, &left, &middle, &right, weights, to + i * channels);
        left = middle;
        middle = right;
    }
}

/* Windows of any size: columns of four rows each, of which the last size - 1 serve the next pixel, too. */
static void PASTE(NAME, _large)(const struct detect_depth *job, const struct depth_columns *chunk) {
    const size_t channels = job->layer->outputs, size = job->layer->size, groups = (size + 3) / 4;
    struct COLUMN column[NETWORK_WINDOW_MAX][(NETWORK_WINDOW_MAX + 3) / 4];
    const size_t first = chunk->first;
    for (size_t i = 0, loaded = 0; i < job->pixels; i++) {
        for (; loaded < i * job->stride + size; loaded++) {
            for (size_t g = 0; g < groups; g++) {
                const uint8_t *const *row = job->from + 4 * g;
                const size_t at = loaded * channels + first;
                column[loaded % size][g] = PASTE(NAME, _mix)(LOAD(row[0] + at), LOAD(row[1] + at),
                                                             LOAD(row[2] + at), LOAD(row[3] + at));
            }
        }
        VEC sum[4] = {LOAD(chunk->bias), LOAD(chunk->bias + WIDTH / 32), LOAD(chunk->bias + WIDTH / 16),
                      LOAD(chunk->bias + 3 * (WIDTH / 32))};
        const int8_t *weights = chunk->weights;
        for (size_t x = 0; x < size; x++) {
            const struct COLUMN *part = column[(i * job->stride + x) % size];
            for (size_t g = 0; g < groups; g++, weights += 4 * (WIDTH / 8)) {
#pragma GCC unroll 4
                for (unsigned v = 0; v < 4; v++) {
                    sum[v] = OP(dpbusd_epi32)(sum[v], part[g].part[v], LOAD(weights + v * (WIDTH / 8)));
                }
            }
        }
        PASTE(NAME, _put)(chunk, sum, (uint8_t *)job->to + i * channels + first);
    }
}

#undef PASTE_
#undef PASTE
#undef OP
#undef VEC
#undef LOAD
#undef FLT
#undef COLUMN
#undef PIXEL
#undef WIDTH
#undef PREFIX
#undef NAME
