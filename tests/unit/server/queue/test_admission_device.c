/* SPDX-License-Identifier: MIT
 * The queue of those jobs that a device can do, beside the others of server/queue/admission.h. */
#include "core/tuned.h"
#include "tests/unit/server/queue/admission_fixture.h"

enum { STEPS = 20000 };

static void test_to_each_its_own(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    enter(&desk, 10, 2, 1);
    enter(&desk, 10, 0, 1);
    enter(&desk, 10, 2, 1);
    assert_int_equal(desk.job[0].kind, JOB_DEVICE);
    assert_int_equal(desk.job[1].kind, JOB_SMALL);
    assert_int_equal(admission_waiting(&desk.admission), 3);
    assert_int_equal(take(&desk, ROLE_LARGE), -1);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1); /* the device is free for the others */
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_DEVICE), 2);
    assert_int_equal(take(&desk, ROLE_DEVICE), -1);
    for (int i = 0; i < 3; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

/* Enters a job that suits the device and that an idle core would do sooner. */
static enum refusal enter_either(struct desk *desk, int64_t cost_ns, int64_t device_ns) {
    struct job *job = &desk->job[desk->used++];
    *job = make_job(cost_ns, WAY_GPU_FILE, device_ns, 1);
    return admission_enter(&desk->admission, job, desk->now);
}

static void test_cores_are_spared(void **state) {
    (void)state;
    struct desk desk = make_desk(28, true);
    desk.admission.limits.workers = 16;
    enter_either(&desk, MS, 4 * MS / 3);
    assert_int_equal(desk.job[0].kind, JOB_SMALL); /* all cores are idle */
    enter_either(&desk, MS, 4 * MS / 3);
    assert_int_equal(desk.job[1].kind, JOB_DEVICE); /* beside one that waits */
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    enter_either(&desk, MS, 4 * MS / 3);
    assert_int_equal(desk.job[2].kind, JOB_DEVICE); /* beside one that runs */
    enter_either(&desk, TUNED_GPU_HANDING_NS, MS / 10);
    assert_int_equal(desk.job[3].kind, JOB_SMALL); /* it would take a core for as long */
    enter_either(&desk, MS, 2 * MS);
    assert_int_equal(desk.job[4].kind,
                     JOB_SMALL); /* 16 workers are faster than the GPU with 28 JPEGs in progress */
    enter(&desk, 1, 0, 1);
    assert_int_equal(desk.job[5].kind, JOB_SMALL); /* the device cannot do it */
    desk.admission.device_down = true;
    enter_either(&desk, MS, 4 * MS / 3);
    assert_int_equal(desk.job[6].kind, JOB_SMALL);
    desk.admission.device_down = false;
    desk.admission.limits.devices = 0;
    enter_either(&desk, MS, 4 * MS / 3);
    assert_int_equal(desk.job[7].kind, JOB_SMALL);
}

/* The device has work for longer than ADMISSION_SPARING_NS, and cores do not. */
static void test_a_long_queue_of_the_device(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    enter(&desk, 1, 0, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    for (unsigned i = 0; i < 4; i++) {
        enter(&desk, 500, 50, 1);
    }
    enter_either(&desk, 10 * MS, MS);
    assert_int_equal(desk.job[5].kind, JOB_DEVICE); /* after 100 ms */
    enter_either(&desk, 10 * MS, MS);
    assert_int_equal(desk.job[6].kind, JOB_SMALL); /* after 100.5 ms */
    enter(&desk, 90, 0, 1);
    enter_either(&desk, 10 * MS, MS);
    assert_int_equal(desk.job[8].kind, JOB_DEVICE); /* the cores have a queue, too */
}

/* From then on it counts among the small ones. */
static void test_taken_without_a_device(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    enter(&desk, 50, 60, 100);
    enter(&desk, 50, 60, 200);
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    const struct job_queue *queue = desk.admission.queue;
    assert_int_equal(desk.job[1].kind, JOB_SMALL);
    assert_int_equal(queue[JOB_SMALL].running, 1);
    assert_int_equal(queue[JOB_SMALL].running_ns, 50 * MS);
    assert_int_equal(queue[JOB_DEVICE].running, 1);
    assert_int_equal(queue[JOB_DEVICE].running_ns, 60 * MS);
    assert_int_equal(queue[JOB_DEVICE].waiting_ns, 0);
    assert_int_equal(desk.admission.room.bytes, 300);
    done(&desk, 1);
    assert_int_equal(desk.admission.room.bytes, 100);
    done(&desk, 0);
    assert_idle(&desk);
}

/* Or among the large ones, of which half of the workers stay free. */
static void test_large_ones_without_a_device(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(enter(&desk, 500, 600, 1), REFUSAL_NONE);
        assert_int_equal(desk.job[i].kind, JOB_DEVICE);
    }
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    assert_int_equal(desk.job[3].kind, JOB_LARGE);
    assert_int_equal(desk.admission.queue[JOB_LARGE].running_ns, 500 * MS);
    assert_int_equal(desk.admission.large_on_general, 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    enter(&desk, 10, 0, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 4);
    done(&desk, 3);
    assert_int_equal(desk.admission.large_on_general, 0);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    done(&desk, 0);
    done(&desk, 2);
    done(&desk, 4);
    assert_int_equal(take(&desk, ROLE_DEVICE), 1);
    done(&desk, 1);
    assert_idle(&desk);
}

static void test_small_before_those(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    enter(&desk, 10, 20, 1);
    enter(&desk, 10, 20, 1);
    enter(&desk, 2000, 0, 1);
    enter(&desk, 10, 0, 1);
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_LARGE), 2);
    for (int i = 0; i < 4; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

static void test_waits(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    const struct admission *admission = &desk.admission;
    assert_int_equal(admission_wait(admission, JOB_DEVICE, desk.now), 0);
    for (unsigned i = 0; i < 4; i++) {
        enter(&desk, 50, 6, 1);
    }
    assert_int_equal(admission_wait(admission, JOB_DEVICE, desk.now), 12 * MS);
    assert_int_equal(admission_wait(admission, JOB_SMALL, desk.now), 0);
    take(&desk, ROLE_DEVICE);
    take(&desk, ROLE_DEVICE);
    assert_int_equal(admission_wait(admission, JOB_DEVICE, desk.now), 9 * MS);
    desk.now += 70 * MS;
    assert_int_equal(admission_wait(admission, JOB_DEVICE, desk.now), 70 * MS);
    struct job hasty = make_job(MS, WAY_GPU_FILE, MS, 0);
    hasty.way = WAY_GPU_FILE;
    hasty.max_wait_ns = 69 * MS;
    assert_int_equal(admission_enter(&desk.admission, &hasty, desk.now), REFUSAL_WAIT);
    hasty.way = WAY_CPU; /* nothing waits there */
    assert_int_equal(admission_enter(&desk.admission, &hasty, desk.now), REFUSAL_NONE);
}

/* The length of the queue is that of all of them. */
static void test_full(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    for (unsigned i = 0; i < desk.admission.limits.queue; i++) {
        assert_int_equal(enter(&desk, 10, i % 2, 1), REFUSAL_NONE);
    }
    assert_int_equal(enter(&desk, 10, 1, 1), REFUSAL_QUEUE);
    assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_QUEUE);
    assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_QUEUE);
}

