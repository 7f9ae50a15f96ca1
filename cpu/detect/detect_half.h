/* SPDX-License-Identifier: MIT
 * Layers of 24 outputs with AVX-512: a vector and a half. Included after cpu/detect/detect_dense.h. */

enum { HALF_TILE = 12, HALF_LANES = LANES / 2 };

/* The sums of a pixel, or what becomes of them. */
struct half_sums {
    __m512i low;
    __m256i high;
};

INLINE void half_sum(struct half_sums sum[], const struct dense_inputs *inputs,
                     const struct detect_packed *layer, size_t pixel, const unsigned tile) {
#pragma GCC unroll 16
    for (unsigned m = 0; m < tile; m++) {
        sum[m].low = _mm512_loadu_si512(layer->bias);
        sum[m].high = _mm256_loadu_si256((const void *)(layer->bias + LANES));
    }
    const int8_t *weights = layer->weights;
    const size_t step = inputs->step;
    for (unsigned s = 0; s < inputs->segments; s++) {
        const uint8_t *from = inputs->from[s] + pixel * step;
        for (const uint8_t *end = from + inputs->segment; from < end; from += UNIT) {
            const __m512i low = _mm512_loadu_si512(weights);
            const __m256i high = _mm256_loadu_si256((const void *)(weights + LANES * UNIT));
#pragma GCC unroll 16
            for (unsigned m = 0; m < tile; m++) {
                const __m512i x = vec_inputs(from + m * step);
                sum[m].low = _mm512_dpbusd_epi32(sum[m].low, x, low);
                sum[m].high = _mm256_dpbusd_epi32(sum[m].high, _mm512_castsi512_si256(x), high);
            }
            weights += 2 * LANES * UNIT;
        }
    }
}

/* The real numbers of a pixel, before they are rounded. */
struct half_reals {
    __m512 low;
    __m256 high;
};

INLINE struct half_reals half_scaled(const struct detect_packed *layer, const struct half_sums *sum) {
    return (struct half_reals){
        _mm512_mul_ps(_mm512_cvtepi32_ps(sum->low), _mm512_loadu_ps(layer->scale)),
        _mm256_mul_ps(_mm256_cvtepi32_ps(sum->high), _mm256_loadu_ps(layer->scale + LANES))};
}

INLINE struct half_reals half_added(const struct detect_packed *layer, struct half_reals t,
                                    const uint8_t *addend) {
    if (layer->relu) {
        t.low = _mm512_max_ps(t.low, _mm512_setzero_ps());
        t.high = _mm256_max_ps(t.high, _mm256_setzero_ps());
    }
    if (layer->added) {
        const __m512i low = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)addend));
        const __m256i high = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(addend + LANES)));
        const __m512 scale = _mm512_set1_ps(layer->addend_scale);
        t.low = _mm512_add_ps(t.low, _mm512_mul_ps(_mm512_cvtepi32_ps(low), scale));
        t.high =
            _mm256_add_ps(t.high, _mm256_mul_ps(_mm256_cvtepi32_ps(high), _mm512_castps512_ps256(scale)));
    }
    const __m512 offset = _mm512_set1_ps(layer->offset);
    return (struct half_reals){_mm512_add_ps(t.low, offset),
                               _mm256_add_ps(t.high, _mm512_castps512_ps256(offset))};
}

INLINE void half_put(uint8_t *to, struct half_reals t) {
    const __m512i low = _mm512_max_epi32(_mm512_cvtps_epi32(t.low), _mm512_setzero_si512());
    const __m256i high = _mm256_max_epi32(_mm256_cvtps_epi32(t.high), _mm256_setzero_si256());
    _mm_storeu_si128((void *)to, _mm512_cvtusepi32_epi8(low));
    _mm_storel_epi64((void *)(to + LANES), _mm256_cvtusepi32_epi8(high));
}

INLINE void half_tile(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                      size_t pixel, const unsigned tile) {
    const struct detect_packed *layer = job->layer;
    const size_t outputs = LANES + HALF_LANES, place = (first + pixel) * outputs;
    uint8_t *to = (uint8_t *)job->to + place;
    struct half_sums sum[HALF_TILE];
    half_sum(sum, inputs, layer, pixel, tile);
#pragma GCC unroll 16
    for (unsigned m = 0; m < tile; m++) {
        struct half_reals t = half_scaled(layer, &sum[m]);
        half_put(to + m * outputs,
                 layer->plain ? t : half_added(layer, t, job->addend + place + m * outputs));
    }
}

static void half_block(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                       size_t pixels) {
    if (pixels < HALF_TILE) {
        for (size_t i = 0; i < pixels; i++) {
            half_tile(job, inputs, first, i, 1);
        }
        return;
    }
    for (size_t i = 0, next; i < pixels; i = next) {
        half_tile(job, inputs, first, i, HALF_TILE);
        next = i + HALF_TILE;
        next = next < pixels && next + HALF_TILE > pixels ? pixels - HALF_TILE : next;
    }
}

static void half_dense(const struct detect_dense *job) {
    dense_run(job, BLOCK_PIXELS, job->layer->half ? half_block : dense_block);
}
