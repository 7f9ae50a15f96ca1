/* SPDX-License-Identifier: MIT
 * Layers that sum over all inputs. Included once per instruction set, after its vectors. A tile of pixels and
 * the vectors of a group are summed at once, in registers. */
#include "cpu/detect/detect_group.h"

enum { BLOCK_PIXELS = 12 /* a multiple of most tiles */ };

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
        const unsigned vectors = dense_group_count(layer, &group, g);
        tiles[vectors - 1](job, inputs, &group, first, pixels);
        dense_group_skip(&group, units, vectors);
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

static void sums(const struct detect_dense *job) {
    dense_run(job, BLOCK_PIXELS, sums_block);
}
