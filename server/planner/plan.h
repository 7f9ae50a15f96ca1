/* SPDX-License-Identifier: MIT
 * Decides from a picture's header and the request how to process it, before memory is taken. */
#ifndef BLURD_SERVER_PLANNER_PLAN_H
#define BLURD_SERVER_PLANNER_PLAN_H

#include "codecs/codec.h"
#include "codecs/jpeg/jpeg_turn.h"
#include "filters/backend.h"
#include "server/message/parameters.h"
#include "server/planner/detection_plan.h"
#include "server/planner/frames_plan.h"
#include "server/planner/hdr_decision.h"
#include "server/planner/selection_plan.h"

struct config;

struct work_plan {
    struct bytes input; /* the picture's file */
    const struct parameters *parameters;
    struct codec_limits limits;
    struct picture picture;
    struct frames_plan frames; /* of an animation */
    enum codec_id output;
    uint8_t orientation;         /* EXIF orientation to undo; 1: none */
    struct image_shape stored;   /* as decoded, perhaps reduced: limits.reduction */
    struct image_shape searched; /* what is searched: as decoded, too, perhaps in another form */
    struct image_shape upright;  /* turned upright */
    struct image_shape filtered; /* the filters' input: the upright picture, perhaps in linear light */
    struct image_shape encoded;  /* the answer's picture; of statistics, stats_shape() */
    struct encode_options options;
    struct chain chain;
    struct jpeg_turn turn; /* of the blocks of the JPEG, in place of a new encoding; width 0: none */
    struct selection selection;
    struct detection detection; /* fills the selection, or is the answer */
    uint32_t focused;           /* a bit for each step of the chain that focus_apply has moved */
    struct hdr_decision hdr;    /* of hdr_plan_make, which plan_make does not call */
};

/* `memory` is the budget for pictures in bytes. The time limit counts from start_ns. */
struct codec_limits plan_limits(const struct config *config, uint64_t memory, int64_t start_ns);

/* Reads the header and fills a plan that is zero except for parameters and limits. `input` and the parameters
 * must outlive the plan. Fails like codec_probe and plan_decide; plan->upright has a width once the header
 * was valid. */
enum status plan_make(struct work_plan *plan, struct bytes input, const char *accept, struct error *err);

/* Frees what plan_make took, also after it failed. */
void plan_finish(struct work_plan *plan);

/* Fills the part that follows from plan->picture and plan->parameters.
 * ST_LIMIT: a step makes a picture larger than the limits allow. ST_ARGUMENT: arguments do not go together
 * for this picture, or a region is wrong; regions are decided last. */
enum status plan_decide(struct work_plan *plan, const char *accept, struct error *err);

/* Whether the picture has to be decoded in another form before, to be searched. */
bool plan_searches_apart(const struct work_plan *plan);

/* What the request is answered with. */
enum filter_answer plan_answer(const struct work_plan *plan);

/* Whether the blocks of a JPEG are moved; then no pixels are decoded. */
bool plan_moves_blocks(const struct work_plan *plan);

bool plan_is_linear(const struct work_plan *plan);

/* Whether the file's data outside of the regions can be copied bit by bit. */
bool plan_may_patch(const struct work_plan *plan);

/* What the chain of a device that decodes or encodes JPEGs reads and writes. */
enum transcode_colours plan_colours(const struct work_plan *plan);

/* Size of a picture in bytes; 0: too large for memory. */
size_t plan_shape_size(const struct image_shape *shape);

#endif
