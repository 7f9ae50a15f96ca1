/* SPDX-License-Identifier: MIT
 * Memory for processing one picture. An engine of a GPU may map the pictures; the tables beside them, which
 * the daemon trusts, are in memory of its own. */
#ifndef BLURD_SERVER_PICTURE_WORKSPACE_H
#define BLURD_SERVER_PICTURE_WORKSPACE_H

#include "core/slot.h"
#include "filters/backend.h"
#include "server/planner/footprint.h"

struct request;

/* Zero-initialise. */
struct workspace {
    bool lends;        /* the pictures may be lent to an engine */
    size_t spare;      /* bytes that the request may take beyond the footprint */
    struct slot *slot; /* for pictures */
    struct slot *own;  /* for tables and working memory, the daemon's alone; `slot` unless that is lent */
    struct footprint footprint; /* of the plan; set before workspace_open */
    uint8_t *memory[2];         /* each has room for the stored picture, the upright one and a result */
    uint8_t *linear[2];         /* the same in linear light; NULL: not wanted */
    uint8_t *found_frames;      /* what is found in all frames; NULL: not wanted */
    uint8_t *frames;            /* for canvases of an animation; NULL: not wanted */
    struct working working;     /* of the CPU backend; without memory until workspace_take_working */
};

/* Takes the memory of the footprint, except for the working memory; plan->selection gets its masks,
 * plan->limits the decoder's spare memory. Fails
 * like slot_take, and with ST_LIMIT when the request would take more than it may. Must be closed, also after
 * a failure. */
enum status workspace_open(struct workspace *workspace, struct request *request, struct work_plan *plan,
                           struct error *err);

/* Lays an image over memory of the workspace. */
void workspace_place(struct image *image, const struct image_shape *shape, uint8_t *memory);

/* Lays an image that is to be decoded over the first memory, with room for its decoder. */
void workspace_place_source(const struct workspace *workspace, struct image *image,
                            const struct image_shape *shape);

/* Bytes that the request took of the slots, claims included. */
size_t workspace_bytes(const struct workspace *workspace);

/* May be called without workspace_open. */
void workspace_close(struct workspace *workspace);

/* Takes the working memory once: for every idle thread of the crew (NULL: no crew), or for one thread when
 * memory is short. */
enum status workspace_take_working(struct workspace *workspace, const struct work_plan *plan,
                                   const struct backend *cpu, struct crew *crew, struct error *err);

#endif
