/* SPDX-License-Identifier: MIT
 * Predicts from a plan how much memory a picture takes beside its body. */
#ifndef BLURD_SERVER_PLANNER_FOOTPRINT_H
#define BLURD_SERVER_PLANNER_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "filters/backend.h"
#include "server/planner/plan.h"

/* Sizes in bytes. */
struct footprint {
    size_t picture;      /* each of the two picture buffers; 0: the picture is too large for memory */
    size_t room;         /* behind the first of them, for the decoder: codec_decode_room */
    size_t spare;        /* lent to the decoder: codec_decode_spare */
    size_t linear;       /* each of the two buffers in linear light; 0: not wanted */
    size_t mask;         /* each of the two masks for regions and redaction; 0: not wanted */
    size_t found;        /* what a search finds; 0: not wanted */
    size_t working;      /* scratch memory of the CPU backend on one thread */
    size_t library;      /* codecs' own allocations, and the answer */
    size_t frames;       /* canvases of an animation */
    size_t found_frames; /* what is found in all frames of an animation; 0: not wanted */
    size_t exchange;     /* what a process of codecs gets and returns */
};

struct footprint footprint_of(const struct work_plan *plan, const struct backend *cpu);

/* The same, of a plan that drops the crew which helps the encoder if its memory would make the sum exceed
 * `most`: whether a picture is served must not depend on who is idle. An animation's answer gets less room
 * instead of being refused. */
struct footprint footprint_within(struct work_plan *plan, const struct backend *cpu, uint64_t most);

/* How the memory for what is found in the frames of an animation is laid out: struct tracks, so many boxes,
 * then numbers for each frame that is searched and one more. Nothing is searched: all 0. */
struct found_frames_layout {
    uint32_t boxes;
    size_t boxes_at, first_at, size;
};

struct found_frames_layout footprint_lay_out_found(const struct frames_plan *frames);

/* The most bytes of an answer that is an animation. */
size_t footprint_animation_most(const struct work_plan *plan);

/* Scratch memory of the CPU backend on so many threads for all chains of the plan. */
size_t footprint_working(const struct work_plan *plan, const struct backend *cpu, unsigned threads);

uint64_t footprint_sum(const struct footprint *footprint);

/* The part of the sum that is taken while a device does all of the work. */
uint64_t footprint_beside_device(const struct work_plan *plan);

/* Bytes of the buffer in which a device encodes a JPEG. Filtered photographs take a fraction of it; the CPU
 * encodes a picture that needs more. */
size_t footprint_device_output(const struct work_plan *plan);

#endif
