/* SPDX-License-Identifier: MIT
 * Workers that pass files to the device to be read: many of them wait at the same time, and few compute. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/clock.h"
#include "filters/backend.h"
#include "server/queue/workers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WORKERS = 2, DECODERS = 12, JOBS = DECODERS, MEMORY = 1000, PAUSE_NS = 20000000 };

static struct workers *workers;
static struct metrics *metrics;
static sem_t begun, gate, over;
static _Atomic unsigned decoders, general, computing, computing_most, late, refused, misnamed;
static _Atomic bool down;
static bool by_cores; /* no device can do the jobs that submit makes */
static int64_t deadline_ns;
static uint64_t read_bytes;                /* of each job that submit makes */
static pthread_t used[DECODERS + WORKERS]; /* threads that worked */
static unsigned used_count;
static pthread_mutex_t used_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned transcodes(struct backend *backend) {
    (void)backend;
    return down ? 0 : 1;
}

static enum status make_lane(struct backend *backend, struct lane **lane, struct error *err) {
    (void)err;
    *lane = calloc(1, sizeof **lane);
    (*lane)->backend = backend;
    return ST_OK;
}

static void free_lane(struct lane *lane) {
    free(lane);
}

static const struct backend_ops ops = {
    .lane_create = make_lane, .lane_destroy = free_lane, .transcodes = transcodes};
static struct backend device = {&ops, "device"};

static void pause_for(long ns) {
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void count_most(unsigned now) {
    unsigned most = computing_most;
    while (most < now && !atomic_compare_exchange_weak(&computing_most, &most, now)) {
    }
}

/* Computes for a while, as a worker does whose file the device gives back. */
static void compute(struct worker *worker) {
    struct error err;
    enum status status = workers_core_take(worker, deadline_ns, &err);
    if (status == ST_OK) {
        count_most(++computing);
        pause_for(PAUSE_NS);
        computing--;
    }
    late += status == ST_LIMIT;
    workers_core_give(worker);
    workers_core_give(worker); /* does nothing */
}

static void note_thread(void) {
    unsigned i = 0;
    pthread_mutex_lock(&used_lock);
    while (i < used_count && !pthread_equal(used[i], pthread_self())) {
        i++;
    }
    used[i] = pthread_self();
    used_count += i == used_count;
    pthread_mutex_unlock(&used_lock);
}

/* Waits for the gate, as for the device. */
static void work(struct job *job, struct worker *worker) {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    note_thread();
    (worker->role == ROLE_ENTROPY_DECODE ? decoders++ : general++);
    misnamed += worker->role == ROLE_ENTROPY_DECODE && strcmp(name, "blurd-entropy") != 0;
    sem_post(&begun);
    sem_wait(&gate);
    if (worker->role == ROLE_ENTROPY_DECODE) {
        compute(worker);
    }
    workers_done(workers, job);
    sem_post(&over);
}

static void refuse(struct job *job, enum refusal refusal) {
    (void)job;
    refused += refusal == REFUSAL_DRAINING;
}

static void wait_for(sem_t *semaphore, unsigned count) {
    while (count-- > 0) {
        sem_wait(semaphore);
    }
}

static void open_gate(unsigned count) {
    while (count-- > 0) {
        sem_post(&gate);
    }
}

static void submit(struct job *jobs, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        int64_t wait_ns;
        enum way way = by_cores ? WAY_CPU : WAY_GPU_COEFFICIENTS;
        jobs[i] = (struct job){.general = way, .way = way, .max_wait_ns = INT64_C(3600000000000)};
        jobs[i].ways[way] = (struct job_way){10000000, by_cores ? MEMORY : 1};
        jobs[i].ways[WAY_GPU_SCANS] = (struct job_way){by_cores ? 0 : 40000000, read_bytes};
        assert_int_equal(workers_submit(workers, &jobs[i], &wait_ns), REFUSAL_NONE);
    }
}

static int set_up_with(bool shared) {
    static struct backend *const backends[] = {&device};
    const char *name = "test";
    struct error err;
    metrics = metrics_create(&name, 1);
    decoders = general = computing_most = late = refused = misnamed = 0;
    down = by_cores = false;
    deadline_ns = 0;
    read_bytes = 0;
    used_count = 0;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    sem_init(&over, 0, 0);
    const struct workers_options options = {
        .limits = {.workers = WORKERS,
                   .shared = shared,
                   .devices = 1,
                   .entropy_decodes = DECODERS,
                   .memory = 2 * MEMORY, /* two thirds are for jobs */
                   .target_ns = 20000000,
                   .interval_ns = 200000000},
        .backends = backends,
        .backend_count = 1,
        .metrics = metrics,
        .calls = {work, refuse},
    };
    return workers_create(&workers, &options, &err) == ST_OK ? 0 : -1;
}

static int set_up(void **state) {
    (void)state;
    return set_up_with(true);
}

/* All files are the decoders'. */
static int set_up_decoders(void **state) {
    (void)state;
    return set_up_with(false);
}

static int tear_down(void **state) {
    (void)state;
    workers_finish(workers, false);
    workers_destroy(workers);
    metrics_destroy(metrics);
    sem_destroy(&begun);
    sem_destroy(&gate);
    sem_destroy(&over);
    return 0;
}

