/* SPDX-License-Identifier: MIT
 * What is to be done with a picture: known from its header and the request, before memory is taken. */
#ifndef BLURD_SERVER_PICTURE_PLAN_H
#define BLURD_SERVER_PICTURE_PLAN_H

#include "codecs/codec.h"
#include "filters/chain.h"
#include "server/message/parameters.h"
#include "server/picture/selection.h"

struct config;

struct plan {
    struct bytes input; /* the picture's bytes */
    const struct parameters *parameters;
    struct codec_limits limits;
    struct picture picture;
    enum codec_id output;
    uint8_t orientation;         /* to be undone; 1: none */
    struct image_shape stored;   /* as decoded */
    struct image_shape upright;  /* as encoded */
    struct image_shape filtered; /* what the filters see: the upright picture, or that in linear light */
    struct encode_options options;
    struct chain chain;
    struct selection selection;
};

/* What decoding may take; `memory` is the budget for pictures, and the time limit counts from start_ns. */
struct codec_limits plan_limits(const struct config *config, uint64_t memory, int64_t start_ns);

/* Reads the header and decides, into a plan that is zero but for parameters and limits. `input` and the
 * parameters must outlive the plan. Fails as codec_probe does, and as plan_decide; when plan->upright has a
 * width, the header was fine. */
enum status plan_make(struct plan *plan, struct bytes input, const char *accept, struct error *err);

/* The part of it that follows from plan->picture and plan->parameters: all but the limits and what depends on
 * the pixel data. ST_LIMIT for a chain that is too long, ST_ARGUMENT for regions, which come last. */
enum status plan_decide(struct plan *plan, const char *accept, struct error *err);

/* The answer is numbers, not a picture. */
bool plan_makes_stats(const struct plan *plan);

/* The filters work in linear light. */
bool plan_is_linear(const struct plan *plan);

/* What lies outside of the regions can stay as it is in the file, to the bit: nothing else was asked for. */
bool plan_may_patch(const struct plan *plan);

/* Whether a device's codecs may do the whole of it: from a JPEG of one scan to another, with filters that
 * take the planes as they are stored. */
bool plan_may_transcode(const struct plan *plan);

/* Bytes that a picture of the shape takes; 0: too large for memory. */
size_t plan_shape_size(const struct image_shape *shape);

#endif
