/* SPDX-License-Identifier: MIT */
#include "server/planner/plan.h"

#include <inttypes.h>

#include "config/config.h"
#include "cpu/orient.h"
#include "server/message/accept.h"
#include "server/planner/lossless.h"

/* Returns AUTO for subsamplings that the encoder does not offer (4:4:0, 4:1:1). */
static enum subsampling subsampling_of(const struct image_shape *shape) {
    unsigned shifts = (unsigned)shape->chroma_shift_x << 4 | shape->chroma_shift_y;
    return shifts == 0x11   ? SUBSAMPLING_420
           : shifts == 0x10 ? SUBSAMPLING_422
           : shifts == 0x00 ? SUBSAMPLING_444
                            : SUBSAMPLING_AUTO;
}

/* Appends operation `i`. Under a mask adjustments keep the colour model, as the result is mixed with the
 * picture. */
static enum status append_operation(struct chain *chain, const struct parameters *parameters, unsigned i,
                                    const struct image_shape *shape, struct error *err) {
    const struct operation *operation = &parameters->ops.operation[i];
    union filter_arguments arguments = operation->arguments;
    if (filter_id(operation->filter) == FILTER_ADJUST) {
        arguments.adjust.keep_model = parameters_select(parameters) && chain_masked(chain) == chain->count;
    }
    return chain_append(chain, operation->filter, &arguments, shape, err);
}

/* Whether each filter can work on planes as it gets them from the step before; the first gets `planes`. */
static bool takes_planes(const struct parameters *parameters, const struct image_shape *planes) {
    struct chain trial = {0};
    struct error ignored;
    bool all = parameters->input.colorspace == COLORSPACE_NATIVE;
    for (unsigned i = 0; i < parameters->ops.count && all; i++) {
        const struct filter *filter = parameters->ops.operation[i].filter;
        const void *arguments = &parameters->ops.operation[i].arguments;
        struct image_shape read = chain_result(&trial, planes);
        all = filter->planar && filter->planar(arguments, &read) &&
              append_operation(&trial, parameters, i, planes, &ignored) == ST_OK;
    }
    return all;
}

static bool fits_subsampling(const struct work_plan *plan, const struct image_shape *planes) {
    int asked = plan->parameters->output.subsampling;
    return asked == SUBSAMPLING_AUTO || asked == (int)subsampling_of(planes);
}

/* Whether some step writes a colour of its own, which only has the right value in JPEG's form of YCbCr. */
static bool writes_colours(const struct parameters *parameters) {
    bool writes = parameters->input.mode == MODE_REDACT;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        writes = writes || (operation->filter->paints && operation->filter->paints(&operation->arguments));
    }
    return writes;
}

/* A search reads a JPEG's planes of YCbCr as stored, where the search takes them, and in pixels
 * otherwise. The answer does not matter, so that all have the same boxes. */
static bool searches_planes(const struct work_plan *plan) {
    return plan->picture.codec == CODEC_JPEG && plan->picture.native.model == PIXEL_YCBCR &&
           detection_takes_planes(plan->parameters, &plan->picture.native,
                                  plan->picture.metadata.orientation);
}

static bool can_detect(const struct work_plan *plan) {
    return !parameters_search(plan->parameters) || searches_planes(plan);
}

/* Whether the file's planes can be filtered and written without a conversion. */
static bool keeps_planes(const struct work_plan *plan, const struct image_shape *upright) {
    const struct codec *codec = codec_get(plan->output);
    bool jpeg = plan->output == CODEC_JPEG;
    return plan->picture.native.model == PIXEL_YCBCR && plan->output == plan->picture.codec &&
           !plan->parameters->input.about.pixels && codec->planes &&
           (jpeg || !writes_colours(plan->parameters)) &&
           !(codec->lossless && plan->parameters->output.lossless) &&
           (!codec->subsamples || fits_subsampling(plan, upright)) &&
           takes_planes(plan->parameters, upright) && can_detect(plan) &&
           orient_is_exact(&plan->picture.native, plan->orientation);
}

enum filter_answer plan_answer(const struct work_plan *plan) {
    return parameters_answer(plan->parameters);
}

