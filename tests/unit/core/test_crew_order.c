/* SPDX-License-Identifier: MIT
 * Runs of a crew whose feed decides how many parts there are, and runs within feeds. */
#include "core/crew.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/filters/helpers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { PARTS = 100, HELPERS = 5 };

struct fed {
    bool made[PARTS]; /* written by the feed, read by the parts, without a lock */
    atomic_uint ran[PARTS];
    atomic_uint now;
    unsigned opened; /* parts that the feed opens */
    bool fails;      /* the feed does, when they are open */
};

static enum status take(void *context, unsigned part, unsigned seat, struct error *err) {
    struct fed *fed = context;
    (void)seat, (void)err;
    assert_true(fed->made[part]);
    atomic_fetch_add(&fed->now, 1);
    atomic_fetch_add(&fed->ran[part], 1);
    sched_yield();
    atomic_fetch_sub(&fed->now, 1);
    return ST_OK;
}

static enum status feed_some(void *context, struct crew_gate *gate, struct error *err) {
    struct fed *fed = context;
    for (unsigned open = 0; open < fed->opened; open++) {
        fed->made[open] = true;
        crew_open(gate, open + 1);
    }
    return fed->fails ? (fail)(err, ST_CORRUPT, "that was all") : ST_OK;
}

/* A run has as many parts as its feed opened. When the feed fails, some of them may not run. */
static void test_parts_that_are_opened(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    for (unsigned i = 0; i <= 4 * PARTS; i++) {
        struct fed fed = {.fails = i % 2, .opened = i / 4};
        struct crew *crew = i % 4 < 2 ? helpers_crew(helpers) : NULL;
        struct crew_work work = {
            .part = take, .context = &fed, .parts = CREW_PARTS_OPENED, .seats = 1 + i % 7, .feed = feed_some};
        assert_int_equal(crew_run(crew, &work, NULL), fed.fails ? ST_CORRUPT : ST_OK);
        assert_int_equal(fed.now, 0);
        for (unsigned part = 0; part < PARTS; part++) {
            assert_in_range(fed.ran[part], !fed.fails && part < fed.opened, part < fed.opened);
        }
    }
    helpers_stop(helpers);
}

/* Two runs, one in the feed of the other. */
struct queue {
    struct crew *crew;
    atomic_bool busy, free;   /* the member is in the first part of the outer run, and may leave it */
    atomic_uint turn;         /* parts that have ended */
    unsigned inner, outer[2]; /* turns of the inner part and of those of the outer run */
    bool ahead;
};

static enum status outer_part(void *context, unsigned part, unsigned seat, struct error *err) {
    struct queue *queue = context;
    (void)seat, (void)err;
    atomic_store(&queue->busy, true);
    while (!atomic_load(&queue->free)) {
        sched_yield();
    }
    queue->outer[part] = atomic_fetch_add(&queue->turn, 1);
    return ST_OK;
}

static enum status inner_part(void *context, unsigned part, unsigned seat, struct error *err) {
    struct queue *queue = context;
    (void)part, (void)seat, (void)err;
    queue->inner = atomic_fetch_add(&queue->turn, 1);
    return ST_OK;
}

static enum status feed_inner(void *context, struct crew_gate *gate, struct error *err) {
    struct queue *queue = context;
    (void)err;
    crew_open(gate, 1);
    atomic_store(&queue->free, true);
    while (atomic_load(&queue->turn) < 3) {
        sched_yield();
    }
    return ST_OK;
}

/* Counts as idle, so that the inner run has parts for others, but does not help. */
static void *sleep_through(void *context) {
    struct queue *queue = context;
    crew_lock(queue->crew);
    while (atomic_load(&queue->turn) < 3) {
        crew_wait(queue->crew, INT64_MAX);
    }
    crew_unlock(queue->crew);
    return NULL;
}

static enum status feed_outer(void *context, struct crew_gate *gate, struct error *err) {
    struct queue *queue = context;
    struct crew_work work = {.part = inner_part,
                             .context = queue,
                             .parts = CREW_PARTS_OPENED,
                             .seats = 2,
                             .feed = feed_inner,
                             .ahead = queue->ahead};
    pthread_t sleeper;
    crew_open(gate, 2);
    while (!atomic_load(&queue->busy)) {
        sched_yield();
    }
    assert_int_equal(pthread_create(&sleeper, NULL, sleep_through, queue), 0);
    while (crew_idle(queue->crew) == 0) {
        sched_yield();
    }
    enum status status = crew_run(queue->crew, &work, err);
    crew_lock(queue->crew);
    crew_wake_all(queue->crew);
    crew_unlock(queue->crew);
    pthread_join(sleeper, NULL);
    return status;
}

/* The member takes parts of the oldest run, unless a newer one is ahead of it. */
static void test_who_is_first(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(1, 1, false);
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        struct queue queue = {.crew = helpers_crew(helpers), .ahead = ahead};
        struct crew_work work = {
            .part = outer_part, .context = &queue, .parts = 2, .seats = 2, .feed = feed_outer};
        helpers_await(helpers);
        assert_int_equal(crew_run(queue.crew, &work, NULL), ST_OK);
        assert_int_equal(queue.turn, 3);
        assert_int_equal(queue.outer[0], 0);
        assert_int_equal(queue.inner < queue.outer[1], ahead);
    }
    helpers_stop(helpers);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_that_are_opened),
        cmocka_unit_test(test_who_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
