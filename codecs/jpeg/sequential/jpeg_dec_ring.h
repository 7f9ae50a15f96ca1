/* SPDX-License-Identifier: MIT
 * Lets idle threads transform the blocks that the caller's thread reads (core/crew.h). The caller puts blocks
 * into a pack (jpeg_dec_scan.h) and offers it as a part of a run; a ring of packs is reused. While none is
 * free, because the others are late, the caller transforms what it reads: no thread waits for memory. One
 * scan at a time. Internal to codecs/jpeg/sequential/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_RING_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_RING_H

#include <stdatomic.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "core/crew.h"
#include "core/tuned.h"

enum {
    JPEG_DEC_RING_PACKS = 6,
    JPEG_DEC_RING_SEATS = TUNED_JPEG_THREADS,
    JPEG_DEC_RING_LEAST =
        2 * TUNED_GRAIN, /* samples of a picture; smaller ones get no help from a usual crew */
};

struct jpeg_dec_ring {
    const struct jpeg_dec_level *level;
    unsigned seats;
    struct crew_gate *gate;
    bool open;                /* the last pack that has begun takes more blocks */
    unsigned begun, oldest;   /* packs that have begun; the first one whose end has not been seen */
    uint32_t row, left, mcus; /* the next MCU: its row and what is left of it; MCUs in a row */
    uint32_t first[JPEG_DEC_RING_PACKS]; /* row of the first MCU */
    atomic_bool done[JPEG_DEC_RING_PACKS];
    enum status (*feed)(void *context, struct error *err);
    void (*progress)(void *context);
    void *context;
    struct jpeg_dec_sorted seat[JPEG_DEC_RING_SEATS];
    struct jpeg_dec_pack pack[JPEG_DEC_RING_PACKS];
};

/* For that many threads, the caller included. NULL without memory; of sizeof(struct jpeg_dec_ring) bytes. */
struct jpeg_dec_ring *jpeg_dec_ring_create(const struct jpeg_dec_level *level, unsigned seats);
void jpeg_dec_ring_destroy(struct jpeg_dec_ring *ring);

/* Runs `feed`, which decodes a scan of `mcus` MCUs in a row by jpeg_dec_ring_decode. Calls `progress` on this
 * thread when more rows may be complete, and at the end, when all are; so should the feed. After the return
 * no thread writes samples any more. Fails like the feed. */
enum status jpeg_dec_ring_run(struct jpeg_dec_ring *ring, struct crew *crew, uint32_t mcus,
                              enum status (*feed)(void *context, struct error *err),
                              void (*progress)(void *context), void *context, struct error *err);

/* Decodes the next MCUs of a row; the caller then moves the units of the scan on to the next row. False when
 * the data is damaged or unusual. */
bool jpeg_dec_ring_decode(struct jpeg_dec_ring *ring, struct jpeg_dec_scan *scan, uint32_t count);

/* The rows of MCUs whose samples are complete, at the caller's thread. */
uint32_t jpeg_dec_ring_rows(struct jpeg_dec_ring *ring);

#endif
