/* SPDX-License-Identifier: MIT
 * What all layers that sum over all inputs share: groups of channels, blocks of pixels, and what becomes of
 * sums. Included once per instruction set, after its vectors. */
#include "core/bytes.h"
#include "cpu/detect/detect_kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { BLOCK_BYTES = 24 << 10 /* inputs that stay in the cache while all groups read them */ };

struct dense_group {
    const weight *weights;
    const int32_t *bias;
    const float *scale;
    unsigned first, count; /* channels that are written */
};

/* Inputs of pixels as the level wants them. */
struct dense_inputs {
    const input *from[DETECT_SEGMENTS];
    unsigned segments, segment; /* in inputs */
    size_t step;
};

/* The outputs of one pixel of a layer that is `plain`. */
INLINE void dense_finish_plain(const struct dense_group *group, const vec *sum, uint8_t *to,
                               const unsigned vectors) {
    vec rounded[DETECT_GROUP];
#pragma GCC unroll 4
    for (unsigned v = 0; v < vectors; v++) {
        rounded[v] = vec_round(vec_scaled(sum[v], group->scale + v * LANES));
    }
    vec_put(to, rounded, vectors, group->count);
}

/* The outputs of one pixel of any other layer. */
INLINE void dense_finish(const struct detect_dense *job, const struct dense_group *group, const vec *sum,
                         size_t place, const unsigned vectors) {
    const struct detect_packed *layer = job->layer;
    vec rounded[DETECT_GROUP];
#pragma GCC unroll 4
    for (unsigned v = 0; v < vectors; v++) {
        flt t = vec_scaled(sum[v], group->scale + v * LANES);
        t = layer->relu ? flt_relu(t) : t;
        if (layer->added) {
            flt r = flt_bytes(job->addend + place + (size_t)v * 4, (size_t)4 * vectors);
            t = flt_add(t, flt_multiply(r, flt_all(layer->addend_scale)));
        }
        rounded[v] = vec_round(flt_add(t, flt_all(layer->offset)));
    }
    vec_put((uint8_t *)job->to + place, rounded, vectors, group->count);
}

/* Counts the channels of group g, which begins at group->first; returns its vectors. */
INLINE unsigned dense_group_count(const struct detect_packed *layer, struct dense_group *group, unsigned g) {
    const unsigned vectors = layer->vectors / layer->groups + (g < layer->vectors % layer->groups);
    const unsigned channels = vectors * LANES, left = layer->outputs - group->first;
    group->count = channels < left ? channels : left;
    return vectors;
}

INLINE void dense_group_skip(struct dense_group *group, unsigned units, unsigned vectors) {
    const unsigned channels = vectors * LANES;
    group->first += channels;
    group->weights += (size_t)units * channels;
    group->bias += channels;
    group->scale += channels;
}

/* Makes the inputs of pixels wider, those of all rows side by side. */
static void dense_widen(input *to, const struct detect_dense *job, size_t first, size_t pixels) {
    const unsigned segment = job->layer->segment;
    for (size_t i = 0; i < pixels; i++) {
        for (unsigned s = 0; s < job->layer->segments; s++) {
            const uint8_t *from = job->from[s] + (first + i) * job->step;
            for (unsigned k = 0; k < segment; k++) {
                to[k] = from[k];
            }
            to += segment;
        }
    }
}

typedef void dense_work(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                        size_t pixels);

/* Cuts the pixels into blocks of a multiple of `multiple` pixels. Inputs of 16 bits are made of the bytes,
 * block by block. */
static void dense_run(const struct detect_dense *job, size_t multiple, dense_work *work) {
    const struct detect_packed *layer = job->layer;
    const unsigned inputs = layer->segments * layer->segment;
    const size_t fitting = BLOCK_BYTES / sizeof(input) / inputs;
    const size_t most = fitting < multiple ? multiple : fitting / multiple * multiple;
    struct dense_inputs from = {.segments = layer->segments, .segment = layer->segment, .step = job->step};
    input wide[sizeof(input) > 1 ? BLOCK_BYTES / sizeof(input) : 1];
    for (size_t i = 0; i < job->pixels; i += most) {
        size_t pixels = job->pixels - i < most ? job->pixels - i : most;
        for (unsigned s = 0; s < layer->segments; s++) {
            from.from[s] = (const input *)(const void *)(job->from[s] + i * job->step);
        }
        if (sizeof(input) > 1) {
            dense_widen(wide, job, i, pixels);
            from = (struct dense_inputs){{wide}, 1, inputs, inputs};
        }
        work(job, &from, i, pixels);
    }
}
