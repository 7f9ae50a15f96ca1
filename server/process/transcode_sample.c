/* SPDX-License-Identifier: MIT */
#include "server/process/transcode_sample.h"

#include <string.h>

#include "codecs/codec.h"
#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/jpeg_patch.h"
#include "core/orient.h"
#include "cpu/linear.h"
#include "cpu/mask/mask_list.h"
#include "cpu/mask/redact.h"
#include "cpu/orient.h"
#include "server/process/sample_restarts.h"
#include "server/process/transcode_recipe.h"

enum { INPUT_QUALITY = 92, FILE_MAX = 1 << 18, RECTS = 64 };

static const struct codec_limits limits = {
    .max_pixels = 1 << 20, .max_side = 1 << 12, .max_scans = 20, .max_memory = 1 << 24};

struct making {
    const struct transcode_recipe *recipe;
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
        const uint32_t samples = image->plane[i].width * image->plane[i].channels;
        for (uint32_t y = 0; y < image->plane[i].height; y++) {
            uint8_t *row = plane_row(&image->plane[i], y);
            for (uint32_t x = 0; x < samples; x++) {
                state = state * 1664525u + 1013904223u;
                row[x] = (uint8_t)((i + 1) * 40 + x / 2 + y / 2 + (state >> (x & 32 ? 26 : 31)));
            }
        }
    }
}

/* Moves the file into the slot. */
static enum status keep(struct slot *slot, struct buf *made, struct bytes *file, struct error *err) {
    uint8_t *memory = slot_take(slot, made->size, err);
    if (!memory) {
        return err->status;
    }
    memcpy(memory, made->data, made->size);
    *file = (struct bytes){memory, made->size};
    return ST_OK;
}

/* Encodes into the slot. */
static enum status encode(struct slot *slot, const struct image *image, const struct encode_options *options,
                          struct bytes *file, struct error *err) {
    struct buf made;
    buf_init(&made, FILE_MAX);
    enum status status = codec_encode(CODEC_JPEG, image, options, NULL, &made, err);
    status = status == ST_OK ? keep(slot, &made, file, err) : status;
    buf_finish(&made);
    return status;
}

static enum status encode_restarts(struct slot *slot, const struct image *image,
                                   const struct encode_options *options, struct bytes *file,
                                   struct error *err) {
    struct buf made;
    buf_init(&made, FILE_MAX);
    enum status status = sample_restarts(image, options, &made, err);
    status = status == ST_OK ? keep(slot, &made, file, err) : status;
    buf_finish(&made);
    return status;
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
    const bool redacts = making->recipe->feather == 0;
    const struct mask_options options = {.outward = redacts};
    struct mask_report ignored;
    struct mask_list listed = {.room = RECTS};
    listed.rect = (struct mask_plan_rect *)(void *)slot_take(making->slot, RECTS * sizeof *listed.rect, err);
    if (!listed.rect) {
        return err->status;
    }
    enum status status =
        mask_list(&listed, &making->set, &making->recipe->shape, &options, redacts, &ignored, err);
    if (status == ST_OK && making->recipe->ring) {
        status = mask_list_rings(&listed, making->set.count, &making->recipe->shape, err);
    }
    *made = (struct transcode_mask){.plan = {.masks = 1,
                                             .redaction = redacts ? MASK_PLAN_REGIONS : MASK_PLAN_KEEP,
                                             .fill = making->recipe->ring ? FILL_RING : FILL_MEAN,
                                             .rects = listed.count,
                                             .rings = listed.rings,
                                             .regions = redacts ? making->set.count : 0,
                                             .feather = making->recipe->feather},
                                    .rects = listed.rect};
    making->sample->job.mask = made;
    return status;
}

/* Blurs the mask into `spare`, and makes that the mask. */
static enum status feather(struct making *making, struct image *mask, const struct image *spare,
                           struct error *err) {
    const struct mask_feathering how = {.feather = making->recipe->feather, .lane = making->reference};
    struct mask_report ignored;
    enum status status = mask_feather(&how, mask, spare, &ignored, err);
    *mask = *spare;
    return status;
}

