/* SPDX-License-Identifier: MIT */
#include "server/process/transcode_sample.h"

#include <string.h>

#include "codecs/codec.h"
#include "cpu/mask/mask_list.h"
#include "cpu/mask/redact.h"

enum { INPUT_QUALITY = 92, FILE_MAX = 1 << 18, RECTS = 64 };

struct recipe {
    struct image_shape shape; /* as stored */
    enum filter_id filter;
    union filter_arguments arguments;
    uint8_t quality;
    bool optimal;
    const char *region[2]; /* redacted, and the filter changes nothing else; NULL: none */
};

#define SIZE .depth = 8, .width = 193, .height = 101 /* odd, so that blocks at the borders are cut */
#define CHROMA .model = PIXEL_YCBCR, .chroma_shift_x = 1, .chroma_shift_y = 1

static const struct recipe recipes[] = {
    {{CHROMA, SIZE}, FILTER_BLUR, {.blur.sigma = 1.5}, 85, true, {NULL}},
    {{.model = PIXEL_YCBCR, SIZE}, FILTER_PIXELATE, {.pixelate = {8}}, 60, false, {NULL}},
    {{.model = PIXEL_GRAY, SIZE}, FILTER_BLUR, {.blur.sigma = 0.5}, 95, true, {NULL}},
    {{CHROMA, SIZE}, FILTER_BLUR, {.blur.sigma = 4}, 85, true, {"21,13,77,40", "ellipse:90,30,60,50"}},
};

static const struct codec_limits limits = {
    .max_pixels = 1 << 20, .max_side = 1 << 12, .max_scans = 1, .max_memory = 1 << 24};

struct making {
    const struct recipe *recipe;
    struct lane *reference;
    struct slot *slot;
    struct gpu_sample *sample;
    struct region_set set;
};

static enum status take_image(struct slot *slot, const struct image_shape *shape, struct image *image,
                              struct error *err) {
    uint8_t *memory = slot_take(slot, image_layout(image, shape), err);
    if (!memory) {
        return err->status;
    }
    image_place(image, memory);
    return ST_OK;
}

/* Gradients under constant noise, strong in some columns: codes of many lengths. */
static void paint(const struct image *image) {
    uint32_t state = 2463534242u;
    for (unsigned i = 0; i < image->plane_count; i++) {
        for (uint32_t y = 0; y < image->plane[i].height; y++) {
            uint8_t *row = plane_row(&image->plane[i], y);
            for (uint32_t x = 0; x < image->plane[i].width; x++) {
                state = state * 1664525u + 1013904223u;
                row[x] = (uint8_t)((i + 1) * 40 + x / 2 + y / 2 + (state >> (x & 32 ? 26 : 31)));
            }
        }
    }
}

/* Encodes into the slot. */
static enum status encode(struct slot *slot, const struct image *image, const struct encode_options *options,
                          struct bytes *file, struct error *err) {
    struct buf made;
    buf_init(&made, FILE_MAX);
    enum status status = codec_encode(CODEC_JPEG, image, options, NULL, &made, err);
    uint8_t *memory = status == ST_OK ? slot_take(slot, made.size, err) : NULL;
    if (memory) {
        memcpy(memory, made.data, made.size);
        *file = (struct bytes){memory, made.size};
    }
    buf_finish(&made);
    return status == ST_OK && !memory ? err->status : status;
}

static enum status decode(struct bytes file, const struct image *image, struct error *err) {
    struct picture picture;
    enum status status = codec_probe(file, &limits, &picture, err);
    if (status == ST_OK) {
        status = codec_decode(file, &picture, &limits, image, err);
        codec_picture_finish(&picture);
    }
    return status;
}

/* The rectangles for the device. */
static enum status list(struct making *making, struct error *err) {
    struct transcode_mask *made = &making->sample->mask;
    const struct mask_options options = {.outward = true};
    struct mask_report ignored;
    struct mask_list listed = {.room = RECTS};
    listed.rect = (struct mask_plan_rect *)(void *)slot_take(making->slot, RECTS * sizeof *listed.rect, err);
    if (!listed.rect) {
        return err->status;
    }
    enum status status =
        mask_list(&listed, &making->set, &making->recipe->shape, &options, true, &ignored, err);
    *made = (struct transcode_mask){.plan = {.masks = 1,
                                             .redaction = MASK_PLAN_REGIONS,
                                             .rects = listed.count,
                                             .regions = making->set.count},
                                    .rects = listed.rect};
    making->sample->job.mask = made;
    return status;
}

