/* SPDX-License-Identifier: MIT */
#include "server/http/lingering.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "server/http/loop.h"

enum {
    SOCKETS_MAX = 64,
    EVENTS_MAX = 16,
    READS_MAX = 16, /* of one socket before the next one is read */
};
#define LINGER_NS INT64_C(2000000000)

struct lingering_socket {
    int fd; /* -1: free */
    int64_t until;
};

struct lingering {
    struct loop *loop;
    int epoll;
    pthread_mutex_t lock; /* guards the rest */
    struct lingering_socket sockets[SOCKETS_MAX];
};

/* Reads and discards what has arrived; false at the end of the stream, which also follows an error. */
static bool discard(int fd) {
    char discarded[32 << 10];
    for (unsigned i = 0; i < READS_MAX; i++) {
        ssize_t got = recv(fd, discarded, sizeof discarded, MSG_DONTWAIT);
        if (got <= 0) {
            return got < 0;
        }
    }
    return true;
}

static void release(struct lingering *lingering, struct lingering_socket *entry) {
    /* Closing the descriptor does not remove it while the caller of lingering_add has its own. */
    epoll_ctl(lingering->epoll, EPOLL_CTL_DEL, entry->fd, NULL);
    close(entry->fd);
    entry->fd = -1;
}

static int64_t work(void *context) {
    struct lingering *lingering = context;
    struct epoll_event events[EVENTS_MAX];
    pthread_mutex_lock(&lingering->lock);
    int count = epoll_wait(lingering->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        struct lingering_socket *entry = events[i].data.ptr;
        if (!discard(entry->fd)) {
            release(lingering, entry);
        }
    }
    int64_t now = clock_ns(), next = INT64_MAX;
    for (unsigned i = 0; i < SOCKETS_MAX; i++) {
        struct lingering_socket *entry = &lingering->sockets[i];
        if (entry->fd >= 0 && entry->until <= now) {
            release(lingering, entry);
        }
        next = entry->fd >= 0 && entry->until < next ? entry->until : next;
    }
    pthread_mutex_unlock(&lingering->lock);
    return next == INT64_MAX ? -1 : (next - now) / 1000000 + 1;
}

enum status lingering_create(struct lingering **lingering, struct error *err) {
    struct lingering *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_mutex_init(&made->lock, NULL);
    for (unsigned i = 0; i < SOCKETS_MAX; i++) {
        made->sockets[i].fd = -1;
    }
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    enum status status = made->epoll < 0
                             ? fail(err, ST_BUSY, "no descriptor: %s", strerror(errno))
                             : loop_start(&made->loop, "blurd-linger", made->epoll, work, made, err);
    if (status != ST_OK) {
        lingering_destroy(made);
        return status;
    }
    *lingering = made;
    return ST_OK;
}

void lingering_destroy(struct lingering *lingering) {
    if (!lingering) {
        return;
    }
    loop_stop(lingering->loop);
    for (unsigned i = 0; i < SOCKETS_MAX; i++) {
        if (lingering->sockets[i].fd >= 0) {
            release(lingering, &lingering->sockets[i]);
        }
    }
    if (lingering->epoll >= 0) {
        close(lingering->epoll);
    }
    pthread_mutex_destroy(&lingering->lock);
    free(lingering);
}

static struct lingering_socket *find_room(struct lingering *lingering) {
    for (unsigned i = 0; i < SOCKETS_MAX; i++) {
        if (lingering->sockets[i].fd < 0) {
            return &lingering->sockets[i];
        }
    }
    return NULL;
}

void lingering_add(struct lingering *lingering, int fd) {
    pthread_mutex_lock(&lingering->lock);
    struct lingering_socket *entry = find_room(lingering);
    int copy = entry ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0) {
        struct epoll_event readable = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = entry};
        *entry = (struct lingering_socket){.fd = copy, .until = clock_ns() + LINGER_NS};
        shutdown(copy, SHUT_WR);
        if (epoll_ctl(lingering->epoll, EPOLL_CTL_ADD, copy, &readable) != 0) {
            release(lingering, entry);
        }
        loop_wake(lingering->loop); /* for the new deadline */
    }
    pthread_mutex_unlock(&lingering->lock);
}
