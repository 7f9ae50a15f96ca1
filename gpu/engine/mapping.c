/* SPDX-License-Identifier: MIT */
#include "gpu/engine/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/slot_file.h"
#include "core/tuned.h"

enum {
    BUCKETS = 1024, /* more than the front usually has slots; their serial numbers follow one another */
};

enum registration { UNTRIED, WAITING, WORKING, REGISTERED, REFUSED };

/* A run owns a mapping that it has taken, except for `state`. */
struct mapping {
    struct mapping *next; /* in its bucket, or of those outgrown */
    uint64_t serial, generation;
    uint8_t *memory; /* NULL: not mapped */
    size_t size;
    /* While WORKING, one thread is registering it. Changed under the lock. REGISTERED and REFUSED stay until
     * the owner changes them. */
    _Atomic enum registration state;
    atomic_bool taken; /* a run has the slot */
    bool copied;       /* the run that has it copies memory that is not registered, and counts as busy */
};

struct mappings {
    const struct cuda *cuda;
    /* By serial. A mapping is added under the lock and stays until the end, so that a run finds its own
     * without the lock, for which the sessions of four GPUs once waited 1.5 ms a picture (docs/adr/0049). */
    struct mapping *_Atomic bucket[BUCKETS];
    pthread_mutex_t lock;     /* guards the rest */
    pthread_cond_t changed;   /* a state, or `closing` */
    struct mapping *outgrown; /* memory that slots have grown out of, until mappings_attend releases it */
    size_t outgrown_bytes;
    int64_t release_at; /* clock_ns of the next release; for the thread that attends */
    bool attended, closing;
    _Atomic unsigned busy; /* threads that register, unregister or copy a large slot */
};

struct mappings *mappings_create(const struct cuda *cuda) {
    struct mappings *mappings = calloc(1, sizeof *mappings);
    if (mappings) {
        mappings->cuda = cuda;
        pthread_mutex_init(&mappings->lock, NULL);
        clock_init_condition(&mappings->changed);
    }
    return mappings;
}

bool mappings_are_busy(const struct mappings *mappings) {
    return atomic_load(&mappings->busy) > 0;
}

/* Around a call for a mapping, with 1 and -1. */
static void count_busy(struct mappings *mappings, const struct mapping *mapping, int change) {
    if (mapping->size > TUNED_GPU_REGISTER_LATER) {
        atomic_fetch_add(&mappings->busy, (unsigned)change);
    }
}

/* Leaves no thread that registers the mapping, and none that will. */
static void stop_registering(struct mappings *mappings, struct mapping *mapping) {
    pthread_mutex_lock(&mappings->lock);
    while (mapping->state == WORKING) {
        pthread_cond_wait(&mappings->changed, &mappings->lock);
    }
    mapping->state = mapping->state == WAITING ? UNTRIED : mapping->state;
    pthread_mutex_unlock(&mappings->lock);
}

static void release(struct mappings *mappings, struct mapping *mapping) {
    struct error err;
    stop_registering(mappings, mapping);
    count_busy(mappings, mapping, 1);
    if (mapping->state == REGISTERED &&
        CUDA_TRY(mappings->cuda, &err, cuMemHostUnregister, mapping->memory) != ST_OK) {
        log_message(LOG_WARNING, "gpu", "%s", err.text);
    }
    count_busy(mappings, mapping, -1);
    if (mapping->memory) {
        munmap(mapping->memory, mapping->size);
    }
    mapping->memory = NULL;
    pthread_mutex_lock(&mappings->lock);
    mapping->state = UNTRIED;
    pthread_mutex_unlock(&mappings->lock);
}

/* Leaves the mapping without memory, and its memory to the thread that attends. The driver unregisters memory
 * when all kernels have ended, and other threads' launches wait with it: for 20 ms where progressive files
 * are read, and a new kind of request makes all slots grow. Where too much waits for that already, the run
 * releases its own.
 */
static void outgrow(struct mappings *mappings, struct mapping *mapping) {
    struct mapping *outgrown = malloc(sizeof *outgrown);
    stop_registering(mappings, mapping);
    pthread_mutex_lock(&mappings->lock);
    bool later = outgrown && mappings->attended && mapping->state == REGISTERED &&
                 mapping->size <= TUNED_GPU_OUTGROWN_BYTES - mappings->outgrown_bytes;
    if (later) {
        *outgrown = (struct mapping){.next = mappings->outgrown,
                                     .memory = mapping->memory,
                                     .size = mapping->size,
                                     .state = REGISTERED};
        mappings->outgrown = outgrown;
        mappings->outgrown_bytes += outgrown->size;
        mapping->memory = NULL;
        mapping->state = UNTRIED;
        pthread_cond_broadcast(&mappings->changed);
    }
    pthread_mutex_unlock(&mappings->lock);
    if (!later) {
        free(outgrown);
        release(mappings, mapping);
    }
}

