/* SPDX-License-Identifier: MIT */
#include "core/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/poison.h"
#include "core/slot_file.h"
#include "core/slot_pool.h"

enum {
    SLOT_KEEP =
        128 << 20, /* an idle slot keeps this much: what 3840x2160 pixels with alpha and regions need */
};
#define TRIM_STEP_NS INT64_C(1000000000)
_Static_assert((int)SLOT_KINDS == (int)SLOT_POOL_KINDS, "a pool has a list for each kind");

static void slot_destroy(struct slot *slot, size_t mapped) {
    if (slot->memory != MAP_FAILED) {
        munmap(slot->memory, mapped);
    }
    if (slot->fd >= 0) {
        close(slot->fd);
    }
    free(slot);
}

void slot_pool_destroy(struct slot_pool *pool) {
    if (!pool) {
        return;
    }
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        while (pool->idle[kind]) {
            struct slot *slot = pool->idle[kind];
            pool->idle[kind] = slot->next;
            slot_destroy(slot, pool->most);
        }
    }
    close(pool->event);
    pthread_cond_destroy(&pool->returned);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct slot_pool *slot_pool_create(size_t budget) {
    struct slot_pool *pool = calloc(1, sizeof *pool);
    if (pool) {
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->returned, NULL);
        pool->budget = pool->most = bytes_align_up(budget, SLOT_STEP);
        pool->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    if (pool && pool->event < 0) {
        slot_pool_destroy(pool);
        pool = NULL;
    }
    return pool;
}

void slot_pool_limit(struct slot_pool *pool, size_t most) {
    most = bytes_align_up(most, SLOT_STEP);
    pool->most = most < pool->budget ? most : pool->budget;
}

size_t slot_pool_bytes(struct slot_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    size_t bytes = pool->bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

size_t slot_pool_held(struct slot_pool *pool, enum slot_kind kind) {
    return atomic_load(&pool->held[kind]);
}

size_t slot_pool_files(struct slot_pool *pool) {
    return slot_pool_held(pool, SLOT_BODY) + slot_pool_held(pool, SLOT_LENT_FILE);
}

int slot_pool_event(const struct slot_pool *pool) {
    return pool->event;
}

size_t slot_pool_budget(const struct slot_pool *pool) {
    return pool->budget;
}

void slot_pool_count(struct slot_pool *pool, int64_t bytes) {
    pthread_mutex_lock(&pool->lock);
    pool->bytes += (size_t)bytes;
    pthread_mutex_unlock(&pool->lock);
}

static struct slot *slot_create(struct slot_pool *pool) {
    struct slot *slot = calloc(1, sizeof *slot);
    if (!slot) {
        return NULL;
    }
    slot->pool = pool;
    pthread_mutex_lock(&pool->lock);
    slot->serial = ++pool->made;
    pthread_mutex_unlock(&pool->lock);
    slot->memory = MAP_FAILED;
    slot->fd = slot_file(pool->most);
    if (slot->fd >= 0) {
        slot->memory = mmap(NULL, pool->most, PROT_READ | PROT_WRITE, MAP_SHARED, slot->fd, 0);
    }
    if (slot->memory == MAP_FAILED) {
        int reason = errno;
        slot_destroy(slot, 0);
        errno = reason;
        return NULL;
    }
    return slot;
}

/* Releases memory beyond `keep` bytes; false when that failed. All of the file, since a process that maps it
 * may have touched more than was reserved. The pool is locked, except during the system call, which takes
 * milliseconds. */
static bool shrink(struct slot_pool *pool, struct slot *slot, size_t keep) {
    if (slot->reserved <= keep) {
        return false;
    }
    size_t length = slot->reserved - keep;
    pool->returning += length;
    pthread_mutex_unlock(&pool->lock);
    bool taken = fallocate(slot->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)keep,
                           (off_t)(pool->most - keep)) == 0;
    pthread_mutex_lock(&pool->lock);
    pool->returning -= length;
    if (taken) {
        pool->bytes -= length;
        slot->reserved = keep;
        slot->generation++;
    }
    pthread_cond_broadcast(&pool->returned);
    return taken;
}

/* With many bodies and answers, a slow one must not hold more than it needs. The pool is locked. */
static void fit_file(struct slot_pool *pool, struct slot *slot) {
    size_t calm = pool->budget / (slot->kind == SLOT_LENT_FILE ? SLOT_CALM_LENT : SLOT_CALM);
    if (pool->held[slot->kind] + slot->reserved > calm) {
        shrink(pool, slot, SLOT_BODY_LEAST);
    }
}

