/* SPDX-License-Identifier: MIT
 * The memory in which one picture is worked on. */
#ifndef BLURD_SERVER_PICTURE_WORKSPACE_H
#define BLURD_SERVER_PICTURE_WORKSPACE_H

#include "core/slot.h"
#include "filters/backend.h"
#include "server/picture/footprint.h"

/* Zero-initialise. */
struct workspace {
    struct slot *slot;
    struct footprint footprint;
    uint8_t *memory[2];     /* each holds the stored picture, the upright one, and a result */
    uint8_t *linear[2];     /* the same in linear light; NULL: not wanted */
    struct working working; /* of the CPU backend; without memory until workspace_lend */
};

/* Takes out of a slot, and claims, what footprint_of says but for the working memory; plan->selection gets
 * its masks. ST_BUSY, ST_LIMIT as slot_take. To be closed also after a failure. */
enum status workspace_open(struct workspace *workspace, struct slot_pool *pool, struct plan *plan,
                           const struct backend *cpu, struct error *err);

/* Gives all of it back. May be called without workspace_open. */
void workspace_close(struct workspace *workspace);

/* Takes the working memory unless it is there already: for every idle thread of the crew (NULL: no crew), or
 * for one thread where memory is short. */
enum status workspace_lend(struct workspace *workspace, const struct plan *plan, const struct backend *cpu,
                           struct crew *crew, struct error *err);

#endif