bool plan_searches_apart(const struct work_plan *plan) {
    return plan->detection.count > 0 && plan->searched.model != plan->stored.model;
}

bool plan_moves_blocks(const struct work_plan *plan) {
    return plan->turn.width > 0;
}

bool plan_is_linear(const struct work_plan *plan) {
    return plan->parameters->input.colorspace == COLORSPACE_LINEAR;
}

static uint8_t quality_of(const struct work_plan *plan) {
    uint8_t usual = codec_get(plan->output)->quality;
    return usual && !parameters_given(plan->parameters, "quality")
               ? usual
               : (uint8_t)plan->parameters->output.quality;
}

static uint8_t effort_of(const struct work_plan *plan) {
    const struct codec *codec = codec_get(plan->output);
    const struct output_arguments *asked = &plan->parameters->output;
    uint64_t pixels = (uint64_t)plan->encoded.width * plan->encoded.height;
    bool usual = codec->effort && pixels <= codec->effort_pixels && !(codec->lossless && asked->lossless);
    return usual && !parameters_given(plan->parameters, "effort") ? codec->effort : (uint8_t)asked->effort;
}

static void choose_output(struct work_plan *plan, const char *accept) {
    const struct output_arguments *asked = &plan->parameters->output;
    plan->output = asked->format == FORMAT_AUTO
                       ? accept_choose(accept, plan->picture.codec, frames_plan_animates(&plan->frames))
                       : parameters_codec(asked->format);
    bool turns = plan->parameters->input.autorotate || codec_get(plan->picture.codec)->turns;
    plan->orientation = turns ? plan->picture.metadata.orientation : 1;
    struct image_shape planes = orient_shape(&plan->picture.native, plan->orientation);
    plan->stored = keeps_planes(plan, &planes) ? plan->picture.native : plan->picture.pixels;
    plan->upright = orient_shape(&plan->stored, plan->orientation);
    plan->options = (struct encode_options){
        .quality = quality_of(plan),
        .subsampling = (enum subsampling)asked->subsampling,
        .progressive = asked->progressive,
        .optimal = asked->huffman == HUFFMAN_OPTIMAL,
        .libjpeg = plan->limits.libjpeg,
        .lossless = asked->lossless,
        .keep_metadata = asked->metadata == METADATA_KEEP,
        .reduce = asked->png_reduce && !frames_plan_animates(&plan->frames),
        .upright = plan->orientation != 1,
        .deadline_ns = plan->limits.deadline_ns,
    };
    if (plan->options.subsampling == SUBSAMPLING_AUTO) {
        /* `auto` means the input's subsampling. RGB and CMYK JPEGs have full-resolution colour. */
        plan->options.subsampling = plan->picture.native.model == PIXEL_YCBCR ? subsampling_of(&planes)
                                    : plan->picture.codec == CODEC_JPEG       ? SUBSAMPLING_444
                                                                              : SUBSAMPLING_AUTO;
    }
}

/* Checks what the last step makes of the picture. A guess from a header has no limits. */
static enum status check_result(const struct work_plan *plan, struct error *err) {
    const struct codec_limits *limits = &plan->limits;
    struct image_shape result = chain_result(&plan->chain, &plan->filtered);
    uint64_t pixels = (uint64_t)result.width * result.height;
    uint32_t side = result.width > result.height ? result.width : result.height;
    if (plan_answer(plan) == ANSWER_STATISTICS || limits->max_pixels == 0 ||
        (pixels <= limits->max_pixels && side <= limits->max_side)) {
        return ST_OK;
    }
    return fail(err, ST_LIMIT,
                "%s makes a picture of %" PRIu32 " x %" PRIu32 " pixels; the limits are %" PRIu64
                " pixels and %" PRIu32 " a side",
                filter_get(plan->chain.step[plan->chain.count - 1].filter)->name, result.width, result.height,
                limits->max_pixels, limits->max_side);
}

