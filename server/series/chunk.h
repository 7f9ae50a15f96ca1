/* SPDX-License-Identifier: MIT
 * What a stream sends at a time: a chunk of HTTP/1.1 with a frame, with the head of the answer in front of
 * the first; the last chunk; or a problem in place of the whole answer. */
#ifndef BLURD_SERVER_SERIES_CHUNK_H
#define BLURD_SERVER_SERIES_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "core/bytes.h"

struct request;

enum { CHUNK_PARTS = 4, CHUNK_TEXT_MAX = 8 << 10 };

/* Zero-initialise. The bytes of a frame or problem are borrowed from its request. */
struct chunk {
    struct bytes part[CHUNK_PARTS];
    size_t size, sent; /* of all parts; size 0: nothing is to be sent */
    bool frame;        /* it has a frame */
    bool last;         /* nothing follows */
    char text[CHUNK_TEXT_MAX];
};

/* Fills in the parts that are not sent. Returns how many: at least one if there is any. */
unsigned chunk_left(const struct chunk *chunk, struct iovec parts[static CHUNK_PARTS]);

/* An answered frame of the series; the first one also answers the series. Returns true. */
bool chunk_make_frame(struct chunk *chunk, struct request *series, const struct request *frame);

/* The frame has a problem, which becomes that of the series. An answer that has begun has no more to send. */
void chunk_make_problem(struct chunk *chunk, struct request *series, const struct request *frame);

/* All frames are sent. */
void chunk_make_last(struct chunk *chunk);

/* No more frames are taken, as the daemon is about to end or has no memory. */
void chunk_make_early_end(struct chunk *chunk, struct request *series);

#endif
