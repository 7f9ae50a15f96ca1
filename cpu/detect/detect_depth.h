/* SPDX-License-Identifier: MIT
 * Depthwise layers with inputs of 16 bits. Included once per instruction set, after
 * its vectors. CHUNK channels are two vectors; taps are taken in pairs, and the last one has a
 * zero beside it. */
#include "cpu/detect/detect_bytes.h"
#include "cpu/detect/detect_kernels.h"
#include "cpu/detect/detect_picture.h"

struct depth_chunk {
    const weight *weights; /* of pairs of taps, for both vectors */
    const int32_t *bias;
    const float *scale;
    size_t first; /* channel */
};

enum { TAPS_MAX = NETWORK_WINDOW_MAX * NETWORK_WINDOW_MAX };

INLINE void depth_pixel(const struct detect_packed *layer, const struct depth_chunk *chunk,
                        const uint8_t *const tap[TAPS_MAX], size_t at, uint8_t *to, const unsigned taps) {
    vec sum[2] = {vec_at(chunk->bias), vec_at(chunk->bias + LANES)}, rounded[2];
#pragma GCC unroll 8
    for (unsigned i = 0; i < taps; i += 2) {
        words a = words_bytes(tap[i] + at);
        words b = i + 1 < taps ? words_bytes(tap[i + 1] + at) : a; /* has a weight of 0 */
        words_dot(sum, a, b, chunk->weights + (size_t)i * CHUNK);
    }
    for (unsigned v = 0; v < 2; v++) {
        flt t = vec_scaled(sum[v], chunk->scale + v * LANES);
        if (!layer->plain) {
            t = layer->relu ? flt_relu(t) : t;
            t = flt_add(t, flt_all(layer->offset));
        }
        rounded[v] = vec_round(t);
    }
    vec_put(to, rounded, 2, CHUNK);
}

/* A depthwise layer has no addend. */
INLINE void depth_taps(const struct detect_depth *job, const unsigned size) {
    const struct detect_packed *layer = job->layer;
    const size_t channels = layer->outputs;
    const unsigned taps = size * size;
    struct depth_chunk chunk = {layer->weights, layer->bias, layer->scale, 0};
    for (; chunk.first < channels; chunk.first += CHUNK) {
        const uint8_t *tap[TAPS_MAX];
        for (unsigned i = 0; i < taps; i++) {
            tap[i] = job->from[i / size] + (i % size) * channels + chunk.first;
        }
        for (size_t i = 0; i < job->pixels; i++) {
            depth_pixel(layer, &chunk, tap, i * job->stride * channels, job->to + i * channels + chunk.first,
                        taps);
        }
        chunk.weights += (size_t)(taps + 1) * CHUNK;
        chunk.bias += CHUNK;
        chunk.scale += CHUNK;
    }
}

static void depth(const struct detect_depth *job) {
    if (job->layer->size == 3) {
        depth_taps(job, 3);
    } else {
        depth_taps(job, job->layer->size);
    }
}

static void dense(const struct detect_dense *job) {
    dense_run(job, BLOCK_PIXELS, dense_block);
}

static const struct detect_kernels detect_words = {
    {.lanes = LANES, .unit = UNIT, .words = true, .split = SPLIT, .chunk = CHUNK},
    dense,
    sums,
    depth,
    excite,
    table,
    pool,
    squeeze,
    picture};
