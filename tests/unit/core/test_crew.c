/* SPDX-License-Identifier: MIT
 * A crew: every part once, seats apart, errors, who goes first, and leaving while parts run. */
#include "core/crew.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/clock.h"
#include "tests/filters/helpers.h"
#include "tests/unit/core/helped_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { PARTS = 200, HELPERS = 5 };

struct tally {
    atomic_uint ran[PARTS];
    atomic_bool seat[CREW_SEATS_MAX];
    atomic_uint most; /* seats in use */
    atomic_uint now;
    unsigned failing; /* part that fails; PARTS: none */
};

static enum status count(void *context, unsigned part, unsigned seat, struct error *err) {
    struct tally *tally = context;
    assert_false(atomic_exchange(&tally->seat[seat], true));
    unsigned now = atomic_fetch_add(&tally->now, 1) + 1;
    unsigned most = atomic_load(&tally->most);
    while (now > most && !atomic_compare_exchange_weak(&tally->most, &most, now)) {
    }
    atomic_fetch_add(&tally->ran[part], 1);
    sched_yield();
    atomic_fetch_sub(&tally->now, 1);
    atomic_store(&tally->seat[seat], false);
    return part == tally->failing ? (fail)(err, ST_BUSY, "part %u has no memory", part) : ST_OK;
}

static unsigned total(const struct tally *tally) {
    unsigned sum = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        unsigned ran = atomic_load(&tally->ran[i]);
        assert_true(ran <= 1);
        sum += ran;
    }
    return sum;
}

static void test_nobody(void **state) {
    (void)state;
    struct tally tally = {.failing = PARTS};
    struct crew_work work = {.part = count, .context = &tally, .parts = PARTS, .seats = 4};
    assert_int_equal(crew_idle(NULL), 0);
    assert_int_equal(crew_seats(NULL, UINT64_MAX), 1);
    assert_int_equal(crew_parts(NULL, UINT64_MAX, 1), 1);
    assert_int_equal(crew_run(NULL, &work, NULL), ST_OK);
    assert_int_equal(total(&tally), PARTS);
    assert_int_equal(tally.most, 1);
    crew_destroy(NULL);
    struct crew *crew = crew_create(1, false);
    struct tally again = {.failing = PARTS};
    work.context = &again;
    assert_int_equal(crew_run(crew, &work, NULL), ST_OK);
    assert_int_equal(total(&again), PARTS);
    work.parts = 0;
    assert_int_equal(crew_run(crew, &work, NULL), ST_OK);
    crew_destroy(crew);
}

static void test_every_part_once(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    for (unsigned seats = 1; seats <= CREW_SEATS_MAX; seats += seats < 8 ? 1 : 7) {
        for (unsigned parts = 0; parts <= PARTS; parts += parts < 12 ? 1 : 47) {
            struct tally tally = {.failing = PARTS};
            struct crew_work work = {.part = count, .context = &tally, .parts = parts, .seats = seats};
            helpers_await(helpers);
            assert_int_equal(crew_run(helpers_crew(helpers), &work, NULL), ST_OK);
            assert_int_equal(total(&tally), parts);
            assert_true(tally.most <= seats && tally.most <= HELPERS + 1);
        }
    }
    assert_true(helpers_stop(helpers) > 0);
}

/* How work is cut, by the number of threads that wait. */
static void test_worth(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(3, 100, false);
    struct crew *crew = helpers_crew(helpers);
    assert_int_equal(crew_idle(crew), 3);
    assert_int_equal(crew_seats(crew, 0), 1);
    assert_int_equal(crew_seats(crew, 199), 1);
    assert_int_equal(crew_seats(crew, 200), 2);
    assert_int_equal(crew_seats(crew, 100000), 4);
    assert_int_equal(crew_parts(crew, 100000, 1), 1);
    assert_int_equal(crew_parts(crew, 99, 4), 1);
    assert_int_equal(crew_parts(crew, 700, 4), 7);
    assert_int_equal(crew_parts(crew, 2000, 4), 4 * CREW_SEAT_PARTS);
    assert_int_equal(crew_parts(crew, 100 * 100 * CREW_GRAINS_MAX, 4), 100);
    assert_int_equal(crew_parts(crew, UINT64_MAX, 4), CREW_PARTS_MAX);
    helpers_stop(helpers);
}

