/* SPDX-License-Identifier: MIT
 * Which requests a GPU may read, and what the model of costs learns from them. */
#include "server/overload.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "cpu/cpu.h"
#include "server/request.h"
#include "server/service.h"
#include "server/work.h"
#include "tests/unit/server/planner/gpu_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { BODY_MAX = 2 << 20, USUAL = 400000, MEMORY = 256 << 20 };

/* The header of a photograph of 1920x1080, 4:2:0; byte 3 says whether it is progressive. */
static const uint8_t header[] = {0xFF,      0xD8,       0xFF, 0xC2, 0,    17, 8,  1080 >> 8, 1080 & 255,
                                 1920 >> 8, 1920 & 255, 3,    1,    0x22, 0,  2,  0x11,      1,
                                 3,         0x11,       1,    0xFF, 0xDA, 0,  12, 3,         1,
                                 0,         2,          0x11, 3,    0x11, 0,  63, 0};

static struct config config;
static struct settings settings;
static struct service service;
static struct request request;
static struct slot body;
static uint8_t bytes[BODY_MAX];

static int set_up(void **state) {
    char *words[] = {(char[]){"blurd"}, NULL};
    enum config_action action;
    struct error err;
    (void)state;
    gpu_codecs = 28;
    memcpy(bytes, header, sizeof header);
    if (config_load(&config, &action, 1, words, &words[1], &err) != ST_OK) {
        return -1;
    }
    settings.config = config;
    service = (struct service){.config = &config,
                               .slots = slot_pool_create(MEMORY),
                               .backend[0] = &gpu,
                               .backend_count = 2,
                               .gpu_concurrency = 28};
    return cpu_backend_open("baseline", &service.cpu, &err) == ST_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    backend_close(service.cpu);
    slot_pool_destroy(service.slots);
    return 0;
}

static const struct job *estimate(size_t size) {
    body = (struct slot){.memory = bytes, .fd = -1, .kind = SLOT_BODY, .pool = service.slots};
    request = (struct request){.service = &service, .settings = &settings, .slot = &body, .body_size = size};
    request.outcome.way = WAY_CPU;
    parameters_init(&request.parameters, filter_get(FILTER_BLUR));
    overload_estimate(&request);
    return &request.job;
}

static bool offers(const struct job *job, enum way way) {
    return job->ways[way].ns > 0;
}

/* Predicted for a general worker. */
static int64_t cost_ns(void) {
    return request.cost.ways[request.cost.general].ns;
}

/* Bytes that a general worker is counted with. */
static uint64_t general_bytes(const struct job *job) {
    return job->ways[job->general].bytes;
}

static void test_a_progressive_file(void **state) {
    (void)state;
    const struct job *job = estimate(USUAL);
    assert_true(offers(job, WAY_GPU_SCANS) && !offers(job, WAY_GPU_FILE));
    assert_true(job->way == WAY_GPU_COEFFICIENTS && job->general == WAY_GPU_COEFFICIENTS);
    assert_true(job->ways[WAY_GPU_SCANS].ns > job->ways[WAY_GPU_COEFFICIENTS].ns);
    assert_int_equal(job->ways[WAY_GPU_SCANS].ns, request.cost.ways[WAY_GPU_SCANS].table_ns);
}

static void test_files_that_no_gpu_reads(void **state) {
    (void)state;
    const struct job *job = estimate(BODY_MAX / 2 + 1); /* larger than the GPU takes */
    assert_true(!offers(job, WAY_GPU_SCANS) && job->way == WAY_GPU_COEFFICIENTS);
    bytes[3] = 0xC0; /* sequential, of one scan */
    job = estimate(USUAL);
    assert_true(!offers(job, WAY_GPU_SCANS) && job->way == WAY_GPU_FILE);
}

static void test_services_that_read_no_scans(void **state) {
    (void)state;
    settings.config.jpeg_library = CHOICE_jpeg_library_turbo;
    assert_false(offers(estimate(USUAL), WAY_GPU_SCANS));
    settings.config.jpeg_library = CHOICE_jpeg_library_own;
    assert_true(offers(estimate(USUAL), WAY_GPU_SCANS));
    gpu_codecs = 0;
    assert_false(offers(estimate(USUAL), WAY_GPU_SCANS));
}