/* Redacts the regions in the stored picture and draws the mask, as for a request on the CPU. */
static enum status redact(struct making *making, const struct image *stored, struct image *mask,
                          struct error *err) {
    const struct recipe *recipe = making->recipe;
    const struct image_shape shape = mask_plan_shape(&recipe->shape);
    struct redact_options how = {0};
    struct mask_report ignored;
    struct image spare;
    mask_plan_grid(&recipe->shape, &how.grid.width, &how.grid.height);
    const struct mask_options options = {.outward = true, .grid = how.grid};
    enum status status = ST_OK;
    for (unsigned i = 0; i < sizeof recipe->region / sizeof recipe->region[0] && status == ST_OK; i++) {
        status = region_parse(&making->set, recipe->region[i], err);
    }
    if (status == ST_OK && (status = list(making, err)) == ST_OK) {
        status = take_image(making->slot, &shape, mask, err);
    }
    if (status == ST_OK && (status = take_image(making->slot, &shape, &spare, err)) == ST_OK) {
        status = mask_draw(mask, &making->set, &options, &ignored, err);
    }
    return status == ST_OK ? redact_image(stored, &making->set, &how, &spare, err) : status;
}

/* Makes the file that is expected for the sample's input. */
static enum status expect(struct making *making, const struct image *stored, struct error *err) {
    const struct recipe *recipe = making->recipe;
    struct gpu_sample *sample = making->sample;
    const struct encode_options options = {.quality = recipe->quality, .optimal = recipe->optimal};
    const struct image_shape result = chain_result(&sample->chain, &recipe->shape);
    struct image target, mask;
    enum status status = decode(sample->job.input, stored, err);
    if (status == ST_OK && recipe->region[0]) {
        status = redact(making, stored, &mask, err);
    }
    if (status == ST_OK) {
        status = take_image(making->slot, &result, &target, err);
    }
    if (status != ST_OK) {
        return status;
    }
    const struct run run = {.chain = &sample->chain,
                            .source = stored,
                            .target = &target,
                            .mask = recipe->region[0] ? &mask : NULL};
    status = lane_run(making->reference, &run, NULL, err);
    return status == ST_OK ? encode(making->slot, &target, &options, &sample->expected, err) : status;
}

enum status transcode_sample(unsigned number, struct lane *reference, struct slot *slot,
                             struct gpu_sample *sample, struct error *err) {
    if (number >= sizeof recipes / sizeof recipes[0]) {
        return fail(err, ST_NOTHING, "there are no more samples");
    }
    const struct recipe *recipe = &recipes[number];
    const struct encode_options options = {.quality = INPUT_QUALITY, .optimal = !recipe->optimal};
    struct making making = {.recipe = recipe, .reference = reference, .slot = slot, .sample = sample};
    struct transcode *job = &sample->job;
    struct image stored;
    *sample = (struct gpu_sample){.job = {.chain = &sample->chain,
                                          .slot = slot,
                                          .shape = recipe->shape,
                                          .orientation = 1,
                                          .quality = recipe->quality,
                                          .optimal = recipe->optimal,
                                          .room = FILE_MAX}};
    enum status status =
        chain_append(&sample->chain, filter_get(recipe->filter), &recipe->arguments, &recipe->shape, err);
    if (status == ST_OK && (status = take_image(slot, &recipe->shape, &stored, err)) == ST_OK) {
        paint(&stored);
        status = encode(slot, &stored, &options, &job->input, err);
    }
    if (status == ST_OK) {
        status = expect(&making, &stored, err);
    }
    if (status == ST_OK) {
        job->output = slot_take(slot, job->room, err);
    }
    return status == ST_OK && !job->output ? err->status : status;
}
