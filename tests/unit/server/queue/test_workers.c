/* SPDX-License-Identifier: MIT
 * Who helps with a large job. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/clock.h"
#include "server/queue/workers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct workers *workers;
static sem_t over;
static bool helped;

static void work(struct job *job, struct worker *worker) {
    helped = worker->crew != NULL;
    workers_done(workers, job);
    sem_post(&over);
}

static void refuse(struct job *job, enum refusal refusal) {
    (void)job;
    (void)refusal;
    abort();
}

/* Whether a job of this cost gets help. */
static bool gets_help(int64_t cost_ns) {
    struct job job = {.general = WAY_CPU, .way = WAY_CPU, .max_wait_ns = INT64_C(3600000000000)};
    job.ways[WAY_CPU] = (struct job_way){cost_ns, 1};
    int64_t wait_ns;
    assert_int_equal(workers_submit(workers, &job, &wait_ns), REFUSAL_NONE);
    sem_wait(&over);
    return helped;
}

static void test_no_help_for_large_ones_beside_small_ones(void **state) {
    (void)state;
    const char *name = "test";
    struct error err;
    struct workers_options options = {
        .limits = {.workers = 1, .memory = 1500, .target_ns = 20000000, .interval_ns = 200000000},
        .metrics = metrics_create(&name, 1),
        .calls = {work, refuse},
    };
    sem_init(&over, 0, 0);
    assert_int_equal(workers_create(&workers, &options, &err), ST_OK);
    assert_true(gets_help(ADMISSION_LARGE_NS * 10));
    int64_t began;
    bool help;
    do { /* again where the machine was too slow */
        began = clock_ns();
        assert_true(gets_help(1000000));
        help = gets_help(ADMISSION_LARGE_NS * 10);
    } while (clock_ns() - began > 900000000);
    assert_false(help);
    workers_finish(workers, false);
    workers_destroy(workers);
    metrics_destroy(options.metrics);
    sem_destroy(&over);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_help_for_large_ones_beside_small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
