/* SPDX-License-Identifier: MIT */
#include "server/planner/way.h"

#include "server/planner/plan.h"

/* Whether a device's codecs read and write pictures of this shape. */
static bool is_jpeg_shape(const struct image_shape *shape) {
    return shape->depth == 8 && (shape->model == PIXEL_YCBCR || shape->model == PIXEL_GRAY);
}

/* Whether nothing but the chain reads the picture: there are no regions, no redaction and no search. */
static bool only_filters(const struct work_plan *plan) {
    return !plan->selection.wanted && !plan->selection.redact && plan->detection.count == 0;
}

/* Whether a device may make RGB of the file's planes, and the answer's planes of RGB. */
static bool may_convert(const struct work_plan *plan) {
    const struct image_shape *result = &plan->encoded;
    bool gray = result->model == PIXEL_GRAY && !plan_is_linear(plan);
    return plan->stored.model == PIXEL_RGB && plan->picture.native.model == PIXEL_YCBCR &&
           (result->model == PIXEL_RGB || gray) && result->depth == 8 && only_filters(plan);
}

/* Whether a device's codecs may do all steps: from a JPEG, or from the coefficients of one with several
 * scans, to a sequential one or to what is found in it, decoded whole: with planes as stored, or, without
 * regions and searches, in RGB. */
static bool is_whole(const struct work_plan *plan) {
    const struct input_arguments *input = &plan->parameters->input;
    enum filter_answer answer = plan_answer(plan);
    bool kept = is_jpeg_shape(&plan->stored) && is_jpeg_shape(&plan->encoded) && !plan_is_linear(plan);
    return (kept || may_convert(plan)) && plan->picture.codec == CODEC_JPEG && plan->output == CODEC_JPEG &&
           !plan->options.progressive && input->backend != BACKEND_CPU &&
           (answer == ANSWER_PICTURE || answer == ANSWER_BOXES) && !plan_moves_blocks(plan) &&
           plan->limits.reduction == 0 && detection_suits_gpu(&plan->detection) && !plan->hdr.kept;
}

/* Whether a device that only decodes or only encodes may do the filters. */
static bool may_filter(const struct work_plan *plan) {
    return plan->parameters->input.backend != BACKEND_CPU && !plan_is_linear(plan) &&
           plan_answer(plan) != ANSWER_BOXES && only_filters(plan) && !plan_moves_blocks(plan) &&
           !is_whole(plan) && !plan->hdr.kept;
}

static bool is_interleaved(const struct image_shape *shape) {
    return shape->depth == 8 && (shape->model == PIXEL_GRAY || shape->model == PIXEL_RGB);
}

/* Whether the device makes what a core writes in another format. */
static bool is_decoded(const struct work_plan *plan) {
    const struct image_shape *native = &plan->picture.native;
    bool made = plan->stored.model == native->model ||
                (plan->stored.model == PIXEL_RGB && native->model == PIXEL_YCBCR);
    bool bytes = plan->encoded.depth == 8 || plan_answer(plan) == ANSWER_STATISTICS;
    return may_filter(plan) && plan->picture.codec == CODEC_JPEG && !plan->picture.progressive &&
           is_jpeg_shape(native) && made && plan->limits.reduction == 0 && bytes;
}

/* Whether the device makes a JPEG of what a core has read. */
static bool is_encoded(const struct work_plan *plan) {
    return may_filter(plan) && plan_answer(plan) == ANSWER_PICTURE && plan->output == CODEC_JPEG &&
           !plan->options.progressive && plan->orientation == 1 && is_interleaved(&plan->stored) &&
           is_interleaved(&plan->encoded);
}

static bool is_filtered(const struct work_plan *plan) {
    return plan->parameters->input.backend != BACKEND_CPU && !plan_moves_blocks(plan) &&
           detection_suits_gpu(&plan->detection);
}

static bool permits(enum way way, const struct work_plan *plan) {
    switch (way) {
    case WAY_GPU_FILE:
        return is_whole(plan) && !plan->picture.progressive;
    case WAY_GPU_SCANS:
    case WAY_GPU_COEFFICIENTS:
        return is_whole(plan) && plan->picture.progressive && !plan->limits.libjpeg;
    case WAY_BLOCKS:
        return plan_moves_blocks(plan);
    case WAY_GPU_DECODE:
        return is_decoded(plan);
    case WAY_GPU_ENCODE:
        return is_encoded(plan);
    case WAY_GPU_FILTER:
        return is_filtered(plan);
    default:
        return !plan_moves_blocks(plan);
    }
}

static bool serves(enum way way, struct backend *gpu) {
    bool codecs = way <= WAY_GPU_COEFFICIENTS || way == WAY_GPU_DECODE || way == WAY_GPU_ENCODE;
    if (codecs) {
        return gpu && backend_transcodes(gpu) > 0;
    }
    return way != WAY_GPU_FILTER || (gpu && backend_state(gpu, NULL) == BACKEND_SERVING);
}

bool way_fits(enum way way, const struct work_plan *plan, struct backend *gpu) {
    return permits(way, plan) && serves(way, gpu);
}
