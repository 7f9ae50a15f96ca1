/* SPDX-License-Identifier: MIT
 * Lets idle threads transform the blocks that the caller's thread reads (core/crew.h). The caller puts blocks
 * into a pack (seq_scan.h) and offers it as a part of a run; a ring of packs is reused. While none is free,
 * because the others are late, the caller transforms what it reads: no thread waits for memory. One scan at a
 * time. Internal to codecs/jpeg/sequential/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_RING_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_RING_H

#include <stdatomic.h>

#include "codecs/jpeg/sequential/seq_scan.h"
#include "core/crew.h"

enum {
    SEQ_RING_PACKS = 6,
    SEQ_RING_SEATS = 4,              /* reading takes twice as long as transforming */
    SEQ_RING_LEAST = 2 * CREW_GRAIN, /* samples of a picture; smaller ones get no help from a usual crew */
};

struct seq_ring {
    const struct seq_level *level;
    unsigned seats;
    struct crew_gate *gate;
    bool open;                      /* the last pack that has begun takes more blocks */
    unsigned begun, oldest;         /* packs that have begun; the first one whose end has not been seen */
    uint32_t row, left, mcus;       /* the next MCU: its row and what is left of it; MCUs in a row */
    uint32_t first[SEQ_RING_PACKS]; /* row of the first MCU */
    atomic_bool done[SEQ_RING_PACKS];
    enum status (*feed)(void *context, struct error *err);
    void (*progress)(void *context);
    void *context;
    struct seq_sorted seat[SEQ_RING_SEATS];
    struct seq_pack pack[SEQ_RING_PACKS];
};

/* For that many threads, the caller included. NULL without memory; of sizeof(struct seq_ring) bytes. */
struct seq_ring *seq_ring_create(const struct seq_level *level, unsigned seats);
void seq_ring_destroy(struct seq_ring *ring);

/* Runs `feed`, which decodes a scan of `mcus` MCUs in a row by seq_ring_decode. Calls `progress` on this
 * thread when more rows may be complete, and at the end, when all are; so should the feed. After the return
 * no thread writes samples any more. Fails like the feed. */
enum status seq_ring_run(struct seq_ring *ring, struct crew *crew, uint32_t mcus,
                         enum status (*feed)(void *context, struct error *err),
                         void (*progress)(void *context), void *context, struct error *err);

/* Decodes the next MCUs of a row; the caller then moves the units of the scan on to the next row. False when
 * the data is damaged or unusual. */
bool seq_ring_decode(struct seq_ring *ring, struct seq_scan *scan, uint32_t count);

/* The rows of MCUs whose samples are complete, at the caller's thread. */
uint32_t seq_ring_rows(struct seq_ring *ring);

#endif
