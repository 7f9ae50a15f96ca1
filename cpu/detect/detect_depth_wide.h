/* SPDX-License-Identifier: MIT
 * A chunk of channels of a depthwise layer with VNNI. Included once per width in bits, WIDTH, with PREFIX
 * and NAME for the names of instructions and functions. The samples of a column, of three rows, and a zero
 * lie side by side; a column serves three pixels. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define OP(name) PASTE(PREFIX, name)
#define VEC PASTE(PASTE(__m, WIDTH), i)
#define LOAD(from) PASTE(PASTE(PREFIX, loadu_si), WIDTH)((const void *)(from))
#define COLUMN PASTE(NAME, _column)
#define PIXEL PASTE(NAME, _pixel)

struct COLUMN {
    VEC part[4];
};

INLINE struct COLUMN PASTE(NAME, _load)(const uint8_t *const row[3], size_t at) {
    const VEC zero = PASTE(PASTE(PREFIX, setzero_si), WIDTH)();
    const VEC a = LOAD(row[0] + at), b = LOAD(row[1] + at), c = LOAD(row[2] + at);
    const VEC ab_low = OP(unpacklo_epi8)(a, b), ab_high = OP(unpackhi_epi8)(a, b);
    const VEC c_low = OP(unpacklo_epi8)(c, zero), c_high = OP(unpackhi_epi8)(c, zero);
    return (struct COLUMN){{OP(unpacklo_epi16)(ab_low, c_low), OP(unpackhi_epi16)(ab_low, c_low),
                            OP(unpacklo_epi16)(ab_high, c_high), OP(unpackhi_epi16)(ab_high, c_high)}};
}

INLINE VEC PASTE(NAME, _part)(const struct depth_columns *chunk, VEC left, VEC middle, VEC right,
                              const VEC weights[3][4], const unsigned v) {
    const unsigned lanes = WIDTH / 32;
    VEC sum = LOAD(chunk->bias + v * lanes);
    sum = OP(dpbusd_epi32)(sum, left, weights[0][v]);
    sum = OP(dpbusd_epi32)(sum, middle, weights[1][v]);
    sum = OP(dpbusd_epi32)(sum, right, weights[2][v]);
    return OP(cvtps_epi32)(OP(mul_ps)(OP(cvtepi32_ps)(sum), OP(loadu_ps)(chunk->scale + v * lanes)));
}

INLINE void PIXEL(const struct depth_columns *chunk, const struct COLUMN *left, const struct COLUMN *middle,
                  const struct COLUMN *right, const VEC weights[3][4], uint8_t *to) {
    VEC part[4];
#pragma GCC unroll 4
    for (unsigned v = 0; v < 4; v++) {
        part[v] = PASTE(NAME, _part)(chunk, left->part[v], middle->part[v], right->part[v], weights, v);
    }
    const VEC low = OP(packs_epi32)(part[0], part[1]), high = OP(packs_epi32)(part[2], part[3]);
    PASTE(PASTE(PREFIX, storeu_si), WIDTH)((void *)to, OP(packus_epi16)(low, high));
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

#undef PASTE_
#undef PASTE
#undef OP
#undef VEC
#undef LOAD
#undef COLUMN
#undef PIXEL
#undef WIDTH
#undef PREFIX
#undef NAME
