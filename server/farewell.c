/* SPDX-License-Identifier: MIT */
#include "server/farewell.h"

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
#include "server/loop.h"

enum {
    KEPT_MAX = 64,
    EVENTS_MAX = 16,
    READS_MAX = 16, /* of one socket before the others get their turn */
};
#define KEPT_NS INT64_C(2000000000)

struct kept {
    int fd; /* -1: free */
    int64_t until;
};

struct farewell {
    struct loop *loop;
    int epoll;
    pthread_mutex_t lock; /* guards the rest */
    struct kept kept[KEPT_MAX];
};

/* False at the end of what the peer sends. */
static bool discard(int fd) {
    char nowhere[32 << 10];
    for (unsigned i = 0; i < READS_MAX; i++) {
        ssize_t got = recv(fd, nowhere, sizeof nowhere, MSG_DONTWAIT);
        if (got <= 0) {
            return got < 0 && (errno == EAGAIN || errno == EINTR);
        }
    }
    return true;
}

static void let_go(struct farewell *farewell, struct kept *kept) {
    /* Closing would not do that while the caller of farewell_add still has its descriptor. */
    epoll_ctl(farewell->epoll, EPOLL_CTL_DEL, kept->fd, NULL);
    close(kept->fd);
    kept->fd = -1;
}

static int64_t work(void *context) {
    struct farewell *farewell = context;
    struct epoll_event events[EVENTS_MAX];
    pthread_mutex_lock(&farewell->lock);
    int count = epoll_wait(farewell->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        struct kept *kept = events[i].data.ptr;
        if (!discard(kept->fd)) {
            let_go(farewell, kept);
        }
    }
    int64_t now = clock_ns(), next = INT64_MAX;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        struct kept *kept = &farewell->kept[i];
        if (kept->fd >= 0 && kept->until <= now) {
            let_go(farewell, kept);
        }
        next = kept->fd >= 0 && kept->until < next ? kept->until : next;
    }
    pthread_mutex_unlock(&farewell->lock);
    return next == INT64_MAX ? -1 : (next - now) / 1000000 + 1;
}

enum status farewell_create(struct farewell **farewell, struct error *err) {
    struct farewell *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_mutex_init(&made->lock, NULL);
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        made->kept[i].fd = -1;
    }
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    enum status status = made->epoll < 0 ? fail(err, ST_BUSY, "no descriptor: %s", strerror(errno))
                                         : loop_start(&made->loop, made->epoll, work, made, err);
    if (status != ST_OK) {
        farewell_destroy(made);
        return status;
    }
    *farewell = made;
    return ST_OK;
}

void farewell_destroy(struct farewell *farewell) {
    if (!farewell) {
        return;
    }
    loop_stop(farewell->loop);
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (farewell->kept[i].fd >= 0) {
            let_go(farewell, &farewell->kept[i]);
        }
    }
    if (farewell->epoll >= 0) {
        close(farewell->epoll);
    }
    pthread_mutex_destroy(&farewell->lock);
    free(farewell);
}

static struct kept *find_room(struct farewell *farewell) {
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (farewell->kept[i].fd < 0) {
            return &farewell->kept[i];
        }
    }
    return NULL;
}

void farewell_add(struct farewell *farewell, int fd) {
    pthread_mutex_lock(&farewell->lock);
    struct kept *kept = find_room(farewell);
    int copy = kept ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0) {
        struct epoll_event readable = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = kept};
        *kept = (struct kept){.fd = copy, .until = clock_ns() + KEPT_NS};
        shutdown(copy, SHUT_WR);
        if (epoll_ctl(farewell->epoll, EPOLL_CTL_ADD, copy, &readable) != 0) {
            let_go(farewell, kept);
        }
        loop_wake(farewell->loop); /* for the new deadline */
    }
    pthread_mutex_unlock(&farewell->lock);
}
