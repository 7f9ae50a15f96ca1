/* SPDX-License-Identifier: MIT */
#include "gpu/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/log.h"

struct mapping {
    struct mapping *next;
    uint64_t serial, generation;
    uint8_t *memory; /* NULL: not mapped now */
    size_t size;
    bool registered;
};

struct mappings {
    const struct cuda *cuda;
    pthread_mutex_t lock; /* guards the list, not its members: a slot has one user */
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

static struct mapping *find(struct mappings *mappings, uint64_t serial) {
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
    pthread_mutex_unlock(&mappings->lock);
    return mapping;
}

/* A file shorter than what is mapped would end the process at the first touch. */
static bool long_enough(int fd, size_t size) {
    struct stat facts;
    return fstat(fd, &facts) == 0 && facts.st_size >= 0 && (uint64_t)facts.st_size >= size;
}

static enum status map(const struct cuda *cuda, struct mapping *mapping, size_t size, int fd,
                       struct error *err) {
    if (!long_enough(fd, size)) {
        return fail(err, ST_INTERNAL, "the slot is shorter than it claims");
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
                ns_to_ms(clock_ns() - start));
    if (!mapping->registered) {
        log_message(LOG_WARNING, "gpu", "a slot of %zu MiB stays unregistered: %s", size >> 20, why.text);
    }
    return ST_OK;
}

enum status mappings_get(struct mappings *mappings, uint64_t serial, uint64_t generation, size_t size, int fd,
                         uint8_t **memory, struct error *err) {
    struct mapping *mapping = find(mappings, serial);
    if (!mapping) {
        return fail(err, ST_BUSY, "out of memory");
    }
    if (mapping->memory && (mapping->generation != generation || mapping->size < size)) {
        release(mappings->cuda, mapping);
    }
    enum status status = mapping->memory ? ST_OK : map(mappings->cuda, mapping, size, fd, err);
    mapping->generation = generation;
    *memory = mapping->memory;
    return status;
}