static void test_what_came_too_late(void **state) {
    (void)state;
    static const enum role roles[] = {ROLE_ANY, ROLE_LARGE, ROLE_DEVICE};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        struct desk desk = make_desk(1, false);
        enum refusal refusal;
        enter(&desk, 10, 5, 1);
        desk.now += 10000 * MS;
        assert_ptr_equal(admission_take(&desk.admission, roles[i], desk.now, &refusal), &desk.job[0]);
        assert_int_equal(refusal, REFUSAL_DEADLINE);
        assert_idle(&desk);
    }
    struct desk desk = make_desk(1, true);
    enum refusal refusal;
    enter(&desk, 10, 5, 1);
    desk.admission.standing = true;
    desk.admission.busy_ns = desk.now += 2 * admission_target(&desk.admission);
    assert_ptr_equal(admission_take(&desk.admission, ROLE_DEVICE, desk.now, &refusal), &desk.job[0]);
    assert_int_equal(refusal, REFUSAL_AGE);
    assert_idle(&desk);
}

/* A standing queue of small jobs is no reason to refuse a job that the device can do at once. */
static void test_beside_a_queue_that_stands(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    for (unsigned i = 0; i < 20; i++) {
        enter(&desk, 20, 0, 1);
    }
    desk.admission.standing = true;
    assert_int_equal(enter(&desk, 20, 0, 1), REFUSAL_STANDING);
    assert_int_equal(enter(&desk, 2000, 5, 1), REFUSAL_NONE);
    assert_int_equal(take(&desk, ROLE_DEVICE), 21);
}