/* In a pipeline the error names the step. */
static enum status append_filter(struct work_plan *plan, unsigned index, struct error *err) {
    const struct operation *operation = &plan->parameters->ops.operation[index];
    struct error cause = {0};
    enum status status = append_operation(&plan->chain, plan->parameters, index, &plan->filtered, &cause);
    if (status == ST_ARGUMENT && !plan->parameters->filter) {
        return fail_argument(err, "ops", "ops: step %u: %.200s", index + 1, cause.text);
    }
    if (status != ST_OK) {
        *err = cause;
        return status;
    }
    if (plan_is_linear(plan) && filter_id(operation->filter) == FILTER_RESIZE) {
        const struct image_shape read = chain_shape(&plan->chain, &plan->filtered, index);
        resize_plan_linear(&plan->chain.step[index].resize, &read);
    }
    return check_result(plan, err);
}

static enum status append_filters(struct work_plan *plan, struct error *err) {
    enum status status = ST_OK;
    bool filters = plan_answer(plan) != ANSWER_BOXES; /* these are found by a chain of their own */
    for (unsigned i = 0; i < plan->parameters->ops.count && filters && status == ST_OK; i++) {
        status = append_filter(plan, i, err);
    }
    plan->encoded = chain_result(&plan->chain, &plan->filtered);
    if (plan_answer(plan) != ANSWER_STATISTICS) {
        plan->encoded.depth = plan->upright.depth;
    }
    return status;
}

/* Whether a resize reads the picture, and may read a reduced one. */
static bool may_reduce(const struct work_plan *plan) {
    const struct input_arguments *input = &plan->parameters->input;
    const struct operation *first = &plan->parameters->ops.operation[0];
    return plan->picture.codec == CODEC_JPEG && !plan->picture.lossless &&
           filter_id(first->filter) == FILTER_RESIZE && first->arguments.resize.shrink == RESIZE_FAST &&
           !plan_is_linear(plan) && input->mode != MODE_REDACT && !parameters_select(plan->parameters) &&
           !parameters_search(plan->parameters);
}

/* Whether the reduced picture can be turned: with samples cut by the border, its grid would shift. */
static bool reduces_exactly(const struct work_plan *plan, unsigned reduction) {
    struct image_shape reduced = codec_reduced(&plan->stored, reduction);
    return !orient_turns(plan->orientation) || (reduced.width << reduction == plan->stored.width &&
                                                reduced.height << reduction == plan->stored.height &&
                                                orient_is_exact(&reduced, plan->orientation));
}

/* Lets the codec do a part of the first step. The shapes behind that step stay. */
static void reduce(struct work_plan *plan) {
    struct resize_plan *resize = &plan->chain.step[0].resize;
    unsigned reduction = resize_reduction(resize);
    while (!reduces_exactly(plan, reduction)) {
        reduction--;
    }
    struct image_shape stored = codec_reduced(&plan->stored, reduction);
    resize_plan_reduce(resize, reduction, plan->stored.chroma_shift_x - stored.chroma_shift_x);
    plan->limits.reduction = (uint8_t)reduction;
    plan->stored = stored;
    plan->upright = plan->filtered = orient_shape(&stored, plan->orientation);
}

enum status plan_decide(struct work_plan *plan, const char *accept, struct error *err) {
    choose_output(plan, accept);
    plan->filtered = plan->upright;
    plan->filtered.depth = plan_is_linear(plan) ? 16 : plan->upright.depth;
    enum status status = append_filters(plan, err);
    const struct lossless request = {&plan->picture, plan->parameters, &plan->chain, plan->orientation,
                                     plan->output};
    status = status == ST_OK ? lossless_plan(&request, &plan->turn, err) : status;
    plan->options.effort = effort_of(plan);
    plan->options.pictures = plan->frames.count;
    if (status == ST_OK && plan_answer(plan) == ANSWER_PICTURE) {
        status = frames_plan_check_output(&plan->frames, plan->output, err);
        status = status == ST_OK ? codec_check_sides(plan->output, &plan->encoded, err) : status;
    }
    if (status == ST_OK) {
        status = selection_init(&plan->selection, plan->parameters, plan->picture.metadata.orientation,
                                plan->stored.width, plan->stored.height, err);
        plan->selection.deadline_ns = plan->limits.deadline_ns;
    }
    if (status == ST_OK) {
        plan->searched = searches_planes(plan) ? plan->picture.native : plan->picture.pixels;
        status = detection_plan(&plan->detection, plan->parameters, &plan->searched,
                                plan->picture.metadata.orientation, err);
    }
    if (status == ST_OK && may_reduce(plan)) {
        reduce(plan);
    }
    return status;
}

