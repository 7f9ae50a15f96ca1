/* SPDX-License-Identifier: MIT
 * Which frames of an animation a request takes. */
#ifndef BLURD_SERVER_PLANNER_FRAMES_PLAN_H
#define BLURD_SERVER_PLANNER_FRAMES_PLAN_H

#include "codecs/frames.h"
#include "server/message/parameters.h"

/* Zero-initialise. */
struct frames_plan {
    struct animation animation;
    uint32_t first; /* the first frame that is taken */
    uint32_t
        count; /* how many are; 0: the codec decodes the picture, by itself; 1: a frame, as a still picture */
    size_t answer_most; /* of an animation: bytes that the answer may have */
    /* A search takes `searched` frames from `first_searched` on: the answered ones, and their neighbours
     * within detect_hold. 0: there is no search. */
    uint32_t first_searched, searched;
};

/* Whether the answer is an animation. */
static inline bool frames_plan_animates(const struct frames_plan *plan) {
    return plan->count > 1;
}

/* Whether the codec of these bytes reads animations; then codec_probe takes the first frame. */
bool frames_plan_reads(struct bytes input);

/* Reads the container of the picture, and gives `picture` the shape of its canvas if frames are taken. Fails
 * like frames_scan. ST_ARGUMENT: there is no such frame; ST_UNSUPPORTED: the request is not for animations.
 */
enum status frames_plan_make(struct frames_plan *plan, const struct parameters *parameters,
                             struct bytes input, const struct codec_limits *limits, struct picture *picture,
                             struct error *err);

/* Whether the format can hold what is taken: ST_ARGUMENT for one that holds no animation. */
enum status frames_plan_check_output(const struct frames_plan *plan, enum codec_id output, struct error *err);

#endif
