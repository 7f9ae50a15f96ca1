/* SPDX-License-Identifier: MIT
 * A run of a crew in which only the helper computes. */
#ifndef BLURD_TESTS_HELPED_FIXTURE_H
#define BLURD_TESTS_HELPED_FIXTURE_H

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/crew.h"
#include "tests/filters/helpers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { HELPED_NS = 20000000 }; /* processor time that the helper takes */

static inline enum status helped_part(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)part;
    (void)err;
    sem_t *computed = context;
    if (seat == 0) {
        sem_wait(computed);
        return ST_OK;
    }
    const int64_t until = clock_thread_ns() + HELPED_NS;
    while (clock_thread_ns() < until) {
    }
    sem_post(computed);
    return ST_OK;
}

/* The caller waits while its helper computes, as if it had the lower priority on one core. All helpers must
 * be idle. */
static inline void run_helped(struct helpers *helpers) {
    sem_t computed;
    sem_init(&computed, 0, 0);
    struct crew_work work = {.part = helped_part, .context = &computed, .parts = 2, .seats = 2};
    assert_int_equal(crew_run(helpers_crew(helpers), &work, NULL), ST_OK);
    sem_destroy(&computed);
}

#endif
