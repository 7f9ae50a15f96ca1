/* SPDX-License-Identifier: MIT */
#include "server/picture/workspace.h"

#include <inttypes.h>

#include "core/crew.h"

enum { MIB = 1 << 20 };

static enum status take_pair(struct slot *slot, size_t size, uint8_t *memory[2], struct error *err) {
    for (unsigned i = 0; i < 2; i++) {
        memory[i] = slot_take(slot, size, err);
        if (!memory[i]) {
            return err->status;
        }
    }
    return ST_OK;
}

enum status workspace_open(struct workspace *workspace, struct slot_pool *pool, struct plan *plan,
                           struct error *err) {
    const struct footprint *footprint = &workspace->footprint;
    if (footprint->picture == 0) {
        return fail(err, ST_LIMIT, "the picture is too large for memory");
    }
    uint64_t most = workspace->most, needed = footprint_sum(footprint) + workspace->body;
    if (needed > most) {
        return fail(err, ST_LIMIT,
                    "the picture needs %" PRIu64 " MiB of memory, more than the %" PRIu64
                    " MiB that one request may take, three quarters of the option memory",
                    (needed + MIB - 1) / MIB, most / MIB);
    }
    workspace->spare = (size_t)(most - needed);
    enum status status = slot_acquire(pool, SLOT_WORK, &workspace->slot, err);
    struct slot *slot = workspace->slot;
    status = status == ST_OK ? take_pair(slot, footprint->picture, workspace->memory, err) : status;
    if (status == ST_OK && footprint->linear > 0) {
        status = take_pair(slot, footprint->linear, workspace->linear, err);
    }
    if (status == ST_OK && footprint->faces > 0) {
        uint8_t *memory = slot_take(slot, footprint->faces, err);
        if (!memory) {
            return err->status;
        }
        detection_place(&plan->detection, memory);
    }
    status = status == ST_OK ? selection_take_memory(&plan->selection, slot, &plan->stored, err) : status;
    if (status == ST_OK) {
        slot_fit(slot, slot->used + footprint->working);
        status = slot_claim(slot, footprint->library, err);
    }
    return status;
}

enum status workspace_lend(struct workspace *workspace, const struct plan *plan, const struct backend *cpu,
                           struct crew *crew, struct error *err) {
    struct working *working = &workspace->working;
    size_t one = workspace->footprint.working;
    size_t all = footprint_working(plan, cpu, crew_idle(crew) + 1);
    bool more = all > one && all - one <= workspace->spare;
    for (unsigned i = 0; i < 2 && !working->memory; i++) {
        working->size = i == 0 && more ? all : one;
        working->memory = slot_take(workspace->slot, working->size, err);
    }
    return working->memory ? ST_OK : err->status;
}

void workspace_place(struct image *image, const struct image_shape *shape, uint8_t *memory) {
    image_layout(image, shape);
    image_place(image, memory);
}

void workspace_close(struct workspace *workspace) {
    slot_give_back(workspace->slot);
    *workspace = (struct workspace){0};
}
