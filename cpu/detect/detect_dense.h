/* SPDX-License-Identifier: MIT
 * Layers that sum over all inputs. Included once per instruction set, after its vectors. A tile of pixels and
 * the vectors of a group are summed at once, in registers. */
#include "core/bytes.h"
#include "cpu/detect/detect_kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK_BYTES = 24 << 10, /* inputs that stay in the cache while all groups read them */
    BLOCK_PIXELS = 12,      /* a multiple of most tiles */
};

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

INLINE void dense_sum(vec sum[][DETECT_GROUP], const struct dense_inputs *inputs,
                      const struct dense_group *group, size_t pixel, const unsigned tile,
                      const unsigned vectors) {
#pragma GCC unroll 16
    for (unsigned m = 0; m < tile; m++) {
#pragma GCC unroll 4
        for (unsigned v = 0; v < vectors; v++) {
            sum[m][v] = vec_at(group->bias + v * LANES);
        }
    }
    const weight *weights = group->weights;
    const size_t step = inputs->step;
    for (unsigned s = 0; s < inputs->segments; s++) {
        const input *from = inputs->from[s] + pixel * step;
        for (const input *end = from + inputs->segment; from < end; from += UNIT) {
#pragma GCC unroll 16
            for (unsigned m = 0; m < tile; m++) {
                vec x = vec_inputs(from + m * step);
#pragma GCC unroll 4
                for (unsigned v = 0; v < vectors; v++) {
                    sum[m][v] = vec_dot(sum[m][v], x, weights + v * LANES * UNIT);
                }
            }
            weights += vectors * LANES * UNIT;
        }
    }
}

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

/* Pixels from `pixel` of the inputs on. Sums of layers that are not plain go through memory: there are few
 * of them, against what they are made of. */
INLINE void dense_tile(const struct detect_dense *job, const struct dense_inputs *inputs,
                       const struct dense_group *group, size_t first, size_t pixel, const unsigned tile,
                       const unsigned vectors) {
    vec sum[16][DETECT_GROUP], kept[16][DETECT_GROUP];
    const size_t outputs = job->layer->outputs, place = (first + pixel) * outputs + group->first;
    dense_sum(sum, inputs, group, pixel, tile, vectors);
    if (job->layer->plain) {
        const struct dense_group fixed = *group; /* the bytes that are written may not be those of a group */
        uint8_t *to = (uint8_t *)job->to + place;
#pragma GCC unroll 16
        for (unsigned m = 0; m < tile; m++) {
            dense_finish_plain(&fixed, sum[m], to + m * outputs, vectors);
        }
        return;
    }
#pragma GCC unroll 16
    for (unsigned m = 0; m < tile; m++) {
#pragma GCC unroll 4
        for (unsigned v = 0; v < vectors; v++) {
            kept[m][v] = sum[m][v];
        }
    }
#pragma GCC unroll 1
    for (unsigned m = 0; m < tile; m++) {
        dense_finish(job, group, kept[m], place + m * outputs, vectors);
    }
}

/* The last tile begins early where there are too few pixels for it. */
INLINE void dense_pixels(const struct detect_dense *job, const struct dense_inputs *inputs,
                         const struct dense_group *group, size_t first, size_t pixels, const unsigned tile,
                         const unsigned vectors) {
    if (pixels < tile) {
        for (size_t i = 0; i < pixels; i++) {
            dense_tile(job, inputs, group, first, i, 1, vectors);
        }
        return;
    }
    for (size_t i = 0, next; i < pixels; i = next) {
        dense_tile(job, inputs, group, first, i, tile, vectors);
        next = i + tile;
        next = next < pixels && next + tile > pixels ? pixels - tile : next;
    }
}

typedef void dense_tiles(const struct detect_dense *job, const struct dense_inputs *inputs,
                         const struct dense_group *group, size_t first, size_t pixels);

/* A function for each number of vectors, by itself, so that the sums stay in registers. */
#define DENSE_TILES(vectors, tile)                                                                           \
    static __attribute__((noinline)) void dense_##vectors(                                                   \
        const struct detect_dense *job, const struct dense_inputs *inputs, const struct dense_group *group,  \
        size_t first, size_t pixels) {                                                                       \
        dense_pixels(job, inputs, group, first, pixels, tile, vectors);                                      \
    }
DENSE_TILES(1, TILE_1)
DENSE_TILES(2, TILE_2)
DENSE_TILES(3, TILE_3)
DENSE_TILES(4, TILE_4)

/* All groups of a block of pixels. */
static void dense_block(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                        size_t pixels) {
    static dense_tiles *const tiles[DETECT_GROUP] = {dense_1, dense_2, dense_3, dense_4};
    const struct detect_packed *layer = job->layer;
    const unsigned units = inputs->segments * inputs->segment;
    struct dense_group group = {layer->weights, layer->bias, layer->scale, 0, 0};
    for (unsigned g = 0; g < layer->groups; g++) {
        unsigned vectors = layer->vectors / layer->groups + (g < layer->vectors % layer->groups);
        unsigned channels = vectors * LANES, left = layer->outputs - group.first;
        group.count = channels < left ? channels : left;
        tiles[vectors - 1](job, inputs, &group, first, pixels);
        group.first += channels;
        group.weights += (size_t)units * channels;
        group.bias += channels;
        group.scale += channels;
    }
}

/* Groups of the heads have one vector. */
static void sums_block(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                       size_t pixels) {
    const struct detect_packed *layer = job->layer;
    struct dense_group group = {layer->weights, layer->bias, layer->scale, 0, 0};
    for (unsigned g = 0; g < DETECT_SUMS / LANES; g++) {
        for (size_t i = 0; i < pixels; i++) {
            vec sum[1][DETECT_GROUP];
            dense_sum(sum, inputs, &group, i, 1, 1);
            vec_put_sums((int32_t *)job->to + (first + i) * DETECT_SUMS + (size_t)g * LANES, sum[0][0]);
        }
        group.weights += inputs->segment * LANES;
        group.bias += LANES;
    }
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

/* Cuts the pixels into blocks. Inputs of 16 bits are made of the bytes, block by block. */
static void dense_run(const struct detect_dense *job, dense_work *work) {
    const struct detect_packed *layer = job->layer;
    const unsigned inputs = layer->segments * layer->segment;
    const size_t fitting = BLOCK_BYTES / sizeof(input) / inputs;
    const size_t most = fitting / BLOCK_PIXELS * BLOCK_PIXELS;
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

static void sums(const struct detect_dense *job) {
    dense_run(job, sums_block);
}
