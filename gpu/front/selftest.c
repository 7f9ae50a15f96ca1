/* SPDX-License-Identifier: MIT */
#include "gpu/front/selftest.h"

#include <string.h>

#include "core/log.h"
#include "filters/chain.h"

enum { RUN_TIMEOUT_MS = 10000 }; /* the first launch may load code */

/* Fills the memory with constant noise (xorshift, Marsaglia 2003). */
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

/* Memory behind the last candidate does not matter. */
static bool same_candidates(const struct image *a, const struct image *b) {
    const struct candidates *one = (const struct candidates *)(void *)plane_row(&a->plane[0], 0);
    const struct candidates *other = (const struct candidates *)(void *)plane_row(&b->plane[0], 0);
    uint32_t count = one->count;
    return count == other->count && count <= CANDIDATES_MAX &&
           memcmp(one->candidate, other->candidate, count * sizeof one->candidate[0]) == 0;
}

static bool same_result(const struct chain *chain, const struct image *a, const struct image *b) {
    return chain_searches(chain) ? same_candidates(a, b) : same_pixels(a, b);
}

enum { SOURCE, EXPECTED, RESULT, MASK, PICTURES };

struct bench {
    struct slot *slot;
    struct lane *reference;
    struct chain chain;
    struct image image[PICTURES];
    uint64_t offset[PICTURES]; /* in the slot */
};

/* Plans the sample and places its pictures in the slot, with noise in the source and the mask. */
static enum status prepare(struct bench *bench, enum filter_id filter, const struct filter_sample *sample,
                           struct error *err) {
    bench->chain = (struct chain){0};
    bench->slot->used = 0;
    enum status status =
        chain_append(&bench->chain, filter_get(filter), sample->arguments, &sample->shape, err);
    const struct image_shape result = chain_result(&bench->chain, &sample->shape);
    const struct image_shape coverage = {
        .model = PIXEL_GRAY, .depth = 8, .width = sample->shape.width, .height = sample->shape.height};
    const struct image_shape *const shapes[PICTURES] = {
        [SOURCE] = &sample->shape, [EXPECTED] = &result, [RESULT] = &result, [MASK] = &coverage};
    for (unsigned i = 0; i < PICTURES && status == ST_OK; i++) {
        size_t size = image_layout(&bench->image[i], shapes[i]);
        uint8_t *memory = slot_take(bench->slot, size, err);
        if (!memory) {
            return err->status;
        }
        fill(memory, i == SOURCE || i == MASK ? size : 0);
        image_place(&bench->image[i], memory);
        bench->offset[i] = (uint64_t)(memory - bench->slot->memory);
    }
    return status;
}

static uint32_t filter_bit(uint32_t filter) {
    return UINT32_C(1) << filter;
}

/* Without a model on either side, the other one is not asked to search. A small GPU may have no memory for
 * the model, and does the rest. */
static bool may_lack_model(enum status status, bool asked) {
    return status == ST_UNSUPPORTED || (asked && status == ST_BUSY);
}

static enum status run_sample(struct engine_link *link, struct bench *bench, enum filter_id filter,
                              const struct filter_sample *sample, bool *wrong, struct error *err) {
    struct link_timeout timeout = {.least_ms = RUN_TIMEOUT_MS};
    struct wire_done done;
    enum status status = prepare(bench, filter, sample, err);
    if (status == ST_OK) {
        const struct chain_run expected = {.chain = &bench->chain,
                                           .source = &bench->image[SOURCE],
                                           .target = &bench->image[EXPECTED],
                                           .mask = sample->masked ? &bench->image[MASK] : NULL};
        status = lane_run(bench->reference, &expected, NULL, err);
    }
    struct wire_run run = {
        .source = bench->offset[SOURCE],
        .target = bench->offset[RESULT],
        .mask = sample->masked ? bench->offset[MASK] : WIRE_NO_MASK,
        .shape = sample->shape,
        .chain = bench->chain,
    };
    bool asked = status == ST_OK;
    if (asked) {
        status = link_run(link, &run, bench->slot, &timeout, &done, err);
    }
    *wrong = status == ST_OK && !same_result(&bench->chain, &bench->image[EXPECTED], &bench->image[RESULT]);
    return chain_searches(&bench->chain) && may_lack_model(status, asked) ? ST_OK : status;
}

/* A filter that has failed before is not tried again. */
static enum status run_samples(struct engine_link *link, struct bench *bench, enum filter_id id,
                               _Atomic uint32_t *refused, struct error *err) {
    const struct filter *filter = filter_get(id);
    const bool basis = id == FILTER_BLUR; /* when its pixels are wrong, no kernel can be trusted */
    enum status status = ST_OK;
    for (const struct filter_sample *sample = filter->samples; sample && sample->arguments; sample++) {
        bool wrong = false, tried = basis || !(*refused & filter_bit(id));
        int number = (int)(sample - filter->samples);
        status = tried ? run_sample(link, bench, id, sample, &wrong, err) : ST_OK;
        if ((wrong || status == ST_DEVICE) && !basis) {
            atomic_fetch_or(refused, filter_bit(id));
        }
        if (wrong && basis) {
            status = fail(err, ST_DEVICE, "the self-test found wrong pixels (%s, sample %d)", filter->name,
                          number);
        } else if (wrong) {
            log_message(LOG_WARNING, "gpu",
                        "the self-test found wrong pixels (sample %d), which leaves %s to the CPU until a "
                        "restart",
                        number, filter->name);
        }
        if (status != ST_OK) {
            return status;
        }
    }
    return ST_OK;
}

bool selftest_allows(uint32_t refused, const struct chain *chain) {
    for (uint32_t i = 0; i < chain->count; i++) {
        if (refused & filter_bit(chain->step[i].filter)) {
            return false;
        }
    }
    return true;
}

enum status selftest_run(struct engine_link *link, struct slot *slot, struct backend *reference,
                         _Atomic uint32_t *refused, struct error *err) {
    struct bench bench = {.slot = slot};
    enum status status = lane_create(reference, &bench.reference, err);
    status = status == ST_OK ? run_samples(link, &bench, FILTER_BLUR, refused, err) : status;
    for (unsigned i = 0; i < FILTER_COUNT && status == ST_OK; i++) {
        status = i == FILTER_BLUR ? ST_OK : run_samples(link, &bench, (enum filter_id)i, refused, err);
    }
    lane_destroy(bench.reference);
    return status;
}