enum status slot_acquire(struct slot_pool *pool, enum slot_kind kind, struct slot **slot, struct error *err) {
    pthread_mutex_lock(&pool->lock);
    struct slot *found = pool->idle[kind];
    if (found) {
        pool->idle[kind] = found->next;
        if (kind == SLOT_BODY || kind == SLOT_LENT_FILE) {
            fit_file(pool, found);
        }
        pool->held[kind] += found->reserved;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!found) {
        found = slot_create(pool);
    }
    if (!found) {
        return fail(err, ST_BUSY, "no memory for another request: %s", strerror(errno));
    }
    found->kind = kind;
    found->used = 0;
    found->next = NULL;
    *slot = found;
    return ST_OK;
}

/* The least recently used idle slot of the kind that holds memory; NULL if none. */
static struct slot **find_coldest(struct slot_pool *pool, enum slot_kind kind, bool shared) {
    struct slot **found = NULL;
    for (struct slot **at = &pool->idle[kind]; *at; at = &(*at)->next) {
        found = (*at)->reserved > 0 && (shared || !(*at)->shared) ? at : found;
    }
    return found;
}

/* Takes the least recently used slot of all kinds out of the pool; NULL if none holds memory. Skips slots
 * that another process maps unless `shared`. */
static struct slot *take_coldest(struct slot_pool *pool, bool shared, int64_t before) {
    struct slot **found = NULL;
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        struct slot **at = find_coldest(pool, kind, shared);
        found = at && (!found || (*at)->idle_since < (*found)->idle_since) ? at : found;
    }
    struct slot *slot = found && (*found)->idle_since <= before ? *found : NULL;
    if (slot) {
        *found = slot->next;
    }
    return slot;
}

static void put_last(struct slot_pool *pool, struct slot *slot) {
    struct slot **end = &pool->idle[slot->kind];
    while (*end) {
        end = &(*end)->next;
    }
    slot->next = NULL;
    *end = slot;
}

/* Empties idle slots until `extra` bytes fit, or none is left. The pool is locked. */
static void make_room(struct slot_pool *pool, size_t extra) {
    bool taken = true;
    for (struct slot *slot;
         taken && pool->bytes + extra > pool->budget && (slot = take_coldest(pool, true, INT64_MAX));) {
        taken = shrink(pool, slot, 0);
        put_last(pool, slot);
    }
}

/* Counts `extra` bytes against the budget, after waiting for memory that is being released. */
static enum status charge(struct slot_pool *pool, size_t extra, struct error *err) {
    pthread_mutex_lock(&pool->lock);
    make_room(pool, extra);
    while (pool->bytes + extra > pool->budget && pool->returning > 0) {
        pthread_cond_wait(&pool->returned, &pool->lock);
        make_room(pool, extra);
    }
    bool fits = pool->bytes <= pool->budget && extra <= pool->budget - pool->bytes;
    if (fits) {
        pool->bytes += extra;
    }
    pthread_mutex_unlock(&pool->lock);
    return fits ? ST_OK : fail(err, ST_BUSY, "the memory budget of %zu MiB is in use", pool->budget >> 20);
}

/* Contents of newly handed out memory are undefined. */
static void hand_out(struct slot *slot, size_t size) {
    if (size > slot->used) {
        poison(slot->memory + slot->used, size - slot->used);
        slot->used = size;
    }
}

/* ST_LIMIT when the pool can never hold so many bytes of a slot and `claimed` ones beside it. */
static enum status check_limit(const struct slot_pool *pool, size_t size, size_t claimed, struct error *err) {
    size_t all;
    if (size > pool->most) {
        return fail(err, ST_LIMIT, "the picture needs %zu MiB of memory, more than %s of %zu MiB", size >> 20,
                    pool->most < pool->budget ? "a request's share" : "the budget", pool->most >> 20);
    }
    if (__builtin_add_overflow(bytes_align_up(size, SLOT_STEP), claimed, &all) || all > pool->budget) {
        return fail(
            err, ST_LIMIT,
            "the picture needs %zu MiB of memory and %zu MiB beside it, more than the budget of %zu MiB",
            size >> 20, claimed >> 20, pool->budget >> 20);
    }
    return ST_OK;
}

enum status slot_reserve(struct slot *slot, size_t size, struct error *err) {
    if (size <= slot->reserved) {
        hand_out(slot, size);
        return ST_OK;
    }
    struct slot_pool *pool = slot->pool;
    if (check_limit(pool, size, slot->claimed, err) != ST_OK) {
        return ST_LIMIT;
    }
    size_t extra = bytes_align_up(size, SLOT_STEP) - slot->reserved;
    enum status status = charge(pool, extra, err);
    if (status != ST_OK) {
        return status;
    }
    if (fallocate(slot->fd, 0, (off_t)slot->reserved, (off_t)extra) != 0) {
        int reason = errno;
        pthread_mutex_lock(&pool->lock);
        pool->bytes -= extra;
        pthread_mutex_unlock(&pool->lock);
        return fail(err, ST_BUSY, "no memory for the picture: %s", strerror(reason));
    }
    slot->reserved += extra;
    pthread_mutex_lock(&pool->lock);
    pool->held[slot->kind] += extra;
    pthread_mutex_unlock(&pool->lock);
    hand_out(slot, size);
    return ST_OK;
}

