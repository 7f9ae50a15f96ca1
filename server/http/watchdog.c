/* SPDX-License-Identifier: MIT */
#include "server/http/watchdog.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "config/config.h"
#include "core/clock.h"
#include "server/http/peer.h"

enum {
    EVENTS_MAX = 64,
    FRESH_CROWDED_MS =
        100, /* for the first byte when there are too many connections; it mostly comes with the handshake */
    IDLE_CROWDED_MS = 100, /* a connection idle for less may have its next request under way */
    RELIEF_MS = 1000,
    CROWDED_LOOK_MS = 50,
};

struct watchdog {
    pthread_t thread;
    int epoll;            /* tells when a peer closes its side */
    int changed;          /* eventfd: the deadlines changed */
    pthread_mutex_t lock; /* guards everything below and every watch */
    struct watch_rules rules;
    bool stopping;
    int64_t wake;               /* when the thread wakes next */
    int64_t relief;             /* clock_ns; every answer before it should be its connection's last */
    unsigned excess;            /* answers that should be the last ones of their connections */
    unsigned unwanted;          /* idle connections to close, whatever their number */
    struct watch *first, *last; /* ordered by the start of their phase, the latest first */
};

/* Wakes the thread at `when` at the latest. Called under the lock, as are the functions below. */
static void awaken(struct watchdog *dog, int64_t when) {
    if (when < dog->wake) {
        dog->wake = when;
        eventfd_write(dog->changed, 1);
    }
}

static void unlink_watch(struct watchdog *dog, struct watch *watch) {
    *(watch->previous ? &watch->previous->next : &dog->first) = watch->next;
    *(watch->next ? &watch->next->previous : &dog->last) = watch->previous;
}

static void link_first(struct watchdog *dog, struct watch *watch) {
    watch->previous = NULL;
    watch->next = dog->first;
    *(dog->first ? &dog->first->previous : &dog->last) = watch;
    dog->first = watch;
}

/* The descriptor may belong to another connection by now, so its state is read again. */
static void note_closed(struct watchdog *dog, int fd) {
    bool dead;
    for (struct watch *watch = dog->first; watch; watch = watch->next) {
        if (watch->fd == fd && watch->end == WATCH_OPEN && peer_closed(fd, &dead)) {
            watch->closed = true;
            watch->dead = dead;
            watch_hasten_closed(watch, clock_ns());
        }
    }
}

/* Closes up to `count` connections of that phase, the oldest first; returns how many. */
static unsigned shed_phase(struct watchdog *dog, enum watch_phase phase, int64_t before, unsigned count) {
    unsigned shed = 0;
    for (struct watch *watch = dog->last; watch && watch->since <= before && shed < count;
         watch = watch->previous) {
        bool unused = watch->phase == phase && (phase == WATCH_IDLE || watch_is_fresh(watch));
        if (unused && watch->end == WATCH_OPEN && !peer_has_unread(watch->fd)) {
            watch_shut(watch, WATCH_SHED);
            shed++;
        }
    }
    return shed;
}

/* Closes connections above the soft limit: first idle ones, then those that never sent a request. */
static void shed(struct watchdog *dog, int64_t now) {
    unsigned unwanted = dog->unwanted < dog->rules.open ? dog->unwanted : dog->rules.open;
    unsigned over = dog->rules.open > dog->rules.limits.soft ? dog->rules.open - dog->rules.limits.soft : 0;
    over = over > unwanted ? over : unwanted;
    dog->unwanted = 0;
    if (over > 0) {
        over -= shed_phase(dog, WATCH_IDLE, unwanted > 0 ? now : now - IDLE_CROWDED_MS * MS, over);
    }
    if (over > 0) {
        over -= shed_phase(dog, WATCH_HEADERS, now - FRESH_CROWDED_MS * MS, over);
    }
    dog->excess = over;
    if (over > 0) {
        dog->wake = now + CROWDED_LOOK_MS * MS;
    }
}

/* Handles events and deadlines; returns the milliseconds until the next deadline, -1 for none. */
static int look_round(struct watchdog *dog, const struct epoll_event *events, int count) {
    int64_t now = clock_ns();
    for (int i = 0; i < count; i++) {
        eventfd_t ignored;
        if (events[i].data.fd == dog->changed) {
            eventfd_read(dog->changed, &ignored);
        } else {
            note_closed(dog, events[i].data.fd);
        }
    }
    dog->wake = INT64_MAX;
    shed(dog, now);
    for (struct watch *watch = dog->first; watch; watch = watch->next) {
        watch_check(watch, now);
        dog->wake = watch_next(watch) < dog->wake ? watch_next(watch) : dog->wake;
    }
    int64_t left = (dog->wake - now + 999999) / MS;
    return dog->wake == INT64_MAX ? -1 : left > INT_MAX ? INT_MAX : left < 0 ? 0 : (int)left;
}

static void *watchdog_run(void *argument) {
    struct watchdog *dog = argument;
    struct epoll_event events[EVENTS_MAX];
    int count = 0;
    pthread_mutex_lock(&dog->lock);
    while (!dog->stopping) {
        int ms = look_round(dog, events, count);
        pthread_mutex_unlock(&dog->lock);
        count = epoll_wait(dog->epoll, events, EVENTS_MAX, ms);
        pthread_mutex_lock(&dog->lock);
    }
    pthread_mutex_unlock(&dog->lock);
    return NULL;
}

