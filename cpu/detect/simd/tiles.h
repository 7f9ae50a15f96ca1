/* SPDX-License-Identifier: MIT
 * Layers that sum over all inputs, with AMX. Included after vectors of 16 lanes and the instructions of tiles
 * (cpu/detect/simd/amx.h).
 *
 * A tile of inputs has a pixel in each row, a tile of weights four inputs of 16 channels in each row, which
 * is the order that VNNI reads, and a tile of sums a pixel of 16 channels in each row. A segment of inputs is
 * cut into equal parts of at most 64 bytes (detect_format.tiles). Sums go through memory to become bytes,
 * while the tiles make the next ones. */
#include "cpu/detect/detect_group.h"

enum { TILE_ROWS = 16, TILE_SUMS = TILE_ROWS * LANES };

/* What LDTILECFG reads (Intel's manual, volume 1, chapter 18): bytes of each row, and rows of each tile. */
struct tiles_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* A block of pixels, for all groups of a layer. */
struct tiles_block {
    const struct detect_dense *job;
    const struct dense_inputs *inputs;
    size_t first, pixels; /* of the layer's row; of the block */
    size_t rows, tiles;   /* pixels of a tile; tiles of pixels */
    unsigned parts, part; /* of a segment; bytes of each */
};

/* The first pixel of a tile: the last ones begin early where there are too few pixels for them. */
INLINE size_t tiles_pixel(const struct tiles_block *block, size_t tile) {
    const size_t pixel = tile * block->rows, last = block->pixels - block->rows;
    return pixel < last ? pixel : last;
}

/* Where the layer has one part, all of its weights of a group stay in tiles: 4 to 7. Inputs are in tile 3. */
static void tiles_shape_one(struct tiles_block *block) {
    struct tiles_shapes shapes = {.palette = 1};
    block->tiles = (block->pixels + TILE_ROWS - 1) / TILE_ROWS;
    block->rows = (block->pixels + block->tiles - 1) / block->tiles;
    for (unsigned i = 0; i < 8; i++) {
        shapes.row_bytes[i] = (uint16_t)(i == 3 ? block->part : DETECT_PART);
        shapes.rows[i] = (uint8_t)(i < 4 ? block->rows : block->part / UNIT);
    }
    TILES_CONFIGURE(&shapes);
}

/* Otherwise two tiles of pixels, 4 and 5, are multiplied by the weights of two vectors, 6 and 7. */
static void tiles_shape_many(struct tiles_block *block) {
    struct tiles_shapes shapes = {.palette = 1};
    block->tiles = (block->pixels + 2 * TILE_ROWS - 1) / (2 * TILE_ROWS) * 2;
    block->rows = (block->pixels + block->tiles - 1) / block->tiles;
    for (unsigned i = 0; i < 8; i++) {
        shapes.row_bytes[i] = (uint16_t)(i == 4 || i == 5 ? block->part : DETECT_PART);
        shapes.rows[i] = (uint8_t)(i < 6 ? block->rows : block->part / UNIT);
    }
    TILES_CONFIGURE(&shapes);
}

/* The bytes of a tile of pixels. */
INLINE void tiles_finish(const struct tiles_block *block, const struct dense_group *group, size_t tile,
                         const int32_t *sums, const unsigned vectors) {
    const struct detect_dense *job = block->job;
    const struct dense_group fixed = *group;
    const size_t outputs = job->layer->outputs;
    size_t place = (block->first + tiles_pixel(block, tile)) * outputs + group->first;
    const bool plain = job->layer->plain;
#pragma GCC unroll 1
    for (size_t m = 0; m < block->rows; m++, place += outputs, sums += vectors * LANES) {
        vec sum[DETECT_GROUP];
#pragma GCC unroll 4
        for (unsigned v = 0; v < vectors; v++) {
            sum[v] = vec_at(sums + v * LANES);
        }
        if (plain) {
            dense_finish_plain(&fixed, sum, (uint8_t *)job->to + place, vectors);
        } else {
            dense_finish(job, &fixed, sum, place, vectors);
        }
    }
}