static void release_all(struct mappings *mappings, struct mapping *list) {
    for (struct mapping *mapping; (mapping = list);) {
        list = mapping->next;
        release(mappings, mapping);
        free(mapping);
    }
}

void mappings_destroy(struct mappings *mappings) {
    if (!mappings) {
        return;
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        release_all(mappings, mappings->bucket[i]);
    }
    release_all(mappings, mappings->outgrown);
    pthread_cond_destroy(&mappings->changed);
    pthread_mutex_destroy(&mappings->lock);
    free(mappings);
}

static struct mapping *find(struct mappings *mappings, uint64_t serial) {
    struct mapping *mapping = atomic_load(&mappings->bucket[serial % BUCKETS]);
    while (mapping && mapping->serial != serial) {
        mapping = mapping->next;
    }
    return mapping;
}

/* NULL without memory. */
static struct mapping *find_or_add(struct mappings *mappings, uint64_t serial) {
    pthread_mutex_lock(&mappings->lock);
    struct mapping *mapping = find(mappings, serial); /* another run may have added it */
    if (!mapping && (mapping = calloc(1, sizeof *mapping))) {
        struct mapping *_Atomic *bucket = &mappings->bucket[serial % BUCKETS];
        mapping->serial = serial;
        mapping->next = *bucket;
        atomic_store(bucket, mapping);
    }
    pthread_mutex_unlock(&mappings->lock);
    return mapping;
}

/* Takes the slot's mapping for one run at a time, even if the front asks twice. */
static struct mapping *take(struct mappings *mappings, uint64_t serial, struct error *err) {
    struct mapping *mapping = find(mappings, serial);
    if (!mapping && !(mapping = find_or_add(mappings, serial))) {
        fail(err, ST_BUSY, "out of memory");
        return NULL;
    }
    if (atomic_exchange(&mapping->taken, true)) {
        fail(err, ST_INTERNAL, "another run has the slot");
        return NULL;
    }
    return mapping;
}

void mappings_put(struct mappings *mappings, struct mapping *mapping) {
    if (mapping) {
        count_busy(mappings, mapping, mapping->copied ? -1 : 0);
        mapping->copied = false;
        atomic_store(&mapping->taken, false);
    }
}

static enum status map(struct mapping *mapping, size_t size, int fd, struct error *err) {
    if (!slot_file_holds(fd, size)) {
        return fail(err, ST_INTERNAL, "the slot is shorter than it claims, or may become so");
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return fail(err, ST_BUSY, "cannot map a slot: %s", strerror(errno));
    }
    mapping->memory = memory;
    mapping->size = size;
    return ST_OK;
}

/* Registers a mapping that this thread has set to WORKING. */
static void register_now(struct mappings *mappings, struct mapping *mapping) {
    struct error why;
    int64_t start = clock_ns();
    count_busy(mappings, mapping, 1);
    bool done = CUDA_TRY(mappings->cuda, &why, cuMemHostRegister, mapping->memory, mapping->size,
                         CU_MEMHOSTREGISTER_PORTABLE) == ST_OK;
    count_busy(mappings, mapping, -1);
    if (done) {
        log_message(LOG_DEBUG, "gpu", "a slot of %zu MiB is registered in %.1f ms", mapping->size >> 20,
                    clock_ns_to_ms(clock_ns() - start));
    } else {
        log_message(LOG_WARNING, "gpu", "a slot of %zu MiB stays unregistered: %s", mapping->size >> 20,
                    why.text);
    }
    pthread_mutex_lock(&mappings->lock);
    mapping->state = done ? REGISTERED : REFUSED;
    pthread_cond_broadcast(&mappings->changed);
    pthread_mutex_unlock(&mappings->lock);
}

