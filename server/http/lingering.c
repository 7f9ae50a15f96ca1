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
    KEPT_MAX = 64,
    EVENTS_MAX = 16,
    READS_MAX = 16, /* of one socket before the others get their turn */
};
#define KEPT_NS INT64_C(2000000000)

struct kept {
    int fd; /* -1: free */
    int64_t until;
};

struct lingering {
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

static void let_go(struct lingering *lingering, struct kept *kept) {
    /* Closing would not do that while the caller of lingering_add still has its descriptor. */
    epoll_ctl(lingering->epoll, EPOLL_CTL_DEL, kept->fd, NULL);
    close(kept->fd);
    kept->fd = -1;
}

static int64_t work(void *context) {
    struct lingering *lingering = context;
    struct epoll_event events[EVENTS_MAX];
    pthread_mutex_lock(&lingering->lock);
    int count = epoll_wait(lingering->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        struct kept *kept = events[i].data.ptr;
        if (!discard(kept->fd)) {
            let_go(lingering, kept);
        }
    }
    int64_t now = clock_ns(), next = INT64_MAX;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        struct kept *kept = &lingering->kept[i];
        if (kept->fd >= 0 && kept->until <= now) {
            let_go(lingering, kept);
        }
        next = kept->fd >= 0 && kept->until < next ? kept->until : next;
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
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        made->kept[i].fd = -1;
    }
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    enum status status = made->epoll < 0 ? fail(err, ST_BUSY, "no descriptor: %s", strerror(errno))
                                         : loop_start(&made->loop, made->epoll, work, made, err);
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
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (lingering->kept[i].fd >= 0) {
            let_go(lingering, &lingering->kept[i]);
        }
    }
    if (lingering->epoll >= 0) {
        close(lingering->epoll);
    }
    pthread_mutex_destroy(&lingering->lock);
    free(lingering);
}

static struct kept *find_room(struct lingering *lingering) {
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (lingering->kept[i].fd < 0) {
            return &lingering->kept[i];
        }
    }
    return NULL;
}

void lingering_add(struct lingering *lingering, int fd) {
    pthread_mutex_lock(&lingering->lock);
    struct kept *kept = find_room(lingering);
    int copy = kept ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0) {
        struct epoll_event readable = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = kept};
        *kept = (struct kept){.fd = copy, .until = clock_ns() + KEPT_NS};
        shutdown(copy, SHUT_WR);
        if (epoll_ctl(lingering->epoll, EPOLL_CTL_ADD, copy, &readable) != 0) {
            let_go(lingering, kept);
        }
        loop_wake(lingering->loop); /* for the new deadline */
    }
    pthread_mutex_unlock(&lingering->lock);
}
