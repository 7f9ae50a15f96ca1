/* SPDX-License-Identifier: MIT */
#include "server/http/watchdog.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "config/config.h"
#include "core/clock.h"
#include "core/tuned.h"
#include "server/http/peer.h"

enum {
    EVENTS_MAX = 64,
    FRESH_CROWDED_MS =
        100, /* for the first byte when there are too many connections; it mostly comes with the handshake */
    IDLE_CROWDED_MS = 100, /* a connection idle for less may have its next request under way */
    RELIEF_MS = 1000,
    CROWDED_LOOK_MS = 50,
    APART = 128, /* bytes; a pair of cache lines, which processors fetch together */
};

/* Watches of one event thread, or of a few. Each request takes the lock six times. With one lock for all
 * watches, 33 event threads waited for it three quarters of their time (docs/adr/0049). */
struct watch_group {
    _Alignas(APART) pthread_mutex_t lock; /* guards its watches */
    struct watch *first, *last;           /* ordered by the start of their phase, the latest first */
};

struct watchdog {
    pthread_t thread;
    int epoll;   /* tells when a peer closes its side */
    int changed; /* eventfd: the deadlines changed */
    /* These are read under the lock of any group and written under the locks of all, but for rules.open. */
    struct watch_rules rules;
    bool stopping;
    unsigned unwanted; /* idle connections to close in the next round, also below the soft limit */

    _Atomic int64_t wake;    /* when the thread wakes next */
    _Atomic int64_t relief;  /* clock_ns; every answer before it should be its connection's last */
    _Atomic unsigned excess; /* answers that should be the last ones of their connections */
    struct watch_group group[TUNED_WATCH_GROUPS];
};

static void lock_all(struct watchdog *dog) {
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        pthread_mutex_lock(&dog->group[i].lock);
    }
}

static void unlock_all(struct watchdog *dog) {
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        pthread_mutex_unlock(&dog->group[i].lock);
    }
}

/* Makes the thread wake at `when` or earlier. Called under the lock of a group, which the thread also holds
 * while it sets its next time. */
static void awaken(struct watchdog *dog, int64_t when) {
    int64_t wake = atomic_load(&dog->wake);
    while (when < wake) {
        if (atomic_compare_exchange_weak(&dog->wake, &wake, when)) {
            eventfd_write(dog->changed, 1);
            return;
        }
    }
}

/* Called under the group's lock, as is the next function. */
static void unlink_watch(struct watch *watch) {
    struct watch_group *group = watch->group;
    *(watch->previous ? &watch->previous->next : &group->first) = watch->next;
    *(watch->next ? &watch->next->previous : &group->last) = watch->previous;
}

static void link_first(struct watch *watch) {
    struct watch_group *group = watch->group;
    watch->previous = NULL;
    watch->next = group->first;
    *(group->first ? &group->first->previous : &group->last) = watch;
    group->first = watch;
}

/* The functions from here to watchdog_run are called under the locks of all groups. */

/* Walks all watches: returns the first one for NULL, and otherwise the one after `watch`. NULL at the end. */
static struct watch *next_of(struct watchdog *dog, const struct watch *watch) {
    struct watch *next = watch ? watch->next : dog->group->first;
    for (struct watch_group *group = watch ? watch->group : dog->group;
         !next && ++group < dog->group + TUNED_WATCH_GROUPS;) {
        next = group->first;
    }
    return next;
}

/* The descriptor may belong to another connection by now, so its state is read again. */
static void note_closed(struct watchdog *dog, int fd) {
    bool dead;
    for (struct watch *watch = next_of(dog, NULL); watch; watch = next_of(dog, watch)) {
        if (watch->fd == fd && watch->end == WATCH_OPEN && peer_closed(fd, &dead)) {
            watch->closed = true;
            watch->dead = dead;
            watch_hasten_closed(watch, clock_ns());
        }
    }
}

/* Returns the entry of `of_group` whose watch began its phase first. NULL when no entry has a watch. */
static struct watch **oldest(struct watch *of_group[TUNED_WATCH_GROUPS]) {
    struct watch **found = NULL;
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        if (of_group[i] && (!found || of_group[i]->since < (*found)->since)) {
            found = &of_group[i];
        }
    }
    return found;
}

