/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/jpeg_dec_ring.h"

#include <stdlib.h>
#include <string.h>

enum { ALONE = 2 * JPEG_DEC_BATCH /* blocks that the caller transforms before it looks for a free pack */ };

struct jpeg_dec_ring *jpeg_dec_ring_create(const struct jpeg_dec_level *level, unsigned seats) {
    struct jpeg_dec_ring *ring = aligned_alloc(64, bytes_align_up(sizeof *ring, 64));
    if (ring) {
        ring->level = level;
        ring->seats = seats < JPEG_DEC_RING_SEATS ? seats : JPEG_DEC_RING_SEATS;
        memset(ring->seat, 0, sizeof ring->seat);
    }
    return ring;
}

void jpeg_dec_ring_destroy(struct jpeg_dec_ring *ring) {
    free(ring);
}

/* ---- packs ---- */

/* Frees the packs that have been transformed, in their order. */
static void free_packs(struct jpeg_dec_ring *ring) {
    unsigned offered = ring->begun - ring->open;
    while (ring->oldest < offered &&
           atomic_load_explicit(&ring->done[ring->oldest % JPEG_DEC_RING_PACKS], memory_order_acquire)) {
        ring->oldest++;
    }
}

uint32_t jpeg_dec_ring_rows(struct jpeg_dec_ring *ring) {
    free_packs(ring);
    return ring->oldest < ring->begun ? ring->first[ring->oldest % JPEG_DEC_RING_PACKS] : ring->row;
}

/* The pack to fill; NULL if none is free. */
static struct jpeg_dec_pack *pack_to_fill(struct jpeg_dec_ring *ring, const struct jpeg_dec_scan *scan) {
    if (!ring->open) {
        free_packs(ring);
        if (ring->begun - ring->oldest == JPEG_DEC_RING_PACKS) {
            return NULL;
        }
        const unsigned slot = ring->begun++ % JPEG_DEC_RING_PACKS;
        struct jpeg_dec_pack *pack = &ring->pack[slot];
        memcpy(pack->unit, scan->unit, sizeof pack->unit);
        pack->unit_count = scan->unit_count;
        pack->left = ring->left;
        pack->mcus = ring->mcus;
        pack->count = pack->used = 0;
        ring->first[slot] = ring->row;
        atomic_store_explicit(&ring->done[slot], false, memory_order_relaxed);
        ring->open = true;
    }
    return &ring->pack[(ring->begun - 1) % JPEG_DEC_RING_PACKS];
}

static void offer(struct jpeg_dec_ring *ring) {
    if (ring->open) {
        ring->open = false;
        crew_open(ring->gate, ring->begun);
    }
}

/* A part of the run. */
static enum status transform(void *context, unsigned part, unsigned seat, struct error *err) {
    struct jpeg_dec_ring *ring = context;
    const unsigned slot = part % JPEG_DEC_RING_PACKS;
    (void)err;
    ring->level->unpack(&ring->seat[seat], &ring->pack[slot]);
    atomic_store_explicit(&ring->done[slot], true, memory_order_release);
    if (seat == 0) {
        ring->progress(ring->context);
    }
    return ST_OK;
}

/* ---- a scan ---- */

/* Returns the number of MCUs that it has decoded. */
static uint32_t decode_some(struct jpeg_dec_ring *ring, struct jpeg_dec_scan *scan, uint32_t count) {
    struct jpeg_dec_pack *pack = pack_to_fill(ring, scan);
    if (!pack) {
        uint32_t most = ALONE / scan->unit_count, alone = count < most ? count : most;
        return ring->level->decode(scan, alone) ? alone : 0;
    }
    uint32_t done = ring->level->pack(scan, count, pack);
    if (done > 0 && jpeg_dec_pack_is_full(pack)) {
        offer(ring);
    }
    return done;
}

bool jpeg_dec_ring_decode(struct jpeg_dec_ring *ring, struct jpeg_dec_scan *scan, uint32_t count) {
    while (count > 0) {
        uint32_t done = decode_some(ring, scan, count);
        if (done == 0) {
            return false;
        }
        count -= done;
        ring->left -= done;
        if (ring->left == 0) {
            ring->left = ring->mcus;
            ring->row++;
        }
    }
    return true;
}

static enum status feed_ring(void *context, struct crew_gate *gate, struct error *err) {
    struct jpeg_dec_ring *ring = context;
    ring->gate = gate;
    enum status status = ring->feed(ring->context, err);
    if (status == ST_OK) {
        offer(ring);
    }
    return status;
}

enum status jpeg_dec_ring_run(struct jpeg_dec_ring *ring, struct crew *crew, uint32_t mcus,
                              enum status (*feed)(void *context, struct error *err),
                              void (*progress)(void *context), void *context, struct error *err) {
    const struct crew_work work = {.part = transform,
                                   .context = ring,
                                   .parts = CREW_PARTS_OPENED,
                                   .seats = ring->seats,
                                   .feed = feed_ring,
                                   .ahead = true};
    ring->open = false;
    ring->begun = ring->oldest = 0;
    ring->row = 0;
    ring->left = ring->mcus = mcus;
    ring->feed = feed;
    ring->progress = progress;
    ring->context = context;
    enum status status = crew_run(crew, &work, err);
    if (status == ST_OK) {
        progress(context);
    }
    return status;
}
