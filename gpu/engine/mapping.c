/* SPDX-License-Identifier: MIT */
#include "gpu/engine/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/slot.h"

struct mapping {
    struct mapping *next;
    uint64_t serial, generation;
    uint8_t *memory; /* NULL: not mapped */
    size_t size;
    bool registered;
    bool taken; /* a run has the slot */
};

struct mappings {
    const struct cuda *cuda;
    pthread_mutex_t lock; /* guards the list and `taken`; a run owns the rest of a mapping it has taken */
    struct mapping *first;
};

struct mappings *mappings_create(const struct cuda *cuda) {
    struct mappings *mappings = calloc(1, sizeof *mappings);
    if (mappings) {
        mappings->cuda = cuda;
        pthread_mutex_init(&mappings->lock, NULL);
    }
    return mappings;
}

static void release(const struct cuda *cuda, struct mapping *mapping) {
    struct error err;
    if (mapping->registered && CUDA_TRY(cuda, &err, cuMemHostUnregister, mapping->memory) != ST_OK) {
        log_message(LOG_WARNING, "gpu", "%s", err.text);
    }
    if (mapping->memory) {
        munmap(mapping->memory, mapping->size);
    }
    mapping->memory = NULL;
    mapping->registered = false;
}

void mappings_destroy(struct mappings *mappings) {
    if (!mappings) {
        return;
    }
    while (mappings->first) {
        struct mapping *mapping = mappings->first;
        mappings->first = mapping->next;
        release(mappings->cuda, mapping);
        free(mapping);
    }
    pthread_mutex_destroy(&mappings->lock);
    free(mappings);
}

/* Takes the slot's mapping for one run at a time, even if the front asks twice. */
static struct mapping *take(struct mappings *mappings, uint64_t serial, struct error *err) {
    pthread_mutex_lock(&mappings->lock);
    struct mapping *mapping = mappings->first;
    while (mapping && mapping->serial != serial) {
        mapping = mapping->next;
    }
    if (!mapping && (mapping = calloc(1, sizeof *mapping))) {
        mapping->serial = serial;
        mapping->next = mappings->first;
        mappings->first = mapping;
    }
    bool busy = mapping && mapping->taken;
    if (mapping) {
        mapping->taken = true;
    }
    pthread_mutex_unlock(&mappings->lock);
    if (!mapping) {
        fail(err, ST_BUSY, "out of memory");
    } else if (busy) {
        fail(err, ST_INTERNAL, "another run has the slot");
    }
    return busy ? NULL : mapping;
}

void mappings_put(struct mappings *mappings, struct mapping *mapping) {
    if (mapping) {
        pthread_mutex_lock(&mappings->lock);
        mapping->taken = false;
        pthread_mutex_unlock(&mappings->lock);
    }
}

static enum status map(const struct cuda *cuda, struct mapping *mapping, size_t size, int fd,
                       struct error *err) {
    if (!slot_file_holds(fd, size)) {
        return fail(err, ST_INTERNAL, "the slot is shorter than it claims, or may become so");
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return fail(err, ST_BUSY, "cannot map a slot: %s", strerror(errno));
    }
    mapping->memory = memory;
    mapping->size = size;
    struct error why;
    int64_t start = clock_ns();
    mapping->registered =
        CUDA_TRY(cuda, &why, cuMemHostRegister, memory, size, CU_MEMHOSTREGISTER_PORTABLE) == ST_OK;
    log_message(LOG_DEBUG, "gpu", "a slot of %zu MiB is mapped, registered in %.1f ms", size >> 20,
                clock_ns_to_ms(clock_ns() - start));
    if (!mapping->registered) {
        log_message(LOG_WARNING, "gpu", "a slot of %zu MiB stays unregistered: %s", size >> 20, why.text);
    }
    return ST_OK;
}

enum status mappings_get(struct mappings *mappings, const struct slot_view *slot, int fd,
                         struct mapping **mapping, uint8_t **memory, struct error *err) {
    struct mapping *taken = take(mappings, slot->serial, err);
    if (!taken) {
        return err->status;
    }
    if (taken->memory && (taken->generation != slot->generation || taken->size < slot->span)) {
        release(mappings->cuda, taken);
    }
    enum status status = taken->memory ? ST_OK : map(mappings->cuda, taken, slot->span, fd, err);
    if (status != ST_OK) {
        mappings_put(mappings, taken);
        return status;
    }
    taken->generation = slot->generation;
    *mapping = taken;
    *memory = taken->memory;
    return ST_OK;
}