/* One general worker reads, and as many decoders wait at the same time as there are other jobs. */
static void test_many_at_a_time(void **state) {
    struct job jobs[JOBS];
    (void)state;
    submit(jobs, JOBS);
    wait_for(&begun, JOBS);
    assert_int_equal(general, 1);
    assert_int_equal(decoders, JOBS - 1);
    assert_int_equal(misnamed, 0);
    open_gate(JOBS);
    wait_for(&over, JOBS);
}

/* Readers compute on no more cores than general workers do. */
static void test_few_compute(void **state) {
    struct job jobs[JOBS];
    (void)state;
    submit(jobs, JOBS);
    wait_for(&begun, JOBS);
    open_gate(JOBS);
    wait_for(&over, JOBS);
    assert_int_equal(computing_most, WORKERS);
    assert_int_equal(computing, 0);
    assert_int_equal(late, 0);
}

/* A request does not wait for a core beyond its deadline. Other workers do not wait at all. */
static void test_the_wait_for_a_core_ends(void **state) {
    struct job jobs[JOBS];
    struct worker busy[WORKERS], other = {.role = ROLE_ANY, .pool = workers};
    struct error err;
    (void)state;
    for (unsigned i = 0; i < WORKERS; i++) {
        busy[i] = (struct worker){.role = ROLE_ENTROPY_DECODE, .pool = workers};
        assert_int_equal(workers_core_take(&busy[i], 0, &err), ST_OK);
    }
    assert_int_equal(workers_core_take(&other, 0, &err), ST_OK);
    workers_core_give(&other);
    submit(jobs, JOBS);
    wait_for(&begun, JOBS);
    deadline_ns = clock_ns() + PAUSE_NS;
    open_gate(JOBS);
    wait_for(&over, JOBS);
    assert_true(clock_ns() >= deadline_ns);
    assert_int_equal(late, JOBS - 1);
    assert_int_equal(computing_most, 0);
    workers_core_give(&busy[0]);
    assert_int_equal(workers_core_take(&busy[0], clock_ns() + INT64_C(60000000000), &err), ST_OK);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers_core_give(&busy[i]);
    }
}

/* General workers take what waits for decoders when the device goes down. */
static void test_a_device_that_is_down(void **state) {
    struct job jobs[DECODERS + 3];
    (void)state;
    submit(jobs, DECODERS + 3);
    wait_for(&begun, DECODERS + 1); /* all decoders and one general worker are at the gate, two jobs wait */
    assert_int_equal(decoders, DECODERS);
    down = true;
    wait_for(&begun, 1); /* the other general worker notices by itself */
    assert_int_equal(general, 2);
    open_gate(DECODERS + 3);
    wait_for(&over, DECODERS + 3);
}

/* Jobs that wait for a decoder are done before the pool ends. */
static void test_draining(void **state) {
    struct job jobs[3 * DECODERS];
    (void)state;
    submit(jobs, 3 * DECODERS);
    open_gate(3 * DECODERS);
    workers_finish(workers, false);
    assert_int_equal(decoders + general, 3 * DECODERS);
}

/* The same when there is memory for few of them at a time, so that decoders sleep while jobs wait. */
static void test_draining_with_little_memory(void **state) {
    struct job jobs[3 * DECODERS];
    (void)state;
    read_bytes = MEMORY / 2;
    submit(jobs, 3 * DECODERS);
    wait_for(&begun, 2);
    assert_int_equal(decoders, 2);
    open_gate(3 * DECODERS);
    workers_finish(workers, false);
    assert_int_equal(decoders + general, 3 * DECODERS);
}

/* The same for general workers: the second one sleeps while the first one has all memory. */
static void test_draining_small_jobs_with_little_memory(void **state) {
    struct job jobs[2 * WORKERS];
    (void)state;
    by_cores = true;
    submit(jobs, 2 * WORKERS);
    wait_for(&begun, 1);
    open_gate(2 * WORKERS);
    workers_finish(workers, false);
    assert_int_equal(general, 2 * WORKERS);
}

/* Jobs that come one after the other use the same few threads, so that the other threads take no memory. */
static void test_few_threads(void **state) {
    (void)state;
    open_gate(5 * DECODERS);
    for (unsigned i = 0; i < 5 * DECODERS; i++) {
        struct job job;
        submit(&job, 1);
        wait_for(&over, 1);
    }
    assert_int_equal(decoders, 5 * DECODERS);
    assert_true(used_count <= DECODERS / 2);
}

static void *cancel(void *unused) {
    workers_finish(workers, true);
    return unused;
}

static void test_cancelling(void **state) {
    struct job jobs[2 * DECODERS];
    pthread_t thread;
    (void)state;
    submit(jobs, 2 * DECODERS);
    wait_for(&begun, DECODERS + 1);
    assert_int_equal(pthread_create(&thread, NULL, cancel, NULL), 0);
    while (refused < 2 * DECODERS - DECODERS - 1) { /* by the general worker that is free */
        pause_for(1000000);
    }
    open_gate(2 * DECODERS);
    pthread_join(thread, NULL);
    assert_int_equal(decoders + general + refused, 2 * DECODERS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_few_compute, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_wait_for_a_core_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_device_that_is_down, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_draining, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_draining_with_little_memory, set_up_decoders, tear_down),
        cmocka_unit_test_setup_teardown(test_draining_small_jobs_with_little_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_few_threads, set_up_decoders, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelling, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
