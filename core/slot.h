/* SPDX-License-Identifier: MIT
 * Slots: memory for the bodies of requests and for the pictures of workers. It is shared memory, so that
 * another process can work on it without a copy.
 *
 * A slot is a memfd mapped once at its greatest possible size; only what is reserved
 * is backed by memory, so its addresses never change while it grows. The pool counts
 * what all slots hold against one budget, hands freed slots out again with their
 * memory (most recently used first, warm in the cache), and takes memory back from
 * idle slots before it refuses, and when they have been idle for SLOT_IDLE_NS.
 *
 * There are two kinds of slots: a waiting request holds the slot of its body for as long as its client likes,
 * a worker holds the slot of a picture. A body never gets the memory of a picture.
 *
 * Memory is committed by fallocate before it is used: when the machine has none, the
 * answer is ST_BUSY for one request, never a fault in the middle of a picture. */
#ifndef BLURD_CORE_SLOT_H
#define BLURD_CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct slot_pool;

enum slot_kind { SLOT_BODY, SLOT_WORK, SLOT_KINDS };

enum {
    SLOT_CALM = 16, /* while bodies hold less than this part of the budget, they keep what is warm; */
    SLOT_CALM_SHARED =
        4, /* than this, slots that are shared: to register new pages with a GPU takes longer */
    SLOT_BODY_LEAST = 256 << 10, /* bytes of a warm slot that a body gets in any case */
};
#define SLOT_IDLE_NS INT64_C(3000000000)

/* One owner at a time; not thread-safe by itself. */
struct slot {
    uint8_t *memory;     /* page-aligned; valid up to `reserved` */
    size_t reserved;     /* bytes backed by memory and counted against the budget */
    size_t used;         /* bytes handed out by slot_reserve and slot_take in this life */
    size_t claimed;      /* bytes elsewhere that slot_claim counts */
    int fd;              /* the memfd, to be shared with another process */
    uint64_t serial;     /* which slot of the pool this is; never reused */
    uint64_t generation; /* changes when memory went back to the system: other pages now */
    enum slot_kind kind;
    bool shared;        /* another process holds its pages: they stay when it is idle. The owner sets it */
    int64_t idle_since; /* clock_ns */
    struct slot_pool *pool;
    struct slot *next; /* the pool's, while idle */
};

/* A pool whose slots together hold at most `budget` bytes. NULL without memory. */
struct slot_pool *slot_pool_create(size_t budget);

/* No slot holds more than `most` bytes. A slot takes addresses for all that it may ever hold, and a process
 * has 2^47 of them, so large budgets need this. Before the first slot is acquired. */
void slot_pool_limit(struct slot_pool *pool, size_t most);

/* Ends the pool and its idle slots. All slots must have been given back. NULL is allowed. */
void slot_pool_destroy(struct slot_pool *pool);

/* Bytes that the pool's slots hold now, idle ones included, and what is claimed beside them; and how many
 * there may be. Thread-safe. */
size_t slot_pool_bytes(struct slot_pool *pool);
size_t slot_pool_budget(const struct slot_pool *pool);

/* Bytes that slots of that kind hold which are not idle. Thread-safe. */
size_t slot_pool_held(struct slot_pool *pool, enum slot_kind kind);

/* Readable once a slot was given back that no call of slot_pool_trim is due for; the pool's. */
int slot_pool_event(const struct slot_pool *pool);

/* Gives the memory of slots back to the system that have been idle for SLOT_IDLE_NS at `now` (clock_ns), but
 * for that of shared ones. Returns the nanoseconds until it is to be called again, at least a second; -1 once
 * nothing is left to do and no slot was given back since the last call: when slot_pool_event is readable. One
 * thread at a time. */
int64_t slot_pool_trim(struct slot_pool *pool, int64_t now);

/* Counts bytes that outlive their slot, like an answer that is being sent, and which are there already:
 * beyond the budget, too; later requests then get less. Negative: they are no more. Thread-safe. */
void slot_pool_count(struct slot_pool *pool, int64_t bytes);

/* A memory file of that size, which is sealed: no process can make it shorter under another one that has
 * mapped it. The caller closes it. -1 with errno. */
int slot_file(size_t size);

/* An empty slot, owned by the caller until slot_give_back. Thread-safe. It may have memory already; one for a
 * body has SLOT_BODY_LEAST at most once bodies hold much (SLOT_CALM, SLOT_CALM_SHARED).
 * ST_BUSY when the process has no more memory mappings or file descriptors. */
enum status slot_acquire(struct slot_pool *pool, enum slot_kind kind, struct slot **slot, struct error *err);

/* Makes the first `size` bytes of the slot usable; grows it where needed. Contents and
 * addresses stay. On failure the slot is as before: ST_BUSY when the budget is in use or
 * the system has no memory, ST_LIMIT for more than the whole budget or what slot_pool_limit allows. */
enum status slot_reserve(struct slot *slot, size_t size, struct error *err);

/* Hands out `size` fresh bytes behind everything handed out so far, aligned to 64
 * bytes, contents undefined; NULL with *err filled as slot_reserve does. */
uint8_t *slot_take(struct slot *slot, size_t size, struct error *err);

/* Takes back what was handed out beyond the first `size` bytes, and gives its memory to the system. */
void slot_cut(struct slot *slot, size_t size);

/* Counts `size` bytes of other memory that this request is about to take (a library's, the answer's) against
 * the budget, until the slot is given back. ST_BUSY or ST_LIMIT as slot_reserve. */
enum status slot_claim(struct slot *slot, size_t size, struct error *err);

/* Bytes that another process must map to work on the memory that was handed out: at least `used`, at most
 * `reserved`. It grows less often than `used`, and does not depend on earlier lives of the slot. */
size_t slot_span(const struct slot *slot);

/* Returns the slot to its pool; NULL is allowed. Thread-safe. A slot that grew beyond
 * the usual gives the excess back to the system. */
void slot_give_back(struct slot *slot);

#endif