static void test_failure(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    for (unsigned failing = 0; failing < PARTS; failing += 9) {
        struct tally tally = {.failing = failing};
        struct crew_work work = {.part = count, .context = &tally, .parts = PARTS, .seats = 4};
        struct error err = {0};
        helpers_await(helpers);
        assert_int_equal(crew_run(helpers_crew(helpers), &work, &err), ST_BUSY);
        assert_int_equal(err.status, ST_BUSY);
        assert_non_null(strstr(err.text, "has no memory"));
        assert_int_equal(tally.now, 0);
        assert_true(total(&tally) > failing);
    }
    struct tally tally = {.failing = 3};
    struct crew_work work = {.part = count, .context = &tally, .parts = PARTS, .seats = 4};
    assert_int_equal(crew_run(helpers_crew(helpers), &work, NULL), ST_BUSY);
    struct tally alone = {.failing = 3};
    work.context = &alone;
    assert_int_equal(crew_run(NULL, &work, NULL), ST_BUSY);
    assert_int_equal(total(&alone), 4);
    helpers_stop(helpers);
}

struct nest {
    struct crew *crew;
    struct tally inner[8];
};

static enum status run_inner(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)seat;
    struct nest *nest = context;
    struct crew_work work = {.part = count, .context = &nest->inner[part], .parts = PARTS, .seats = 3};
    return crew_run(nest->crew, &work, err);
}

static void test_parts_in_parts(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    struct nest nest = {.crew = helpers_crew(helpers)};
    for (unsigned i = 0; i < 8; i++) {
        nest.inner[i].failing = PARTS;
    }
    struct crew_work work = {.part = run_inner, .context = &nest, .parts = 8, .seats = 4};
    assert_int_equal(crew_run(nest.crew, &work, NULL), ST_OK);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(total(&nest.inner[i]), PARTS);
    }
    helpers_stop(helpers);
}

static void *run_many(void *crew) {
    for (unsigned i = 0; i < 100; i++) {
        struct tally tally = {.failing = i % 10 ? PARTS : i};
        struct crew_work work = {.part = count, .context = &tally, .parts = 20 + i % 7, .seats = 1 + i % 5};
        assert_int_equal(crew_run(crew, &work, NULL), i % 10 || i >= work.parts ? ST_OK : ST_BUSY);
        assert_int_equal(tally.now, 0);
        assert_true(total(&tally) == work.parts || i % 10 == 0);
    }
    return NULL;
}

/* Many callers at a time; in half of the rounds the helpers leave meanwhile. */
static void test_leaving(void **state) {
    (void)state;
    enum { ROUNDS = 6, CALLERS = 3 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct helpers *helpers = helpers_start(HELPERS, 1, false);
        pthread_t caller[CALLERS];
        for (unsigned i = 0; i < CALLERS; i++) {
            assert_int_equal(pthread_create(&caller[i], NULL, run_many, helpers_crew(helpers)), 0);
        }
        if (round % 2) {
            helpers_leave(helpers);
        }
        for (unsigned i = 0; i < CALLERS; i++) {
            pthread_join(caller[i], NULL);
        }
        helpers_stop(helpers);
    }
}

/* Work whose parts become possible bit by bit. */
struct fed {
    struct tally tally;
    bool made[PARTS]; /* written by the feed, read by the parts, without a lock */
    unsigned step;    /* parts that become possible at a time */
    unsigned end;     /* part at which the feed fails; PARTS: never */
    bool helped;      /* helpers do parts meanwhile; else crew_open does them all */
};

static enum status count_made(void *context, unsigned part, unsigned seat, struct error *err) {
    struct fed *fed = context;
    assert_true(fed->made[part]);
    return count(&fed->tally, part, seat, err);
}

static enum status feed(void *context, struct crew_gate *gate, struct error *err) {
    struct fed *fed = context;
    for (unsigned open = 0; open < fed->end;) {
        for (unsigned i = 0; i < fed->step; i++) {
            fed->made[open++] = true;
        }
        crew_open(gate, open);
        crew_open(gate, open);
        while (fed->helped && total(&fed->tally) < open) {
            sched_yield();
        }
        assert_true(fed->helped || total(&fed->tally) <= open);
    }
    return fed->end == PARTS ? ST_OK : (fail)(err, ST_CORRUPT, "that was all");
}

static enum status run_fed(struct crew *crew, struct fed *fed) {
    struct error err = {0};
    struct crew_work work = {
        .part = count_made, .context = fed, .parts = PARTS, .seats = HELPERS, .feed = feed};
    enum status status = crew_run(crew, &work, &err);
    assert_int_equal(err.status, status);
    assert_int_equal(fed->tally.now, 0);
    return status;
}