/* Closes up to `count` connections of that phase, the oldest first; returns how many. */
static unsigned shed_phase(struct watchdog *dog, enum watch_phase phase, int64_t before, unsigned count) {
    struct watch *of_group[TUNED_WATCH_GROUPS];
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        of_group[i] = dog->group[i].last;
    }
    unsigned shed = 0;
    struct watch **next;
    for (; shed < count && (next = oldest(of_group)) && (*next)->since <= before; *next = (*next)->previous) {
        struct watch *watch = *next;
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
    unsigned open = atomic_load(&dog->rules.open), soft = dog->rules.limits.soft;
    unsigned unwanted = dog->unwanted < open ? dog->unwanted : open;
    unsigned over = open > soft ? open - soft : 0;
    over = over > unwanted ? over : unwanted;
    dog->unwanted = 0;
    if (over > 0) {
        over -= shed_phase(dog, WATCH_IDLE, unwanted > 0 ? now : now - IDLE_CROWDED_MS * MS, over);
    }
    if (over > 0) {
        over -= shed_phase(dog, WATCH_HEADERS, now - FRESH_CROWDED_MS * MS, over);
    }
    atomic_store(&dog->excess, over);
    if (over > 0) {
        atomic_store(&dog->wake, now + CROWDED_LOOK_MS * MS);
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
    atomic_store(&dog->wake, INT64_MAX);
    shed(dog, now);
    int64_t wake = atomic_load(&dog->wake);
    for (struct watch *watch = next_of(dog, NULL); watch; watch = next_of(dog, watch)) {
        watch_check(watch, now);
        wake = watch_next(watch) < wake ? watch_next(watch) : wake;
    }
    atomic_store(&dog->wake, wake);
    int64_t left = (wake - now + 999999) / MS;
    return wake == INT64_MAX ? -1 : left > INT_MAX ? INT_MAX : left < 0 ? 0 : (int)left;
}

static void *watchdog_run(void *argument) {
    struct watchdog *dog = argument;
    struct epoll_event events[EVENTS_MAX];
    int count = 0;
    lock_all(dog);
    while (!dog->stopping) {
        int ms = look_round(dog, events, count);
        unlock_all(dog);
        count = epoll_wait(dog->epoll, events, EVENTS_MAX, ms);
        lock_all(dog);
    }
    unlock_all(dog);
    return NULL;
}

static void release(struct watchdog *watchdog) {
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        pthread_mutex_destroy(&watchdog->group[i].lock);
    }
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
    struct watchdog *dog = aligned_alloc(APART, sizeof *dog);
    if (!dog) {
        return fail(err, ST_BUSY, "out of memory");
    }
    memset(dog, 0, sizeof *dog);
    for (unsigned i = 0; i < TUNED_WATCH_GROUPS; i++) {
        pthread_mutex_init(&dog->group[i].lock, NULL);
    }
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
    lock_all(watchdog);
    watchdog->stopping = true;
    eventfd_write(watchdog->changed, 1);
    unlock_all(watchdog);
    pthread_join(watchdog->thread, NULL);
    release(watchdog);
}

void watchdog_configure(struct watchdog *watchdog, const struct watchdog_limits *limits) {
    lock_all(watchdog);
    watchdog->rules.limits = *limits;
    awaken(watchdog, 0);
    unlock_all(watchdog);
}

void watchdog_drain(struct watchdog *watchdog) {
    lock_all(watchdog);
    watchdog->rules.draining = true;
    for (struct watch *watch = next_of(watchdog, NULL); watch; watch = next_of(watchdog, watch)) {
        if (watch->end == WATCH_OPEN) {
            watch_hasten_draining(watch, clock_ns());
        }
    }
    awaken(watchdog, 0);
    unlock_all(watchdog);
}

bool watchdog_wants_last(struct watchdog *watchdog) {
    unsigned excess = atomic_load(&watchdog->excess);
    while (excess > 0 && !atomic_compare_exchange_weak(&watchdog->excess, &excess, excess - 1)) {
    }
    return excess > 0 || clock_ns() < atomic_load(&watchdog->relief);
}

void watchdog_relieve(struct watchdog *watchdog) {
    lock_all(watchdog);
    watchdog->unwanted = UINT_MAX;
    atomic_store(&watchdog->relief, clock_ns() + RELIEF_MS * MS);
    awaken(watchdog, 0);
    unlock_all(watchdog);
}

struct watch *watchdog_add(struct watchdog *watchdog, unsigned thread, int fd) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    struct watch_group *group = &watchdog->group[thread % TUNED_WATCH_GROUPS];
    *watch = (struct watch){.watchdog = watchdog,
                            .group = group,
                            .rules = &watchdog->rules,
                            .fd = fd,
                            .phase = WATCH_WORK,
                            .since = clock_ns(),
                            .deadline = INT64_MAX,
                            .measure_at = INT64_MAX};
    pthread_mutex_lock(&group->lock);
    link_first(watch);
    if (atomic_fetch_add(&watchdog->rules.open, 1) >= watchdog->rules.limits.soft) {
        awaken(watchdog, 0);
    }
    pthread_mutex_unlock(&group->lock);
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
    struct watch_group *group = watch->group;
    epoll_ctl(dog->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    pthread_mutex_lock(&group->lock);
    unlink_watch(watch);
    atomic_fetch_sub(&dog->rules.open, watch->end == WATCH_OPEN);
    pthread_mutex_unlock(&group->lock);
    free(watch);
}

/* Moves an open watch to a new phase and in front of the others. */
static void move(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    watch_enter(watch, phase, ms, id);
    unlink_watch(watch);
    link_first(watch);
    awaken(watch->watchdog, watch_next(watch));
}

void watchdog_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    if (!watch) {
        return;
    }
    pthread_mutex_lock(&watch->group->lock);
    if (watch->end == WATCH_OPEN) {
        move(watch, phase, ms, id);
    }
    pthread_mutex_unlock(&watch->group->lock);
}

enum watch_end watchdog_ended(struct watch *watch) {
    if (!watch) {
        return WATCH_OPEN;
    }
    pthread_mutex_lock(&watch->group->lock);
    enum watch_end end = watch->end;
    pthread_mutex_unlock(&watch->group->lock);
    return end;
}