/* Draws the mask, and redacts the regions in the stored picture or feathers them, as for a request on the
 * CPU. */
static enum status select_regions(struct making *making, const struct image *stored, struct image *mask,
                                  struct error *err) {
    const struct transcode_recipe *recipe = making->recipe;
    const struct image_shape shape = mask_plan_shape(&recipe->shape);
    const bool redacts = recipe->feather == 0;
    struct redact_options how = {.fill.kind = recipe->ring ? FILL_RING : FILL_MEAN};
    struct mask_report ignored;
    struct image spare;
    mask_plan_grid(&recipe->shape, &how.grid.width, &how.grid.height);
    struct mask_options options = {.outward = redacts};
    options.grid = redacts ? how.grid : options.grid;
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
    if (status != ST_OK) {
        return status;
    }
    return redacts ? redact_image(stored, &making->set, &how, &spare, err)
                   : feather(making, mask, &spare, err);
}

/* All memory of an image with one plane. */
static struct bytes whole(const struct image *image) {
    return (struct bytes){image->plane[0].data, image->plane[0].stride * image->plane[0].height};
}

/* Names what is expected for a result: a file that is written, or the result itself. */
static enum status name_expected(struct making *making, const struct image *result, const struct image *mask,
                                 struct error *err) {
    const struct transcode_recipe *recipe = making->recipe;
    struct gpu_sample *sample = making->sample;
    const struct encode_options options = {.quality = recipe->quality, .optimal = recipe->optimal};
    struct buf made;
    if (recipe->pixels) {
        sample->expected = whole(result);
        return ST_OK;
    }
    if (!recipe->patch) {
        return encode(making->slot, result, &options, &sample->expected, err);
    }
    buf_init(&made, FILE_MAX);
    enum status status = jpeg_patch(sample->job.input, &limits, result, mask, &options, NULL, &made, err);
    status = status == ST_OK ? keep(making->slot, &made, &sample->expected, err) : status;
    buf_finish(&made);
    return status;
}

/* The upright picture that the chain reads. */
static struct image_shape upright_shape(const struct transcode_recipe *recipe) {
    const struct image_shape read = transcode_read(&recipe->shape, recipe->colours);
    return orient_shape(&read, recipe->orientation);
}

/* Decodes the input into what the chain reads as stored. *stored has the planes; their memory is overwritten.
 */
static enum status decode_input(struct making *making, struct image *stored, struct error *err) {
    const struct transcode_recipe *recipe = making->recipe;
    const struct image_shape read = transcode_read(&recipe->shape, recipe->colours);
    struct image_shape decoded = read;
    struct image pixels = *stored;
    enum status status = ST_OK;
    decoded.depth = 8;
    if (recipe->colours != TRANSCODE_PLANES) {
        status = take_image(making->slot, &decoded, &pixels, err);
    }
    status = status == ST_OK ? decode(making->sample->job.input, &pixels, err) : status;
    *stored = pixels;
    if (status == ST_OK && read.depth == 16 &&
        (status = take_image(making->slot, &read, stored, err)) == ST_OK) {
        status = linear_from(NULL, 0, &pixels, stored, err);
    }
    return status;
}

/* Makes samples of 8 bits of a result in linear light. */
static enum status from_light(struct slot *slot, struct image *result, struct error *err) {
    struct image_shape shape = image_shape(result);
    struct image pixels;
    shape.depth = 8;
    enum status status = result->depth == 8 ? ST_OK : take_image(slot, &shape, &pixels, err);
    if (status == ST_OK && result->depth == 16) {
        status = linear_to(NULL, 0, result, &pixels, err);
        *result = pixels;
    }
    return status;
}