/* Only times of workers that do not wait for the GPU count, and none of them as that of a whole job on it. */
static void test_learning(void **state) {
    (void)state;
    static const struct cost_model nothing;
    estimate(USUAL);
    request.outcome.way = WAY_GPU_SCANS;
    work_learn(&request, ROLE_ENTROPY_DECODE, 5 * cost_ns());
    request.outcome.way = WAY_CPU; /* the GPU gave the file back */
    work_learn(&request, ROLE_ENTROPY_DECODE, 5 * cost_ns());
    assert_memory_equal(&service.cost, &nothing, sizeof nothing);
    request.outcome.way = WAY_GPU_COEFFICIENTS;
    work_learn(&request, ROLE_ANY, 2 * cost_ns());
    float once = service.cost.ratio[request.cost.ways[WAY_GPU_COEFFICIENTS].kind];
    assert_true(once > 1);
    assert_true(service.cost.device_ratio == 0);
    work_learn(&request, ROLE_LARGE, 9 * cost_ns());
    assert_true(service.cost.ratio[request.cost.ways[WAY_GPU_COEFFICIENTS].kind] > once);
}

/* A core that does what a GPU could do puts the GPU's learnt time in doubt. */
static void test_doubt(void **state) {
    (void)state;
    bytes[3] = 0xC0; /* sequential, of one scan */
    service.cost.device_ratio = 8;
    estimate(USUAL);
    assert_true(offers(&request.job, WAY_GPU_FILE));
    work_learn(&request, ROLE_LARGE, 2 * cost_ns());
    assert_true(service.cost.device_ratio == 8);
    work_learn(&request, ROLE_ANY, 2 * cost_ns());
    float once = service.cost.device_ratio;
    assert_true(once < 8 && once > 7);
    request.job.ways[WAY_GPU_FILE].ns = 0;
    work_learn(&request, ROLE_ANY, 2 * cost_ns());
    assert_true(service.cost.device_ratio == once);
}

static unsigned retry_after(int64_t wait_ns) {
    assert_int_equal(overload_refuse(&request, REFUSAL_WAIT, wait_ns), ST_BUSY);
    return request.retry_after_s;
}

/* Seconds, rounded up, and a minute at most. */
static void test_retry_after(void **state) {
    (void)state;
    estimate(USUAL);
    assert_int_equal(retry_after(0), 1);
    assert_int_equal(retry_after(999999999), 1);
    assert_int_equal(retry_after(1000000000), 2);
    assert_int_equal(retry_after(7500000000), 8);
    assert_int_equal(retry_after(59000000000), 60);
    assert_int_equal(retry_after(3600000000000), 60);
    assert_int_equal(request.refusal, REFUSAL_WAIT);
}

/* A request that ran out of time is refused for good, unless others had a tenth of the time. */
static void test_late(void **state) {
    (void)state;
    const int64_t limit = settings.config.work_timeout_ms * 1000000;
    estimate(USUAL);
    request.outcome.idle_ns = limit / 10 - 1;
    assert_int_equal(work_judge_late(&request, ST_LIMIT), ST_LIMIT);
    request.outcome.idle_ns = limit / 10;
    assert_int_equal(work_judge_late(&request, ST_OK), ST_OK);
    assert_int_equal(work_judge_late(&request, ST_CORRUPT), ST_CORRUPT);
    assert_int_equal(work_judge_late(&request, ST_LIMIT), ST_BUSY);
    assert_int_equal(request.refusal, REFUSAL_DEADLINE);
    assert_int_equal(request.retry_after_s, limit / 10000000000 + 1);
    assert_string_equal(request.error.text, "the picture had a processor for 9000 ms of the time limit of "
                                            "10000 ms; others had it meanwhile");
    request.outcome.idle_ns = 0; /* another limit than that of time */
    assert_int_equal(work_judge_late(&request, ST_LIMIT), ST_LIMIT);
}

/* What admission counts of pictures around what one request may take. */
static void test_memory_counted(void **state) {
    (void)state;
    gpu_codecs = 0;
    bytes[3] = 0xC0; /* sequential, of one scan */
    const struct job *job = estimate(USUAL);
    assert_int_equal(job->body, USUAL);
    assert_int_equal(job->most, room_most(MEMORY));
    uint64_t usual = general_bytes(job);
    assert_true(usual > USUAL && usual < MEMORY / 8);
    bytes[7] = bytes[9] = 10000 >> 8;
    bytes[8] = bytes[10] = 10000 & 255;
    config.max_pixels = settings.config.max_pixels = 200000000;
    assert_int_equal(general_bytes(estimate(USUAL)), 0); /* it is refused at once */
    gpu_codecs = 28;
    assert_in_range(general_bytes(estimate(USUAL)), 1, MEMORY); /* a GPU does it with less */
    memset(bytes, 0, sizeof header);
    assert_int_equal(general_bytes(estimate(BODY_MAX)) <= room_most(MEMORY) - BODY_MAX, true);
}

