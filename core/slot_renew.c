/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/slot.h"
#include "core/slot_file.h"
#include "core/slot_pool.h"

int slot_lend(struct slot *slot) {
    bool lent = slot->kind == SLOT_LENT_FILE || slot->kind == SLOT_LENT_WORK;
    slot->shared |= lent;
    return lent ? slot->fd : -1;
}

/* A file whose first `size` bytes have memory and hold a copy of the slot's first `kept`. -1 with errno. */
static int copy_file(const struct slot *slot, size_t kept, size_t size) {
    int fd = slot_file(slot->pool->most);
    void *copy = MAP_FAILED;
    if (fd >= 0 && fallocate(fd, 0, 0, (off_t)size) == 0) {
        copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (copy == MAP_FAILED) {
        int reason = errno;
        if (fd >= 0) {
            close(fd);
        }
        errno = reason;
        return -1;
    }
    memcpy(copy, slot->memory, kept);
    munmap(copy, size);
    return fd;
}

/* Maps the file in the place of the slot's own, or leaves the slot as it is. */
static bool exchange_file(struct slot *slot, int fd) {
    enum { RIGHTS = PROT_READ | PROT_WRITE, FLAGS = MAP_SHARED | MAP_FIXED };
    if (mmap(slot->memory, slot->pool->most, RIGHTS, FLAGS, fd, 0) != MAP_FAILED) {
        close(slot->fd);
        slot->fd = fd;
        return true;
    }
    int reason = errno;
    mmap(slot->memory, slot->pool->most, RIGHTS, FLAGS, slot->fd, 0);
    close(fd);
    errno = reason;
    return false;
}

enum status slot_renew(struct slot *slot, size_t kept, size_t *left, struct error *err) {
    struct slot_pool *pool = slot->pool;
    size_t size = bytes_align_up(kept ? kept : 1, SLOT_STEP);
    pthread_mutex_lock(&pool->lock);
    bool fits = pool->bytes + size <= pool->budget / 2;
    pool->bytes += fits ? size : 0;
    uint64_t serial = ++pool->made;
    pthread_mutex_unlock(&pool->lock);
    if (!fits) {
        return fail(err, ST_BUSY, "half of the memory budget of %zu MiB is in use", pool->budget >> 20);
    }
    int fd = copy_file(slot, kept, size);
    bool renewed = fd >= 0 && exchange_file(slot, fd);
    int reason = errno;
    pthread_mutex_lock(&pool->lock);
    pool->bytes -= renewed ? 0 : size;
    pool->held[slot->kind] += renewed ? size - slot->reserved : 0;
    pthread_mutex_unlock(&pool->lock);
    if (!renewed) {
        return fail(err, ST_BUSY, "no memory for a copy of the picture: %s", strerror(reason));
    }
    *left = slot->reserved;
    slot->reserved = size;
    slot->used = kept;
    slot->serial = serial;
    slot->shared = false;
    return ST_OK;
}