/* Parts begin when they are open and not before, while the caller goes on; all of them in the end. */
static void test_feeding(void **state) {
    (void)state;
    static const unsigned steps[] = {1, 8, 40, PARTS};
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned end = 0; end <= PARTS; end += 40) {
            struct fed nobody = {.tally.failing = PARTS, .step = steps[i], .end = end, .helped = true};
            assert_int_equal(run_fed(NULL, &nobody), end == PARTS ? ST_OK : ST_CORRUPT);
            assert_true(total(&nobody.tally) >= end);
            struct fed helped = {.tally.failing = PARTS, .step = steps[i], .end = end, .helped = true};
            helpers_await(helpers);
            assert_int_equal(run_fed(helpers_crew(helpers), &helped), end == PARTS ? ST_OK : ST_CORRUPT);
            assert_true(total(&helped.tally) >= end);
        }
    }
    helpers_stop(helpers);
}

/* A part fails while others are fed: parts that have not begun are not run. */
static void test_failure_while_feeding(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(HELPERS, 1, false);
    for (unsigned failing = 0; failing < PARTS; failing += 9) {
        struct fed fed = {.tally.failing = failing, .step = 1, .end = PARTS};
        helpers_await(helpers);
        assert_int_equal(run_fed(helpers_crew(helpers), &fed), ST_BUSY);
        assert_true(total(&fed.tally) > failing);
        struct fed alone = {.tally.failing = failing, .step = 1, .end = PARTS};
        assert_int_equal(run_fed(NULL, &alone), ST_BUSY);
        assert_int_equal(total(&alone.tally), failing + 1);
        struct fed both = {.tally.failing = failing, .step = 1, .end = failing + 1};
        assert_int_equal(run_fed(NULL, &both), ST_BUSY); /* the part was first */
    }
    helpers_stop(helpers);
}

struct race {
    atomic_uint begun; /* of two parts, one on the caller and one on a member */
    atomic_bool ended; /* the member's */
    bool late;         /* the member's takes longer than the caller's, else less */
    int64_t start;
};

static enum status race(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)part, (void)err;
    struct race *race = context;
    atomic_fetch_add(&race->begun, 1);
    while (atomic_load(&race->begun) < 2) {
        sched_yield();
    }
    if (seat == 0) {
        while (!race->late && !atomic_load(&race->ended)) {
            sched_yield();
        }
        return ST_OK;
    }
    int64_t until = clock_ns() + 20000000 + 4 * (clock_ns() - race->start);
    while (race->late && clock_ns() < until) {
        sched_yield();
    }
    atomic_store(&race->ended, true);
    return ST_OK;
}

static void run_race(struct helpers *helpers, bool late) {
    struct race state = {.late = late, .start = clock_ns()};
    struct crew_work work = {.part = race, .context = &state, .parts = 2, .seats = 2};
    helpers_await(helpers);
    assert_int_equal(crew_run(helpers_crew(helpers), &work, NULL), ST_OK);
    helpers_await(helpers);
}

/* How many seats there are in a row that are 1. */
static unsigned rests(struct helpers *helpers) {
    unsigned count = 0;
    while (count <= CREW_PAUSE_MAX && crew_seats(helpers_crew(helpers), 1000) == 1) {
        count++;
    }
    return count;
}

/* A crew whose members are late rests, longer each time; one that is wary alone. */
static void test_wary(void **state) {
    (void)state;
    for (unsigned wary = 0; wary < 2; wary++) {
        struct helpers *helpers = helpers_start(1, 1, wary);
        for (unsigned i = 1; i <= 5; i++) {
            run_race(helpers, true);
            assert_int_equal(rests(helpers), wary ? (1u << i) - 1 : 0);
        }
        run_race(helpers, false); /* half as many the next time */
        assert_int_equal(rests(helpers), 0);
        run_race(helpers, true);
        assert_int_equal(rests(helpers), wary ? 2 * 15 + 1 : 0);
        helpers_stop(helpers);
    }
}

static void test_time_of_helpers(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(1, 1, false);
    helpers_await(helpers);
    const int64_t before = crew_helped_ns(), begun = clock_ns();
    run_helped(helpers);
    assert_in_range(crew_helped_ns() - before, HELPED_NS * 9 / 10, clock_ns() - begun);
    helpers_stop(helpers);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody),         cmocka_unit_test(test_every_part_once),
        cmocka_unit_test(test_worth),          cmocka_unit_test(test_failure),
        cmocka_unit_test(test_parts_in_parts), cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_feeding),        cmocka_unit_test(test_failure_while_feeding),
        cmocka_unit_test(test_wary),           cmocka_unit_test(test_time_of_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