/* Sums of a layer with one part. The weights are loaded. */
INLINE void tiles_sum_one(const struct tiles_block *block, const struct dense_group *group, size_t tile,
                          int32_t *sums, const unsigned vectors) {
    const size_t apart = vectors * LANES * sizeof *sums, step = block->inputs->step;
    TILES_LOAD(3, block->inputs->from[0] + tiles_pixel(block, tile) * step, step);
    TILES_LOAD(0, group->bias, 0);
    TILES_DOT(0, 3, 4);
    if (vectors > 1) {
        TILES_LOAD(1, group->bias + LANES, 0);
        TILES_DOT(1, 3, 5);
    }
    if (vectors > 2) {
        TILES_LOAD(2, group->bias + 2 * LANES, 0);
        TILES_DOT(2, 3, 6);
    }
    TILES_STORE(0, sums, apart);
    if (vectors > 3) {
        TILES_LOAD(0, group->bias + 3 * LANES, 0);
        TILES_DOT(0, 3, 7);
        TILES_STORE(0, sums + 3 * LANES, apart);
    }
    if (vectors > 1) {
        TILES_STORE(1, sums + LANES, apart);
    }
    if (vectors > 2) {
        TILES_STORE(2, sums + 2 * LANES, apart);
    }
}

INLINE void tiles_load_weights(const struct dense_group *group, const unsigned vectors) {
    const size_t apart = (size_t)vectors * LANES * UNIT;
    TILES_LOAD(4, group->weights, apart);
    if (vectors > 1) {
        TILES_LOAD(5, group->weights + LANES * UNIT, apart);
    }
    if (vectors > 2) {
        TILES_LOAD(6, group->weights + 2 * LANES * UNIT, apart);
    }
    if (vectors > 3) {
        TILES_LOAD(7, group->weights + 3 * LANES * UNIT, apart);
    }
}

/* Sums of two tiles of pixels and the vectors `v` and, if `two`, v + 1. */
INLINE void tiles_sum_many(const struct tiles_block *block, const struct dense_group *group, size_t tile,
                           int32_t *first, int32_t *second, const unsigned vectors, const unsigned v,
                           const bool two) {
    const struct dense_inputs *inputs = block->inputs;
    const size_t apart = (size_t)vectors * LANES * UNIT, step = inputs->step;
    const weight *weights = group->weights + (size_t)v * LANES * UNIT;
    const size_t a = tiles_pixel(block, tile) * step, b = tiles_pixel(block, tile + 1) * step;
    TILES_LOAD(0, group->bias + v * LANES, 0);
    TILES_LOAD(2, group->bias + v * LANES, 0);
    if (two) {
        TILES_LOAD(1, group->bias + (v + 1) * LANES, 0);
        TILES_LOAD(3, group->bias + (v + 1) * LANES, 0);
    }
    for (unsigned s = 0; s < inputs->segments; s++) {
        const input *from = inputs->from[s];
        for (unsigned i = 0; i < block->parts; i++, from += block->part) {
            TILES_LOAD(6, weights, apart);
            TILES_LOAD(4, from + a, step);
            TILES_DOT(0, 4, 6);
            TILES_LOAD(5, from + b, step);
            TILES_DOT(2, 5, 6);
            if (two) {
                TILES_LOAD(7, weights + LANES * UNIT, apart);
                TILES_DOT(1, 4, 7);
                TILES_DOT(3, 5, 7);
            }
            weights += block->part / UNIT * apart;
        }
    }
    TILES_STORE(0, first + v * LANES, vectors * LANES * sizeof *first);
    TILES_STORE(2, second + v * LANES, vectors * LANES * sizeof *first);
    if (two) {
        TILES_STORE(1, first + (v + 1) * LANES, vectors * LANES * sizeof *first);
        TILES_STORE(3, second + (v + 1) * LANES, vectors * LANES * sizeof *first);
    }
}

/* All pixels of a group. The bytes of a tile are made while the sums of the next one are on their way. */
INLINE void tiles_one(const struct tiles_block *block, const struct dense_group *group,
                      const unsigned vectors) {
    _Alignas(64) int32_t sums[2][TILE_SUMS * DETECT_GROUP];
    tiles_load_weights(group, vectors);
    tiles_sum_one(block, group, 0, sums[0], vectors);
    for (size_t i = 0; i < block->tiles; i++) {
        if (i + 1 < block->tiles) {
            tiles_sum_one(block, group, i + 1, sums[(i + 1) % 2], vectors);
        }
        tiles_finish(block, group, i, sums[i % 2], vectors);
    }
}

INLINE void tiles_sum_pair(const struct tiles_block *block, const struct dense_group *group, size_t tile,
                           int32_t *sums, const unsigned vectors) {
    int32_t *second = sums + block->rows * vectors * LANES;
    tiles_sum_many(block, group, tile, sums, second, vectors, 0, vectors > 1);
    if (vectors > 2) {
        tiles_sum_many(block, group, tile, sums, second, vectors, 2, vectors > 3);
    }
}

