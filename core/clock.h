/* SPDX-License-Identifier: MIT
 * Time for deadlines and measurements: CLOCK_MONOTONIC, which no clock step moves. */
#ifndef BLURD_CORE_CLOCK_H
#define BLURD_CORE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { CLOCK_NS_PER_S = 1000000000 };

/* Nanoseconds since some fixed moment; never goes back. */
static inline int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

/* Processor time of the calling thread, in nanoseconds. */
static inline int64_t clock_thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

static inline double clock_ns_to_ms(int64_t ns) {
    return (double)ns / 1e6;
}

/* Microseconds, rounded half up; `ns` is not negative. */
static inline int64_t clock_ns_to_us(int64_t ns) {
    return (ns + 500) / 1000;
}

/* A condition variable for clock_wait. The caller owns it and destroys it with pthread_cond_destroy. */
static inline void clock_init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits for a signal, until `until_ns` of clock_ns at most; INT64_MAX: for ever. As pthread_cond_wait it may
 * return without either. The caller holds the lock. */
static inline void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns) {
    if (until_ns == INT64_MAX) {
        pthread_cond_wait(condition, lock);
        return;
    }
    const struct timespec until = {.tv_sec = until_ns / CLOCK_NS_PER_S, .tv_nsec = until_ns % CLOCK_NS_PER_S};
    pthread_cond_timedwait(condition, lock, &until);
}

#endif