/* ---- a request that is queued again ---- */

static sem_t over;
static unsigned runs;
static struct job again; /* as the second worker gets it */

static void work(struct job *job, struct worker *worker) {
    if (runs++ == 0) {
        assert_int_equal(overload_check_needs(&request, worker, USUAL), ST_OK); /* no more than predicted */
        assert_int_equal(overload_check_needs(&request, worker, general_bytes(job) * 9 / 8), ST_OK);
        service.workers = worker->pool;
        request.queued_ns -= config.work_timeout_ms * 1000000 / 4; /* it has waited for long */
        request.picture = (struct bytes){bytes, USUAL};
        request.needed = 3 * general_bytes(job);
        assert_int_equal(overload_requeue(&request), ST_OK);
        return;
    }
    again = *job;
    assert_int_equal(overload_check_needs(&request, worker, 2 * general_bytes(job)),
                     ST_OK); /* once is enough */
    workers_done(service.workers, job);
    sem_post(&over);
}

static void refuse(struct job *job, enum refusal refusal) {
    (void)job, (void)refusal;
    abort();
}

static void test_moving(void **state) {
    (void)state;
    const char *name = "test";
    struct error err;
    const struct workers_options options = {
        .limits = {.workers = 1, .memory = MEMORY, .target_ns = 20000000, .interval_ns = 200000000},
        .metrics = metrics_create(&name, 1),
        .calls = {work, refuse},
    };
    gpu_codecs = 0;
    sem_init(&over, 0, 0);
    uint64_t predicted = general_bytes(estimate(USUAL));
    assert_int_equal(workers_create(&service.workers, &options, &err), ST_OK);
    request.queued_ns = clock_ns();
    assert_int_equal(overload_submit(&request), ST_OK);
    sem_wait(&over);
    int64_t most = config.work_timeout_ms * 1000000;
    assert_int_equal(runs, 2);
    assert_true(request.requeued && request.needed == 0);
    assert_int_equal(general_bytes(&again), 3 * predicted);
    assert_true(!offers(&again, WAY_GPU_FILE) && !offers(&again, WAY_GPU_SCANS));
    assert_true(again.max_wait_ns > 0 && again.max_wait_ns <= most - most / 4);
    workers_finish(service.workers, false);
    workers_destroy(service.workers);
    metrics_destroy(options.metrics);
    sem_destroy(&over);
}

/* A form whose filters take long on cores only stays where it is while a GPU does them. */
static void test_a_form_for_the_gpu(void **state) {
    (void)state;
    static const uint8_t png[] = {
        0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13, 'I', 'H', 'D',
        'R',  0,   0,   4,   0,    0,    0,    4,    0, 8, 2, 0,  0,   0}; /* 1024x1024, RGB */
    const char *name = "test";
    struct error err;
    const struct workers_options options = {
        .limits = {.workers = 1, .memory = MEMORY, .target_ns = 20000000, .interval_ns = 200000000},
        .metrics = metrics_create(&name, 1),
        .calls = {work, refuse},
    };
    struct worker worker = {.role = ROLE_ANY};
    assert_int_equal(workers_create(&service.workers, &options, &err), ST_OK);
    for (unsigned served = 0; served < 2; served++) {
        memcpy(bytes, png, sizeof png);
        service.backend_count = 1 + served;
        estimate(USUAL);
        snprintf(request.content_type, sizeof request.content_type, "multipart/form-data; boundary=x");
        request.picture = (struct bytes){bytes, USUAL};
        parameters_init(&request.parameters, NULL);
        assert_int_equal(parameters_parse(&request.parameters, "ops=median:radius=25|median:radius=25", &err),
                         ST_OK);
        enum status status = overload_check_needs(&request, &worker, 1);
        assert_int_equal(status, served ? ST_OK : ST_BUSY);
    }
    workers_finish(service.workers, false);
    workers_destroy(service.workers);
    metrics_destroy(options.metrics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_form_for_the_gpu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_moving, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_progressive_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_that_no_gpu_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_services_that_read_no_scans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_learning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_doubt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_retry_after, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_counted, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