/* Registers the mapping, or with `later` leaves that to the thread of mappings_attend. */
static void register_mapping(struct mappings *mappings, struct mapping *mapping, bool later) {
    enum registration state = atomic_load(&mapping->state);
    if (state == REGISTERED || state == REFUSED) {
        return;
    }
    pthread_mutex_lock(&mappings->lock);
    later = later && mappings->attended && mapping->size <= TUNED_GPU_REGISTER_LATER;
    while (!later && mapping->state == WORKING) {
        pthread_cond_wait(&mappings->changed, &mappings->lock);
    }
    bool now = !later && (mapping->state == UNTRIED || mapping->state == WAITING);
    if (now) {
        mapping->state = WORKING;
    } else if (mapping->state == UNTRIED) {
        mapping->state = WAITING;
        pthread_cond_broadcast(&mappings->changed);
    }
    pthread_mutex_unlock(&mappings->lock);
    if (now) {
        register_now(mappings, mapping);
    }
}

enum status mappings_get(struct mappings *mappings, const struct slot_view *slot, bool later, int fd,
                         struct mapping **mapping, uint8_t **memory, struct error *err) {
    struct mapping *taken = take(mappings, slot->serial, err);
    if (!taken) {
        return err->status;
    }
    if (taken->memory && (taken->generation != slot->generation || taken->size < slot->span)) {
        outgrow(mappings, taken);
    }
    enum status status = taken->memory ? ST_OK : map(taken, slot->span, fd, err);
    if (status != ST_OK) {
        mappings_put(mappings, taken);
        return status;
    }
    register_mapping(mappings, taken, later);
    taken->generation = slot->generation;
    taken->copied = atomic_load(&taken->state) != REGISTERED;
    count_busy(mappings, taken, taken->copied);
    *mapping = taken;
    *memory = taken->memory;
    return ST_OK;
}

static struct mapping *first_waiting(const struct mappings *mappings) {
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct mapping *mapping = mappings->bucket[i]; mapping; mapping = mapping->next) {
            if (mapping->state == WAITING) {
                return mapping;
            }
        }
    }
    return NULL;
}

/* Waits until there is a mapping to register, or memory to release. False when the mappings close. */
static bool next_work(struct mappings *mappings, struct mapping **waiting, struct mapping **outgrown) {
    pthread_mutex_lock(&mappings->lock);
    for (*waiting = *outgrown = NULL; !mappings->closing;) {
        bool due = mappings->outgrown && clock_ns() >= mappings->release_at;
        *waiting = first_waiting(mappings);
        *outgrown = due ? mappings->outgrown : NULL;
        if (*waiting || *outgrown) {
            break;
        }
        clock_wait(&mappings->changed, &mappings->lock,
                   mappings->outgrown ? mappings->release_at : INT64_MAX);
    }
    if (*waiting) {
        (*waiting)->state = WORKING;
    }
    if (*outgrown) {
        mappings->outgrown = (*outgrown)->next;
        mappings->outgrown_bytes -= (*outgrown)->size;
    }
    pthread_mutex_unlock(&mappings->lock);
    return *waiting || *outgrown;
}

static void register_and_pause(struct mappings *mappings, struct mapping *mapping) {
    int64_t start = clock_ns();
    register_now(mappings, mapping);
    int64_t took = clock_ns() - start;
    took = took < TUNED_GPU_REGISTER_PAUSE_NS ? took : TUNED_GPU_REGISTER_PAUSE_NS;
    nanosleep(&(struct timespec){.tv_nsec = (long)took}, NULL);
}

static void release_outgrown(struct mappings *mappings, struct mapping *outgrown) {
    int64_t start = clock_ns();
    release(mappings, outgrown);
    free(outgrown);
    int64_t end = clock_ns();
    mappings->release_at = end + (TUNED_GPU_OUTGROWN_PART - 1) * (end - start);
}

void mappings_attend(struct mappings *mappings) {
    struct mapping *waiting, *outgrown;
    pthread_mutex_lock(&mappings->lock);
    mappings->attended = !mappings->closing;
    pthread_mutex_unlock(&mappings->lock);
    while (next_work(mappings, &waiting, &outgrown)) {
        if (waiting) {
            register_and_pause(mappings, waiting);
        }
        if (outgrown) {
            release_outgrown(mappings, outgrown);
        }
    }
}

void mappings_leave(struct mappings *mappings) {
    pthread_mutex_lock(&mappings->lock);
    mappings->closing = true;
    mappings->attended = false;
    pthread_cond_broadcast(&mappings->changed);
    pthread_mutex_unlock(&mappings->lock);
}
