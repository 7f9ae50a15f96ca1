/* SPDX-License-Identifier: MIT */
#include "gpu/selftest.h"

#include <string.h>

#include "filters/chain.h"

enum { RUN_TIMEOUT_MS = 10000 }; /* the first launch may still load code */

struct sample {
    struct image_shape shape;
    double sigma;
};

/* Odd sizes, so that edges and tails of tiles are in it. */
static const struct sample samples[] = {
    {{.model = PIXEL_RGB, .depth = 8, .width = 193, .height = 101}, 1.5},
    {{.model = PIXEL_RGB, .depth = 8, .width = 193, .height = 101}, 20},
    {{.model = PIXEL_YCBCR,
      .depth = 8,
      .chroma_shift_x = 1,
      .chroma_shift_y = 1,
      .width = 193,
      .height = 101},
     7},
    {{.model = PIXEL_RGBA, .depth = 8, .width = 61, .height = 67}, 3},
    {{.model = PIXEL_GRAY, .depth = 16, .width = 61, .height = 67}, 9},
};

/* Noise that is the same every time (xorshift, Marsaglia 2003). */
static void fill(uint8_t *memory, size_t size) {
    uint32_t state = 2463534242u;
    for (size_t i = 0; i < size; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        memory[i] = (uint8_t)(state >> 24);
    }
}

static bool same_pixels(const struct image *a, const struct image *b) {
    for (unsigned i = 0; i < a->plane_count; i++) {
        for (uint32_t y = 0; y < a->plane[i].height; y++) {
            size_t size = plane_row_bytes(&a->plane[i], a->depth);
            if (memcmp(plane_row(&a->plane[i], y), plane_row(&b->plane[i], y), size) != 0) {
                return false;
            }
        }
    }
    return true;
}

struct bench {
    struct slot *slot;
    struct lane *reference;
    struct image image[3]; /* source, expected, result */
};

static enum status run_sample(struct supervisor *supervisor, struct supervisor_link *link,
                              struct bench *bench, const struct sample *sample, struct error *err) {
    const struct filter *filter = filter_get(FILTER_BLUR);
    struct blur_arguments arguments;
    struct chain chain = {0};
    struct wire_done done;
    uint64_t offset[3] = {0};
    arguments_default(filter->arguments, &arguments);
    arguments.sigma = sample->sigma;
    enum status status = chain_append(&chain, filter, &arguments, &sample->shape, err);
    bench->slot->used = 0;
    for (unsigned i = 0; i < 3 && status == ST_OK; i++) {
        size_t size = image_layout(&bench->image[i], &sample->shape);
        uint8_t *memory = slot_take(bench->slot, size, err);
        if (!memory) {
            return err->status;
        }
        fill(memory, i == 0 ? size : 0);
        image_place(&bench->image[i], memory);
        offset[i] = (uint64_t)(memory - bench->slot->memory);
    }
    if (status == ST_OK) {
        const struct run expected = {.chain = &chain, .source = &bench->image[0], .target = &bench->image[1]};
        status = lane_run(bench->reference, &expected, NULL, err);
    }
    struct wire_run run = {
        .slot_serial = bench->slot->serial,
        .slot_generation = bench->slot->generation,
        .slot_reserved = bench->slot->reserved,
        .source = offset[0],
        .target = offset[2],
        .mask = WIRE_NO_MASK,
        .shape = sample->shape,
        .chain = chain,
    };
    if (status == ST_OK) {
        status = supervisor_run(supervisor, link, &run, bench->slot->fd, RUN_TIMEOUT_MS, &done, err);
    }
    if (status == ST_OK && !same_pixels(&bench->image[1], &bench->image[2])) {
        return fail(err, ST_DEVICE, "the self-test found wrong pixels (sigma %g)", sample->sigma);
    }
    return status;
}

enum status selftest_run(struct supervisor *supervisor, struct supervisor_link *link,
                         const struct gpu_options *options, struct error *err) {
    struct bench bench = {0};
    enum status status = slot_acquire(options->slots, &bench.slot, err);
    if (status == ST_OK) {
        status = lane_create(options->reference, &bench.reference, err);
    }
    for (unsigned i = 0; i < sizeof samples / sizeof samples[0] && status == ST_OK; i++) {
        status = run_sample(supervisor, link, &bench, &samples[i], err);
    }
    lane_destroy(bench.reference);
    slot_give_back(bench.slot);
    return status;
}
