/* SPDX-License-Identifier: MIT */
#include "server/picture/workspace.h"

#include <inttypes.h>

#include "core/crew.h"
#include "server/picture/selection.h"
#include "server/request.h"
#include "server/search/detection.h"
#include "server/service.h"

/* *memory is NULL without bytes, and after a failure. */
static enum status take(struct slot *slot, size_t size, uint8_t **memory, struct error *err) {
    *memory = size > 0 ? slot_take(slot, size, err) : NULL;
    return size == 0 || *memory ? ST_OK : err->status;
}

static enum status take_pair(struct slot *slot, size_t size, size_t room, uint8_t *memory[2],
                             struct error *err) {
    for (unsigned i = 0; i < 2; i++) {
        memory[i] = slot_take(slot, size + (i == 0 ? room : 0), err);
        if (!memory[i]) {
            return err->status;
        }
    }
    return ST_OK;
}

/* Acquires the slots, where the second may be the first. */
static enum status acquire(struct workspace *workspace, struct slot_pool *pool, struct error *err) {
    enum status status =
        slot_acquire(pool, workspace->lends ? SLOT_LENT_WORK : SLOT_WORK, &workspace->slot, err);
    if (status == ST_OK && workspace->lends) {
        return slot_acquire(pool, SLOT_WORK, &workspace->own, err);
    }
    workspace->own = workspace->slot;
    return status;
}

enum status workspace_open(struct workspace *workspace, struct request *request, struct work_plan *plan,
                           struct error *err) {
    const struct footprint *footprint = &workspace->footprint;
    if (footprint->picture == 0) {
        return fail(err, ST_LIMIT, "the picture is too large for memory");
    }
    uint64_t most = request->job.most, needed = footprint_sum(footprint) + request->job.body;
    if (needed > most) {
        return fail(err, ST_LIMIT,
                    "the picture needs %" PRIu64 " MiB of memory, more than the %" PRIu64
                    " MiB that one request may take, three quarters of the option memory",
                    (needed + (1 << 20) - 1) >> 20, most >> 20);
    }
    workspace->spare = (size_t)(most - needed);
    enum status status = acquire(workspace, request->service->slots, err);
    struct slot *slot = workspace->slot, *own = workspace->own;
    status = status == ST_OK ? take_pair(slot, footprint->picture, footprint->room, workspace->memory, err)
                             : status;
    if (status == ST_OK && footprint->linear > 0) {
        status = take_pair(slot, footprint->linear, 0, workspace->linear, err);
    }
    if (status == ST_OK && footprint->found > 0) {
        status = detection_take_memory(&plan->detection, slot, own, err);
    }
    status = status == ST_OK ? take(own, footprint->frames, &workspace->frames, err) : status;
    status = status == ST_OK ? take(own, footprint->found_frames, &workspace->found_frames, err) : status;
    status = status == ST_OK ? take(own, footprint->spare, &plan->limits.spare, err) : status;
    plan->limits.spare_size = status == ST_OK ? footprint->spare : 0;
    status = status == ST_OK ? selection_take_memory(&plan->selection, slot, &plan->stored, err) : status;
    if (status == ST_OK) {
        slot_fit(own, own->used + footprint->working);
        slot_fit(slot, slot->used + (own == slot ? footprint->working : 0));
        status = slot_claim(slot, footprint->library, err);
    }
    return status;
}

enum status workspace_take_working(struct workspace *workspace, const struct work_plan *plan,
                                   const struct backend *cpu, struct crew *crew, struct error *err) {
    struct working *working = &workspace->working;
    size_t one = workspace->footprint.working;
    size_t all = footprint_working(plan, cpu, crew_idle(crew) + 1);
    bool more = all > one && all - one <= workspace->spare;
    for (unsigned i = 0; i < 2 && !working->memory; i++) {
        working->size = i == 0 && more ? all : one;
        working->memory = slot_take(workspace->own, working->size, err);
    }
    return working->memory ? ST_OK : err->status;
}

void workspace_place_source(const struct workspace *workspace, struct image *image,
                            const struct image_shape *shape) {
    workspace_place(image, shape, workspace->memory[0]);
    image->room = workspace->footprint.room;
}

void workspace_place(struct image *image, const struct image_shape *shape, uint8_t *memory) {
    image_layout(image, shape);
    image_place(image, memory);
}

size_t workspace_bytes(const struct workspace *workspace) {
    const struct slot *slot = workspace->slot, *own = workspace->own;
    return (slot ? slot->used + slot->claimed : 0) + (own && own != slot ? own->used : 0);
}

void workspace_close(struct workspace *workspace) {
    slot_give_back(workspace->slot);
    if (workspace->own != workspace->slot) {
        slot_give_back(workspace->own);
    }
    *workspace = (struct workspace){0};
}
