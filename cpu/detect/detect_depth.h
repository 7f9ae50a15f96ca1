/* SPDX-License-Identifier: MIT
 * Depthwise layers with inputs of 16 bits. Included once per instruction set, after
 * cpu/detect/detect_dense.h. CHUNK channels are two vectors; taps are taken in pairs, and the last one has a
 * zero beside it. */
#include "cpu/detect/detect_kernels.h"
#include "cpu/detect/detect_picture.h"

struct depth_chunk {
    const weight *weights; /* of pairs of taps, for both vectors */
    const int32_t *bias;
    const float *scale;
    size_t first; /* channel */
};

INLINE void depth_pixel(const struct depth_chunk *chunk, const uint8_t *const tap[DETECT_TAPS], size_t at,
                        uint8_t *to) {
    vec sum[2] = {vec_at(chunk->bias), vec_at(chunk->bias + LANES)};
#pragma GCC unroll 8
    for (unsigned i = 0; i < DETECT_TAPS; i += 2) {
        words a = words_bytes(tap[i] + at);
        words b = i + 1 < DETECT_TAPS ? words_bytes(tap[i + 1] + at) : a; /* has a weight of 0 */
        words_dot(sum, a, b, chunk->weights + (size_t)i * CHUNK);
    }
    const vec rounded[2] = {vec_round(vec_scaled(sum[0], chunk->scale)),
                            vec_round(vec_scaled(sum[1], chunk->scale + LANES))};
    vec_put(to, rounded, 2, CHUNK);
}

/* A depthwise layer has a ReLU and no addend. */
static void depth(const struct detect_depth *job) {
    const struct detect_packed *layer = job->layer;
    const size_t channels = layer->outputs;
    struct depth_chunk chunk = {layer->weights, layer->bias, layer->scale, 0};
    for (; chunk.first < channels; chunk.first += CHUNK) {
        const uint8_t *tap[DETECT_TAPS];
        for (unsigned i = 0; i < DETECT_TAPS; i++) {
            tap[i] = job->from[i / 3] + (i % 3) * channels + chunk.first;
        }
        for (size_t i = 0; i < job->pixels; i++) {
            depth_pixel(&chunk, tap, i * job->stride * channels, job->to + i * channels + chunk.first);
        }
        chunk.weights += (DETECT_TAPS + 1) * CHUNK;
        chunk.bias += CHUNK;
        chunk.scale += CHUNK;
    }
}

static void dense(const struct detect_dense *job) {
    dense_run(job, dense_block);
}

static const struct detect_kernels detect_words = {
    {.lanes = LANES, .unit = UNIT, .words = true, .split = SPLIT, .chunk = CHUNK},
    dense,
    sums,
    depth,
    picture};
