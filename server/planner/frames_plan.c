/* SPDX-License-Identifier: MIT */
#include "server/planner/frames_plan.h"

#include "codecs/codec.h"
#include "core/numbers.h"

enum { ANSWER_MOST = 128 << 20 }; /* bytes of an animation that is answered */

bool frames_plan_reads(struct bytes input) {
    enum codec_id id;
    return codec_find(input, &id) && frames_reads(id);
}

/* The frames that the request names; all without. Those behind the last one are left out. */
static enum status choose(struct frames_plan *plan, const struct parameters *parameters, uint32_t frames,
                          struct error *err) {
    const struct frame_range *range = &parameters->input.frames;
    const uint32_t page = (uint32_t)parameters->input.page;
    if (parameters_given(parameters, "page") && page >= frames) {
        return fail_argument(err, "page", "page is %u, but the picture has %u frame%s, from 0", page, frames,
                             frames == 1 ? "" : "s");
    }
    if (parameters_given(parameters, "frames") && range->first >= frames) {
        return fail_argument(err, "frames", "frames begins with %u, but the picture has %u frame%s, from 0",
                             range->first, frames, frames == 1 ? "" : "s");
    }
    plan->first = 0;
    plan->count = frames;
    if (parameters_given(parameters, "page")) {
        plan->first = page;
        plan->count = 1;
    } else if (parameters_given(parameters, "frames")) {
        plan->first = range->first;
        plan->count = min_u32(range->last, frames - 1) - range->first + 1;
    }
    return ST_OK;
}

/* The canvas in place of the file's still picture. */
static void take_canvas(const struct animation *animation, struct picture *picture) {
    const enum pixel_model model = picture->pixels.model;
    const bool grey = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    picture->pixels.width = animation->width;
    picture->pixels.height = animation->height;
    picture->pixels.model = grey ? (animation->alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY)
                                 : (animation->alpha ? PIXEL_RGBA : PIXEL_RGB);
    picture->native = picture->pixels;
    picture->patchable = false;
}

/* Refuses what can only be said or done of one picture. */
static enum status check_request(const struct frames_plan *plan, const struct parameters *parameters,
                                 const struct codec *codec, struct error *err) {
    if (parameters->evidence.report && plan->count > 0) {
        return fail(err, ST_UNSUPPORTED, "%s is animated; reports are about still pictures", codec->title);
    }
    if (frames_plan_animates(plan) && parameters->detect.report) {
        return fail(err, ST_UNSUPPORTED,
                    "%s is animated, and detect_report is about still pictures; page=0 takes its first frame",
                    codec->title);
    }
    return ST_OK;
}

static void plan_search(struct frames_plan *plan, const struct parameters *parameters) {
    if (frames_plan_animates(plan) && parameters_search(parameters)) {
        const uint32_t hold = parameters_detect(parameters) ? (uint32_t)parameters->detect.hold : 0;
        const uint32_t behind = min_u32(plan->first + plan->count + hold, plan->animation.frames);
        plan->first_searched = plan->first - min_u32(plan->first, hold);
        plan->searched = behind - plan->first_searched;
    }
}

enum status frames_plan_make(struct frames_plan *plan, const struct parameters *parameters,
                             struct bytes input, const struct codec_limits *limits, struct picture *picture,
                             struct error *err) {
    const struct codec *codec = codec_get(picture->codec);
    enum status status = frames_scan(picture, input, limits, &plan->animation, err);
    if (status != ST_OK) {
        return status;
    }
    const struct animation *animation = &plan->animation;
    const bool animated = animation->frames > 1, page = parameters_given(parameters, "page");
    if (codec->pages && page) { /* the codec has checked it */
        return ST_OK;
    }
    status = choose(plan, parameters, animated ? animation->frames : 1, err);
    if (status != ST_OK) {
        return status;
    }
    const bool usual = page && parameters->input.page == 0 && !animation->apart;
    const bool still = !page && parameters_answer(parameters) != ANSWER_PICTURE;
    if (animated && still && !codec->frames->still) {
        return fail(err, ST_UNSUPPORTED, "%s is animated; page=0 takes its first frame", codec->title);
    }
    if (!animated || usual || still) {
        plan->count = 0;
        return ST_OK;
    }
    plan->answer_most = ANSWER_MOST;
    take_canvas(animation, picture);
    plan_search(plan, parameters);
    return check_request(plan, parameters, codec, err);
}

enum status frames_plan_check_output(const struct frames_plan *plan, enum codec_id output,
                                     struct error *err) {
    char list[CODEC_TITLES_MAX];
    if (!frames_plan_animates(plan) || frames_writes(output)) {
        return ST_OK;
    }
    return fail_argument(err, "format",
                         "the picture is animated, and %s holds one frame: page=0 takes the first; %s can be "
                         "animated",
                         codec_get(output)->title, codec_titles(frames_writes, "and", list));
}