struct codec_limits plan_limits(const struct config *config, uint64_t memory, int64_t start_ns) {
    return (struct codec_limits){
        .max_pixels = config->max_pixels,
        .max_side = config->max_side,
        .max_scans = config->max_scans,
        .max_frames = config->max_frames,
        .max_animation = config->max_animation,
        .max_memory = memory,
        .deadline_ns = start_ns + config->work_timeout_ms * 1000000,
        .libjpeg = config->jpeg_library == CHOICE_jpeg_library_turbo,
    };
}

/* Whether a pixel of the file may depend on pixels anywhere before it. */
static bool spreads(const struct picture *picture) {
    const struct codec *codec = codec_get(picture->codec);
    enum pixel_model model = picture->native.model;
    bool exact = picture->exact || (codec->exact && model != PIXEL_YCBCR && !image_pixel_has_alpha(model));
    return codec->reach == REACH_BEFORE && !exact;
}

enum status plan_make(struct work_plan *plan, struct bytes input, const char *accept, struct error *err) {
    plan->input = input;
    bool redact = plan->parameters->input.mode == MODE_REDACT;
    /* All find the same boxes, and have the same pixels around them. */
    plan->limits.local_blocks =
        redact || parameters_search(plan->parameters) || parameters_detect(plan->parameters);
    plan->limits.first_frame = parameters_given(plan->parameters, "page") || frames_plan_reads(input);
    plan->limits.page = (uint32_t)plan->parameters->input.page;
    enum status status = codec_probe(input, &plan->limits, &plan->picture, err);
    status = status == ST_OK ? frames_plan_make(&plan->frames, plan->parameters, input, &plan->limits,
                                                &plan->picture, err)
                             : status;
    status = status == ST_OK ? plan_decide(plan, accept, err) : status;
    if (status == ST_OK) {
        /* Blocks beside redacted ones can only be kept if no redacted pixel influenced theirs. */
        plan->limits.local_colour = redact && plan_may_patch(plan);
        plan->selection.spread = spreads(&plan->picture);
        plan->selection.interpolated = plan->stored.model != PIXEL_YCBCR && !plan->limits.local_colour;
    }
    return status == ST_OK
               ? selection_open_part(&plan->selection, plan->parameters, &plan->picture, &plan->limits, err)
               : status;
}

void plan_finish(struct work_plan *plan) {
    codec_picture_finish(&plan->picture);
    codec_picture_finish(&plan->selection.part.picture);
    codec_picture_finish(&plan->hdr.picture);
}

bool plan_may_patch(const struct work_plan *plan) {
    const struct parameters *parameters = plan->parameters;
    struct image_shape planes = orient_shape(&plan->picture.native, plan->orientation);
    return plan->selection.wanted && plan->picture.patchable && plan->output == CODEC_JPEG &&
           chain_masked(&plan->chain) == plan->chain.count && plan->orientation == 1 &&
           !parameters_given(parameters, "quality") && fits_subsampling(plan, &planes);
}

enum transcode_colours plan_colours(const struct work_plan *plan) {
    enum subsampling written = plan->options.subsampling;
    bool linear = plan_is_linear(plan);
    if (plan->stored.model != PIXEL_RGB && plan->encoded.model != PIXEL_RGB) {
        return TRANSCODE_PLANES;
    }
    if (written == SUBSAMPLING_444) {
        return linear ? TRANSCODE_LINEAR_444 : TRANSCODE_RGB_444;
    }
    if (written == SUBSAMPLING_422) {
        return linear ? TRANSCODE_LINEAR_422 : TRANSCODE_RGB_422;
    }
    return linear ? TRANSCODE_LINEAR_420 : TRANSCODE_RGB_420;
}

size_t plan_shape_size(const struct image_shape *shape) {
    struct image image;
    return image_layout(&image, shape);
}
