/* SPDX-License-Identifier: MIT */
#include "gpu/front/selftest.h"

#include <string.h>

#include "core/log.h"
#include "filters/chain.h"

enum { RUN_TIMEOUT_MS = 10000 }; /* the first launch may load code */

struct sample {
    struct image_shape shape;
    enum filter_id filter;
    union filter_arguments arguments;
    bool masked;
};

#define SIZE .width = 193, .height = 101 /* odd, so that tiles have edges and tails */
#define SMALL .width = 61, .height = 67
#define CHROMA .chroma_shift_x = 1, .chroma_shift_y = 1

/* Together these launch every kernel but the rarest of the blur. */
static const struct sample samples[] = {
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_BLUR, {.blur.sigma = 1.5}, false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_BLUR, {.blur.sigma = 20}, false},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SIZE}, FILTER_BLUR, {.blur.sigma = 7}, false},
    {{.model = PIXEL_RGBA, .depth = 8, SMALL}, FILTER_BLUR, {.blur.sigma = 3}, false},
    {{.model = PIXEL_GRAY, .depth = 16, SMALL}, FILTER_BLUR, {.blur.sigma = 9}, false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_SHARPEN, {.sharpen = {{.sigma = 1.5}, 2, 1}}, false},
    {{.model = PIXEL_RGBA, .depth = 16, SMALL}, FILTER_SHARPEN, {.sharpen = {{.sigma = 9}, 1, 0}}, true},
    {{.model = PIXEL_RGB, .depth = 8, SIZE},
     FILTER_CONVOLVE,
     {.convolve = {.kernel = {9, 3, {1, 2, -1, 0.5, 3, 0, -2, 1, 0.25}}, .edge = EDGE_MIRROR}},
     false},
    {{.model = PIXEL_RGBA, .depth = 8, SMALL},
     FILTER_CONVOLVE,
     {.convolve = {.kernel = {15, 3, {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1}}, .edge = EDGE_FRAME}},
     false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_ADJUST, {.adjust = {1.2, 1.1, 1.4, .gamma = 2}}, true},
    {{.model = PIXEL_RGBA, .depth = 16, SMALL}, FILTER_ADJUST, {.adjust = {1, 1, 0.5, .gamma = 2}}, false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE},
     FILTER_ADJUST,
     {.adjust = {1, 1, 1, 1, .grayscale = true}},
     false},
    {{.model = PIXEL_GRAY, .depth = 8, SIZE}, FILTER_ADJUST, {.adjust = {1, 1, 1, 1, .sepia = 1}}, false},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SIZE},
     FILTER_ADJUST,
     {.adjust = {1, 1, 1, 1, .negate = true}},
     true},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SIZE}, FILTER_PIXELATE, {.pixelate = {8}}, true},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_PIXELATE, {.pixelate = {130}}, false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_RESIZE, {.resize = {.width = 4}}, false},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SIZE}, FILTER_RESIZE, {.resize = {.width = 40}}, false},
    {{.model = PIXEL_RGB, .depth = 16, SMALL},
     FILTER_RESIZE,
     {.resize = {.width = 90, .enlarge = true}},
     false},
    {{.model = PIXEL_GRAY_ALPHA, .depth = 8, SMALL}, FILTER_RESIZE, {.resize = {.scale = 0.3}}, false},
    {{.model = PIXEL_RGBA, .depth = 16, SMALL},
     FILTER_RESIZE,
     {.resize = {.width = 50, .height = 20, .fit = RESIZE_CONTAIN, .kernel = RESIZE_AREA}},
     false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_DILATE, {.morphology = {7, EDGE_MIRROR}}, true},
    {{.model = PIXEL_RGBA, .depth = 16, SMALL}, FILTER_ERODE, {.morphology = {2, EDGE_ZERO}}, false},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SIZE}, FILTER_MEDIAN, {.median = {4, EDGE_CLAMP}}, false},
    {{.model = PIXEL_RGBA, .depth = 8, SMALL}, FILTER_MEDIAN, {.median = {3, EDGE_WRAP}}, false},
    {{.model = PIXEL_RGB, .depth = 8, SIZE}, FILTER_STATS, {.blur = {0}}, true},
    {{.model = PIXEL_YCBCR, .depth = 8, CHROMA, SMALL}, FILTER_DETECT, {.detect = {.threshold = 0}}, false},
};

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
static bool same_faces(const struct image *a, const struct image *b) {
    const struct face_candidates *one = (const struct face_candidates *)(void *)plane_row(&a->plane[0], 0);
    const struct face_candidates *other = (const struct face_candidates *)(void *)plane_row(&b->plane[0], 0);
    uint32_t count = one->count;
    return count == other->count && count <= FACE_CANDIDATES_MAX &&
           memcmp(one->candidate, other->candidate, count * sizeof one->candidate[0]) == 0;
}

static bool same_result(enum filter_id filter, const struct image *a, const struct image *b) {
    return filter == FILTER_DETECT ? same_faces(a, b) : same_pixels(a, b);
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
static enum status prepare(struct bench *bench, const struct sample *sample, struct error *err) {
    bench->chain = (struct chain){0};
    bench->slot->used = 0;
    enum status status =
        chain_append(&bench->chain, filter_get(sample->filter), &sample->arguments, &sample->shape, err);
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

/* Without a model on either side, the other one is not asked for faces. A small GPU may have no memory for
 * the model, and does the rest. */
static bool may_lack_faces(enum status status, bool asked) {
    return status == ST_UNSUPPORTED || (asked && status == ST_BUSY);
}

static enum status run_sample(struct engine_link *link, struct bench *bench, const struct sample *sample,
                              _Atomic uint32_t *refused, struct error *err) {
    struct job_timeout timeout = {.least_ms = RUN_TIMEOUT_MS};
    struct wire_done done;
    enum status status = prepare(bench, sample, err);
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
    bool wrong =
        status == ST_OK && !same_result(sample->filter, &bench->image[EXPECTED], &bench->image[RESULT]);
    if ((wrong || status == ST_DEVICE) && sample->filter != FILTER_BLUR) {
        atomic_fetch_or(refused, filter_bit(sample->filter));
    }
    if (!wrong) {
        return sample->filter == FILTER_DETECT && may_lack_faces(status, asked) ? ST_OK : status;
    }
    int number = (int)(sample - samples);
    const char *name = filter_get(sample->filter)->name;
    if (sample->filter == FILTER_BLUR) { /* the first samples: no kernel can be trusted */
        return fail(err, ST_DEVICE, "the self-test found wrong pixels (sample %d, %s)", number, name);
    }
    log_message(LOG_WARNING, "gpu",
                "the self-test found wrong pixels (sample %d), which leaves %s to the CPU until a restart",
                number, name);
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
    for (unsigned i = 0; i < sizeof samples / sizeof samples[0] && status == ST_OK; i++) {
        bool tried = samples[i].filter == FILTER_BLUR || !(*refused & filter_bit(samples[i].filter));
        status = tried ? run_sample(link, &bench, &samples[i], refused, err) : ST_OK;
    }
    lane_destroy(bench.reference);
    return status;
}