static void test_memory(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    enter(&desk, 10, 20, 700);
    enter(&desk, 10, 20, 200);
    enter(&desk, 10, 20, 400);
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1); /* the newest that fits */
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_DEVICE), -1);
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_DEVICE), 2);
    done(&desk, 1);
    done(&desk, 2);
    assert_idle(&desk);
}

static void test_clear(void **state) {
    (void)state;
    struct desk desk = make_desk(1, true);
    enter(&desk, 10, 5, 1);
    enter(&desk, 2000, 0, 1);
    enter(&desk, 10, 0, 1);
    enter(&desk, 10, 5, 1);
    static const int order[] = {2, 1, 0, 3};
    for (unsigned i = 0; i < 4; i++) {
        assert_ptr_equal(admission_clear(&desk.admission), &desk.job[order[i]]);
    }
    assert_null(admission_clear(&desk.admission));
    assert_idle(&desk);
}

/* A job's place is free again when it was refused or is done. */
struct walk {
    struct desk desk;
    bool busy[JOBS]; /* enters, waits or runs */
    int running[JOBS];
    unsigned runs;
    uint32_t seed;
};

/* From 0 to below `count`. */
static unsigned chance(struct walk *walk, unsigned count) {
    walk->seed = walk->seed * 1664525 + 1013904223;
    return (walk->seed >> 8) % count;
}

static void walk_enter(struct walk *walk) {
    unsigned place = 0;
    while (place < JOBS && walk->busy[place]) {
        place++;
    }
    if (place < JOBS) {
        walk->desk.used = place;
        int64_t cost_ms = chance(walk, 9) == 0 ? 3000 : 1 + chance(walk, 20);
        int64_t device_ms = chance(walk, 3) * chance(walk, 12);
        uint64_t bytes = chance(walk, 300);
        enum refusal refusal = chance(walk, 3) == 0 ? enter_readable(&walk->desk, cost_ms, 40, bytes)
                                                    : enter(&walk->desk, cost_ms, device_ms, bytes);
        walk->busy[place] = refusal == REFUSAL_NONE;
    }
}

static void walk_take(struct walk *walk) {
    enum refusal refusal;
    struct job *job =
        admission_take(&walk->desk.admission, (enum role)chance(walk, 4), walk->desk.now, &refusal);
    if (job && refusal == REFUSAL_NONE) {
        walk->running[walk->runs++] = (int)(job - walk->desk.job);
    } else if (job) {
        walk->busy[job - walk->desk.job] = false;
    }
}

static void walk_done(struct walk *walk) {
    if (walk->runs > 0) {
        unsigned which = chance(walk, walk->runs);
        int job = walk->running[which];
        walk->running[which] = walk->running[--walk->runs];
        done(&walk->desk, job);
        walk->busy[job] = false;
    }
}

/* After random events in random order all counts are 0 again. */
static void test_at_random(void **state) {
    (void)state;
    static struct walk walk;
    static void (*const steps[])(struct walk *) = {walk_enter, walk_take, walk_done};
    walk.desk = make_desk(3, true);
    walk.desk.admission.limits.entropy_decodes = 5;
    for (unsigned i = 0; i < STEPS; i++, walk.desk.now += chance(&walk, 5) * MS) {
        steps[chance(&walk, 3)](&walk);
        walk.desk.admission.device_down = i / 100 % 4 == 3;
        unsigned running = 0;
        for (unsigned kind = 0; kind < JOB_KINDS; kind++) {
            running += walk.desk.admission.queue[kind].running;
        }
        assert_int_equal(running, walk.runs);
    }
    while (admission_clear(&walk.desk.admission)) {
    }
    while (walk.runs > 0) {
        walk_done(&walk);
    }
    assert_idle(&walk.desk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_each_its_own),
        cmocka_unit_test(test_cores_are_spared),
        cmocka_unit_test(test_a_long_queue_of_the_device),
        cmocka_unit_test(test_taken_without_a_device),
        cmocka_unit_test(test_large_ones_without_a_device),
        cmocka_unit_test(test_small_before_those),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_what_came_too_late),
        cmocka_unit_test(test_beside_a_queue_that_stands),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
