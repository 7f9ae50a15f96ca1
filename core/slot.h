/* SPDX-License-Identifier: MIT
 * Slots are memory for request bodies and workers' pictures. The memory is shared, so that another process
 * can work on it without a copy.
 *
 * A slot is a memfd mapped once at its maximum size; only reserved bytes are backed by memory, so addresses
 * never change while it grows. The pool counts all slots against one budget and reuses freed slots with their
 * memory, the most recently used (warm in the cache) first. It takes memory back from idle slots before it
 * refuses, and after SLOT_IDLE_NS.
 *
 * A slot keeps its kind, so that memory which another process may have mapped never holds what that process
 * must not see or write. SLOT_BODY is for bodies: a waiting request holds one as long as its client likes.
 * SLOT_WORK is for pictures and tables. Only the daemon maps these two. Engines of GPUs map SLOT_LENT_FILE,
 * for files that their codecs read and write, and SLOT_LENT_WORK, for pictures. Such an engine can change
 * them at any time, so they hold nothing but samples, coefficients and compressed bytes: no table, length or
 * offset that the daemon uses again. SLOT_EXCHANGE is for what one process of codecs gets and returns: it is
 * never reused, and slot_give_back destroys it.
 *
 * Memory is committed by fallocate before it is used: a machine without memory answers one request with
 * ST_BUSY instead of faulting within a picture. */
#ifndef BLURD_CORE_SLOT_H
#define BLURD_CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct slot_pool;

enum slot_kind { SLOT_BODY, SLOT_WORK, SLOT_LENT_FILE, SLOT_LENT_WORK, SLOT_EXCHANGE, SLOT_KINDS };

enum {
    SLOT_CALM = 16,     /* while bodies hold less than this part of the budget, they keep what is warm; */
    SLOT_CALM_LENT = 4, /* the same for lent files: to register new pages with a GPU takes longer */
    SLOT_CALM_WORK = 4, /* while pictures in use hold less than this part, they keep what is warm */
    SLOT_BODY_LEAST = 256 << 10, /* bytes of a warm slot that a body gets in any case */
};
#define SLOT_IDLE_NS INT64_C(3000000000)

/* One owner at a time; not thread-safe by itself. */
struct slot {
    uint8_t *memory;     /* page-aligned; valid up to `reserved` */
    size_t reserved;     /* bytes backed by memory and counted against the budget */
    size_t used;         /* bytes handed out by slot_reserve and slot_take since slot_acquire */
    size_t claimed;      /* bytes elsewhere that slot_claim counts */
    int fd;              /* the memfd, to be shared with another process */
    uint64_t serial;     /* identifies the slot in its pool; never reused */
    uint64_t generation; /* changes when memory is released: other pages now */
    enum slot_kind kind;
    bool shared;        /* an engine maps its pages: they stay while it is idle. Set by slot_lend */
    int64_t idle_since; /* clock_ns */
    struct slot_pool *pool;
    struct slot *next; /* the pool's, while idle */
};

/* A pool whose slots together hold at most `budget` bytes. NULL without memory. */
struct slot_pool *slot_pool_create(size_t budget);

/* Limits each slot to `most` bytes. A slot reserves addresses for its maximum, and a process has 2^47 of
 * them, so large budgets need this. Called before the first slot is acquired. */
void slot_pool_limit(struct slot_pool *pool, size_t most);

/* Frees the pool and its idle slots. All slots must have been given back. NULL is allowed. */
void slot_pool_destroy(struct slot_pool *pool);

/* Bytes that all slots hold, idle ones and claims included; and the maximum. Thread-safe. */
size_t slot_pool_bytes(struct slot_pool *pool);
size_t slot_pool_budget(const struct slot_pool *pool);

/* Bytes held by slots of that kind that are in use. Thread-safe. */
size_t slot_pool_held(struct slot_pool *pool, enum slot_kind kind);

/* The same of bodies and lent files together. Answers wait in the latter as bodies do in the former. */
size_t slot_pool_files(struct slot_pool *pool);

/* Becomes readable when a slot is given back and no call of slot_pool_trim is due. Owned by the pool. */
int slot_pool_event(const struct slot_pool *pool);

/* Releases the memory of slots that have been idle for SLOT_IDLE_NS at `now` (clock_ns), except shared
 * ones. Returns the nanoseconds until the next call, at least a second; -1: call when slot_pool_event is
 * readable. One thread at a time. */
int64_t slot_pool_trim(struct slot_pool *pool, int64_t now);

/* Counts existing bytes that outlive their slot, such as an answer being sent, even beyond the budget;
 * later requests then get less. Negative `bytes` are subtracted. Thread-safe. */
void slot_pool_count(struct slot_pool *pool, int64_t bytes);

/* An empty slot, owned by the caller until slot_give_back. It may have memory already; that of a body or a
 * lent file has at most SLOT_BODY_LEAST when these hold much (SLOT_CALM, SLOT_CALM_LENT). ST_BUSY when the
 * process is out of memory mappings or file descriptors. Thread-safe. */
enum status slot_acquire(struct slot_pool *pool, enum slot_kind kind, struct slot **slot, struct error *err);

/* Makes the first `size` bytes usable, growing the slot if needed. Contents and addresses stay. On failure
 * the slot is unchanged: ST_BUSY when the budget is in use or the system has no memory, ST_LIMIT above the
 * budget or the limit of slot_pool_limit. */
enum status slot_reserve(struct slot *slot, size_t size, struct error *err);

/* Hands out the next `size` bytes, aligned to 64, contents undefined; NULL with *err filled as
 * slot_reserve does. */
uint8_t *slot_take(struct slot *slot, size_t size, struct error *err);

/* Takes back the bytes beyond the first `size`, and releases their memory. */
void slot_cut(struct slot *slot, size_t size);

/* Releases what a slot for pictures has from earlier uses beyond the first `size` bytes, and beyond what was
 * handed out, if such slots hold more than a SLOT_CALM_WORK of the budget. */
void slot_fit(struct slot *slot, size_t size);

/* Gives the slot other memory with a copy of its first `kept` bytes, at the same addresses and as a slot that
 * no process has seen. The caller calls this when a process that is about to end may still write to the slot.
 * The old memory, *left bytes, lasts until that process has unmapped it. It stays counted until the caller
 * subtracts it with slot_pool_count. ST_BUSY, with the slot as it was: the pool would hold more than half of
 * its budget, or the system has no memory or descriptors. */
enum status slot_renew(struct slot *slot, size_t kept, size_t *left, struct error *err);

/* Counts `size` bytes of other memory that this request will take (a library's, the answer's) against the
 * budget, until the slot is given back. ST_BUSY or ST_LIMIT as slot_reserve. */
enum status slot_claim(struct slot *slot, size_t size, struct error *err);

/* Bytes that another process must map to work on the slot: at least `used`, at most `reserved`. Grows less
 * often than `used`, and does not depend on earlier uses of the slot. */
size_t slot_span(const struct slot *slot);

/* The descriptor for an engine, which maps the slot from now on as long as it likes. The slot's, not to be
 * closed. -1 for a kind that no engine may map; the caller then lends nothing. */
int slot_lend(struct slot *slot);

/* Returns the slot to its pool; NULL is allowed. A slot above the usual size releases the excess. An exchange
 * is destroyed, with the contents that its process could still see.
 * Thread-safe. */
void slot_give_back(struct slot *slot);

#endif