INLINE void tiles_many(const struct tiles_block *block, const struct dense_group *group,
                       const unsigned vectors) {
    _Alignas(64) int32_t sums[2][2 * TILE_SUMS * DETECT_GROUP];
    const size_t second = block->rows * vectors * LANES;
    tiles_sum_pair(block, group, 0, sums[0], vectors);
    for (size_t i = 0; i < block->tiles; i += 2) {
        const int32_t *made = sums[i / 2 % 2];
        if (i + 2 < block->tiles) {
            tiles_sum_pair(block, group, i + 2, sums[(i / 2 + 1) % 2], vectors);
        }
        tiles_finish(block, group, i, made, vectors);
        tiles_finish(block, group, i + 1, made + second, vectors);
    }
}

typedef void tiles_group(const struct tiles_block *block, const struct dense_group *group);

#define TILES_GROUP(vectors)                                                                                 \
    static __attribute__((noinline)) void tiles_one_##vectors(const struct tiles_block *block,               \
                                                              const struct dense_group *group) {             \
        tiles_one(block, group, vectors);                                                                    \
    }                                                                                                        \
    static __attribute__((noinline)) void tiles_many_##vectors(const struct tiles_block *block,              \
                                                               const struct dense_group *group) {            \
        tiles_many(block, group, vectors);                                                                   \
    }
TILES_GROUP(1)
TILES_GROUP(2)
TILES_GROUP(3)
TILES_GROUP(4)

static struct tiles_block tiles_block_of(const struct detect_dense *job, const struct dense_inputs *inputs,
                                         size_t first, size_t pixels) {
    const unsigned parts = (inputs->segment + DETECT_PART - 1) / DETECT_PART;
    return (struct tiles_block){.job = job,
                                .inputs = inputs,
                                .first = first,
                                .pixels = pixels,
                                .parts = parts,
                                .part = inputs->segment / parts};
}

/* All groups of a block of pixels. Tiles are released, so that no inputs stay in them, and that the kernel
 * has none to keep when another thread runs. */
static void tiles_dense_block(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                              size_t pixels) {
    static tiles_group *const groups[2][DETECT_GROUP] = {
        {tiles_many_1, tiles_many_2, tiles_many_3, tiles_many_4},
        {tiles_one_1, tiles_one_2, tiles_one_3, tiles_one_4}};
    const struct detect_packed *layer = job->layer;
    struct tiles_block block = tiles_block_of(job, inputs, first, pixels);
    struct dense_group group = {layer->weights, layer->bias, layer->scale, 0, 0};
    const bool one = inputs->segments * block.parts == 1;
    (one ? tiles_shape_one : tiles_shape_many)(&block);
    for (unsigned g = 0; g < layer->groups; g++) {
        const unsigned vectors = dense_group_count(layer, &group, g);
        groups[one][vectors - 1](&block, &group);
        dense_group_skip(&group, inputs->segments * inputs->segment, vectors);
    }
    TILES_RELEASE();
}

/* The heads have one vector, whose sums are the result. */
static void tiles_sums_block(const struct detect_dense *job, const struct dense_inputs *inputs, size_t first,
                             size_t pixels) {
    const struct detect_packed *layer = job->layer;
    struct tiles_block block = tiles_block_of(job, inputs, first, pixels);
    const struct dense_group group = {layer->weights, layer->bias, layer->scale, 0, 0};
    int32_t *to = (int32_t *)job->to + first * DETECT_SUMS;
    if (block.parts == 1) {
        tiles_shape_one(&block);
        tiles_load_weights(&group, 1);
        for (size_t i = 0; i < block.tiles; i++) {
            tiles_sum_one(&block, &group, i, to + tiles_pixel(&block, i) * DETECT_SUMS, 1);
        }
    } else {
        tiles_shape_many(&block);
        for (size_t i = 0; i < block.tiles; i += 2) {
            tiles_sum_many(&block, &group, i, to + tiles_pixel(&block, i) * DETECT_SUMS,
                           to + tiles_pixel(&block, i + 1) * DETECT_SUMS, 1, 0, false);
        }
    }
    TILES_RELEASE();
}

static void tiles_dense(const struct detect_dense *job) {
    dense_run(job, 2 * TILE_ROWS, tiles_dense_block);
}

static void tiles_sums(const struct detect_dense *job) {
    dense_run(job, 2 * TILE_ROWS, tiles_sums_block);
}