static void release(struct watchdog *watchdog) {
    pthread_mutex_destroy(&watchdog->lock);
    close(watchdog->changed);
    close(watchdog->epoll);
    free(watchdog);
}

struct watchdog_limits watchdog_limits_of(const struct config *config, unsigned connections, bool silent) {
    unsigned soft = config->connections_soft;
    return (struct watchdog_limits){
        .soft = soft == 0 || soft > connections ? connections - connections / 4 : soft,
        .rate = config->min_rate,
        .rate_ms = config->min_rate_time_ms,
        .silent = silent,
        .header_ms = config->header_timeout_ms,
    };
}

enum status watchdog_create(struct watchdog **watchdog, const struct watchdog_limits *limits,
                            struct error *err) {
    struct watchdog *dog = calloc(1, sizeof *dog);
    if (!dog) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_mutex_init(&dog->lock, NULL);
    dog->rules.limits = *limits;
    dog->epoll = epoll_create1(EPOLL_CLOEXEC);
    dog->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event changed = {.events = EPOLLIN, .data.fd = dog->changed};
    int error = epoll_ctl(dog->epoll, EPOLL_CTL_ADD, dog->changed, &changed)
                    ? errno
                    : pthread_create(&dog->thread, NULL, watchdog_run, dog);
    if (error) {
        release(dog);
        return fail(err, ST_BUSY, "cannot start the watchdog: %s", strerror(error));
    }
    *watchdog = dog;
    return ST_OK;
}

void watchdog_destroy(struct watchdog *watchdog) {
    if (!watchdog) {
        return;
    }
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stopping = true;
    eventfd_write(watchdog->changed, 1);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    release(watchdog);
}

void watchdog_configure(struct watchdog *watchdog, const struct watchdog_limits *limits) {
    pthread_mutex_lock(&watchdog->lock);
    watchdog->rules.limits = *limits;
    awaken(watchdog, 0);
    pthread_mutex_unlock(&watchdog->lock);
}

void watchdog_drain(struct watchdog *watchdog) {
    pthread_mutex_lock(&watchdog->lock);
    watchdog->rules.draining = true;
    for (struct watch *watch = watchdog->first; watch; watch = watch->next) {
        if (watch->end == WATCH_OPEN) {
            watch_hasten_draining(watch, clock_ns());
        }
    }
    awaken(watchdog, 0);
    pthread_mutex_unlock(&watchdog->lock);
}

bool watchdog_wants_last(struct watchdog *watchdog) {
    pthread_mutex_lock(&watchdog->lock);
    bool wanted = watchdog->excess > 0 || clock_ns() < watchdog->relief;
    watchdog->excess -= watchdog->excess > 0;
    pthread_mutex_unlock(&watchdog->lock);
    return wanted;
}

void watchdog_relieve(struct watchdog *watchdog) {
    pthread_mutex_lock(&watchdog->lock);
    watchdog->unwanted = UINT_MAX;
    watchdog->relief = clock_ns() + RELIEF_MS * MS;
    awaken(watchdog, 0);
    pthread_mutex_unlock(&watchdog->lock);
}

struct watch *watchdog_add(struct watchdog *watchdog, int fd) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    *watch = (struct watch){.watchdog = watchdog,
                            .rules = &watchdog->rules,
                            .fd = fd,
                            .phase = WATCH_WORK,
                            .since = clock_ns(),
                            .deadline = INT64_MAX,
                            .measure_at = INT64_MAX};
    pthread_mutex_lock(&watchdog->lock);
    link_first(watchdog, watch);
    if (++watchdog->rules.open > watchdog->rules.limits.soft) {
        awaken(watchdog, 0);
    }
    pthread_mutex_unlock(&watchdog->lock);
    /* If this fails, a peer that closes is noticed at the deadline. */
    struct epoll_event closing = {.events = EPOLLRDHUP | EPOLLET, .data.fd = fd};
    epoll_ctl(watchdog->epoll, EPOLL_CTL_ADD, fd, &closing);
    return watch;
}

void watchdog_remove(struct watch *watch) {
    if (!watch) {
        return;
    }
    struct watchdog *dog = watch->watchdog;
    epoll_ctl(dog->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    pthread_mutex_lock(&dog->lock);
    unlink_watch(dog, watch);
    dog->rules.open -= watch->end == WATCH_OPEN;
    pthread_mutex_unlock(&dog->lock);
    free(watch);
}

/* Moves an open watch to a new phase and in front of the others. */
static void move(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    struct watchdog *dog = watch->watchdog;
    watch_enter(watch, phase, ms, id);
    unlink_watch(dog, watch);
    link_first(dog, watch);
    awaken(dog, watch_next(watch));
}

void watchdog_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    if (!watch) {
        return;
    }
    pthread_mutex_lock(&watch->watchdog->lock);
    if (watch->end == WATCH_OPEN) {
        move(watch, phase, ms, id);
    }
    pthread_mutex_unlock(&watch->watchdog->lock);
}

enum watch_end watchdog_ended(struct watch *watch) {
    if (!watch) {
        return WATCH_OPEN;
    }
    pthread_mutex_lock(&watch->watchdog->lock);
    enum watch_end end = watch->end;
    pthread_mutex_unlock(&watch->watchdog->lock);
    return end;
}