uint8_t *slot_take(struct slot *slot, size_t size, struct error *err) {
    size_t start = bytes_align_up(slot->used, 64);
    size_t end;
    if (__builtin_add_overflow(start, size, &end)) {
        fail(err, ST_LIMIT, "the picture is too large for memory");
        return NULL;
    }
    return slot_reserve(slot, end, err) == ST_OK ? slot->memory + start : NULL;
}

/* Releases memory of a slot that is in use. The pool is locked. */
static void shrink_held(struct slot_pool *pool, struct slot *slot, size_t size) {
    pool->held[slot->kind] -= slot->reserved;
    shrink(pool, slot, bytes_align_up(size, SLOT_STEP));
    pool->held[slot->kind] += slot->reserved;
}

void slot_cut(struct slot *slot, size_t size) {
    struct slot_pool *pool = slot->pool;
    slot->used = size;
    pthread_mutex_lock(&pool->lock);
    shrink_held(pool, slot, size);
    pthread_mutex_unlock(&pool->lock);
}

void slot_fit(struct slot *slot, size_t size) {
    struct slot_pool *pool = slot->pool;
    pthread_mutex_lock(&pool->lock);
    if (pool->held[slot->kind] > pool->budget / SLOT_CALM_WORK) {
        shrink_held(pool, slot, size > slot->used ? size : slot->used);
    }
    pthread_mutex_unlock(&pool->lock);
}

size_t slot_span(const struct slot *slot) {
    return bytes_align_up(slot->used, SLOT_STEP);
}

enum status slot_claim(struct slot *slot, size_t size, struct error *err) {
    struct slot_pool *pool = slot->pool;
    size_t claimed = size <= SIZE_MAX - slot->claimed ? slot->claimed + size : SIZE_MAX;
    enum status status = check_limit(pool, slot->used, claimed, err);
    status = status == ST_OK ? charge(pool, size, err) : status;
    if (status == ST_BUSY && slot->reserved > slot_span(slot)) { /* it was larger when it was used before */
        slot_cut(slot, slot->used);
        status = charge(pool, size, err);
    }
    slot->claimed += status == ST_OK ? size : 0;
    return status;
}

static void make_idle(struct slot_pool *pool, struct slot *slot) {
    shrink(pool, slot, SLOT_KEEP);
    slot->idle_since = clock_ns();
    slot->next = pool->idle[slot->kind];
    pool->idle[slot->kind] = slot;
    pool->busy = true;
    if (!pool->watched) {
        pool->watched = true;
        eventfd_write(pool->event, 1);
    }
}

void slot_give_back(struct slot *slot) {
    if (!slot) {
        return;
    }
    struct slot_pool *pool = slot->pool;
    bool ends = slot->kind == SLOT_EXCHANGE;
    pthread_mutex_lock(&pool->lock);
    pool->bytes -= slot->claimed + (ends ? slot->reserved : 0);
    slot->claimed = 0;
    pool->held[slot->kind] -= slot->reserved;
    if (!ends) {
        make_idle(pool, slot);
    }
    pthread_mutex_unlock(&pool->lock);
    if (ends) {
        slot_destroy(slot, pool->most);
    }
}

int64_t slot_pool_trim(struct slot_pool *pool, int64_t now) {
    eventfd_t ignored;
    pthread_mutex_lock(&pool->lock);
    eventfd_read(pool->event, &ignored);
    int64_t wait = pool->busy ? SLOT_IDLE_NS : -1;
    pool->busy = false;
    for (struct slot *slot; (slot = take_coldest(pool, false, now - SLOT_IDLE_NS));) {
        bool taken = shrink(pool, slot, 0);
        put_last(pool, slot);
        if (!taken) {
            break;
        }
    }
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        struct slot **next = find_coldest(pool, kind, false);
        int64_t left = next ? (*next)->idle_since + SLOT_IDLE_NS - now : -1;
        left = next && left < TRIM_STEP_NS ? TRIM_STEP_NS : left;
        wait = wait < 0 || (left >= 0 && left < wait) ? left : wait;
    }
    pool->watched = wait >= 0;
    pthread_mutex_unlock(&pool->lock);
    return wait;
}