/* Makes what is expected for the sample's input, as the CPU does. */
static enum status expect(struct making *making, struct image *stored, struct error *err) {
    const struct transcode_recipe *recipe = making->recipe;
    struct gpu_sample *sample = making->sample;
    const struct image_shape shape = upright_shape(recipe), result = chain_result(&sample->chain, &shape);
    struct image upright, target, mask;
    enum status status = recipe->decoded ? ST_OK : decode_input(making, stored, err);
    if (status == ST_OK && recipe->region[0]) {
        status = select_regions(making, stored, &mask, err);
    }
    if (status == ST_OK && (status = take_image(making->slot, &shape, &upright, err)) == ST_OK) {
        status = orient_image(stored, recipe->orientation, &upright, 0, err);
    }
    if (status == ST_OK) {
        status = take_image(making->slot, &result, &target, err);
    }
    if (status != ST_OK) {
        return status;
    }
    const struct chain_run run = {.chain = &sample->chain,
                                  .source = &upright,
                                  .target = &target,
                                  .mask = recipe->region[0] ? &mask : NULL};
    status = lane_run(making->reference, &run, NULL, err);
    status = status == ST_OK ? from_light(making->slot, &target, err) : status;
    return status == ST_OK ? name_expected(making, &target, &mask, err) : status;
}

/* Paints the picture, and encodes it unless the input is decoded. */
static enum status make_input(const struct transcode_recipe *recipe, struct slot *slot, struct image *stored,
                              struct bytes *file, struct error *err) {
    const struct encode_options options = {
        .quality = INPUT_QUALITY, .optimal = !recipe->optimal, .progressive = recipe->progressive};
    enum status status = take_image(slot, &recipe->shape, stored, err);
    if (status != ST_OK) {
        return status;
    }
    paint(stored);
    if (recipe->decoded) {
        *file = whole(stored);
        return ST_OK;
    }
    return recipe->restarts ? encode_restarts(slot, stored, &options, file, err)
                            : encode(slot, stored, &options, file, err);
}

/* Puts the coefficients of the input in its place. */
static enum status hand_over(struct making *making, struct error *err) {
    struct transcode *job = &making->sample->job;
    struct coefficients_layout layout = {0};
    bool possible = coefficients_lay_out(&job->shape, &layout);
    uint8_t *memory = slot_take(making->slot, jpeg_coefficients_bytes(&layout), err);
    if (!memory || !possible) {
        return memory ? fail(err, ST_INTERNAL, "a sample has no coefficients") : err->status;
    }
    enum status status = jpeg_coefficients_read(job->input, &limits, &job->shape, job->patch, memory, err);
    job->input = (struct bytes){memory, coefficients_size(&layout)};
    job->form = TRANSCODE_COEFFICIENTS;
    return status;
}

enum status transcode_sample(unsigned number, struct lane *reference, struct slot *slot,
                             struct gpu_sample *sample, struct error *err) {
    const struct transcode_recipe *recipe = transcode_recipe(number);
    if (!recipe) {
        return fail(err, ST_NOTHING, "there are no more samples");
    }
    const struct image_shape shape = upright_shape(recipe);
    struct making making = {.recipe = recipe, .reference = reference, .slot = slot, .sample = sample};
    struct transcode *job = &sample->job;
    struct image stored;
    *sample = (struct gpu_sample){.job = {.chain = &sample->chain,
                                          .slot = slot,
                                          .shape = recipe->shape,
                                          .orientation = recipe->orientation,
                                          .quality = recipe->quality,
                                          .optimal = recipe->optimal,
                                          .patch = recipe->patch,
                                          .colours = recipe->colours,
                                          .pixels = recipe->pixels}};
    enum status status =
        chain_append(&sample->chain, filter_get(recipe->filter), &recipe->arguments, &shape, err);
    if (status == ST_OK) {
        status = make_input(recipe, slot, &stored, &job->input, err);
    }
    if (status == ST_OK) {
        status = expect(&making, &stored, err);
    }
    job->form = recipe->decoded ? TRANSCODE_PIXELS : recipe->scans ? TRANSCODE_SCANS : TRANSCODE_SCAN;
    job->room = recipe->pixels ? sample->expected.size : FILE_MAX;
    if (status == ST_OK && recipe->progressive && !recipe->scans) {
        status = hand_over(&making, err);
    }
    if (status == ST_OK) {
        job->output = slot_take(slot, job->room, err);
    }
    return status == ST_OK && !job->output ? err->status : status;
}
