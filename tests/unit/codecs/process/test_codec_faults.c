/* SPDX-License-Identifier: MIT
 * Faults of an isolated codec end only its process, and the next picture gets another one. This program has
 * an mmap of its own. */
#include "tests/unit/codecs/process/codec_link_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/sanitizers.h"

static _Atomic bool *maps_nothing; /* whether processes of the codec find no room for a slot; shared */
static pid_t tester;

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if (maps_nothing && *maps_nothing && fd >= 0 && getpid() != tester) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

static void test_no_room_for_a_slot(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    *maps_nothing = true;
    enum status status = probe(&lab);
    *maps_nothing = false;
    assert_int_equal(status, ST_BUSY);
    assert_string_equal(lab.err.text, "no memory to map a slot");
    assert_works(&lab);
    close_lab(&lab);
}

static void test_death(void **state) {
    static const enum fake_order deaths[] = {FAKE_CRASHES, FAKE_ABORTS, FAKE_ENDS};
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    unsigned descriptors = count_descriptors();
    for (unsigned i = 0; i < 3; i++) {
        load(&lab, deaths[i], 0);
        assert_int_equal(decode(&lab), ST_CORRUPT);
        assert_string_equal(lab.err.text, "the library that reads Fake failed on this picture");
        assert_int_equal(count_processes(), 0);
        assert_works(&lab);
        assert_int_equal(encode(&lab, deaths[i], OUTPUT_MAX, &output), ST_INTERNAL);
        assert_string_equal(lab.err.text, "the library that writes Fake failed on this picture");
        buf_finish(&output);
        load(&lab, FAKE_CRASHES_IN_PROBE, 0);
        assert_int_equal(probe(&lab), ST_CORRUPT);
        assert_works(&lab);
    }
    assert_int_equal(count_descriptors(), descriptors);
    close_lab(&lab);
}

static void test_death_between_calls(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < 20; i++) {
        assert_works(&lab);
        kill((pid_t)lab.picture.metadata.losses, SIGKILL);
        if (i % 2) {
            sleep_ms(3);
        }
        while (i % 2 == 0 && count_processes() > 0) {
        }
        assert_works(&lab);
    }
    close_lab(&lab);
}

/* Milliseconds that a process has computed; 0 when it is gone. */
static unsigned long computed_ms(long process) {
    char path[64];
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *file = fopen(path, "r");
    if (file) {
        int got =
            fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
        fclose(file);
        assert_int_equal(got, 2);
    }
    return (user + kernel) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}

/* Sends a signal to a descendant (see read_descendants) when the codec's process has computed for a while. */
struct killer {
    unsigned depth;
    int signal;
};

static void *kill_soon(void *argument) {
    const struct killer *killer = argument;
    char text[4096];
    long process = 0;
    while (process == 0 || computed_ms(process) < 100) {
        read_descendants(3, text, sizeof text);
        process = strtol(text, NULL, 10);
        sleep_ms(2);
    }
    read_descendants(killer->depth, text, sizeof text);
    kill((pid_t)strtol(text, NULL, 10), killer->signal);
    return NULL;
}

/* The picture is not to blame, in the first call of a process either. */
static void test_killed_from_outside(void **state) {
    static struct killer killers[] = {{3, SIGKILL}, {3, SIGTERM}, {2, SIGKILL}, {3, SIGABRT}};
    struct lab lab;
    pthread_t thread;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < sizeof killers / sizeof *killers; i++) {
        codec_link_destroy(lab.link);
        assert_int_equal(codec_link_create(&lab.link, spawner, pool, &lab.err), ST_OK);
        load(&lab, FAKE_LOOPS, 0);
        assert_int_equal(pthread_create(&thread, NULL, kill_soon, &killers[i]), 0);
        enum status status = decode(&lab);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(status, killers[i].signal == SIGABRT ? ST_CORRUPT : ST_BUSY);
        assert_string_equal(lab.err.text, killers[i].signal == SIGABRT
                                              ? "the library that reads Fake failed on this picture"
                                              : "the process of the codec was killed from outside");
        while (!codec_spawner_serves(spawner)) {
            sleep_ms(5);
        }
        assert_works(&lab);
    }
    close_lab(&lab);
}

static void test_deadline(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    for (unsigned i = 0; i < 3; i++) {
        int64_t begin = clock_ns();
        load(&lab, FAKE_LOOPS, 0);
        assert_int_equal(decode_until(&lab, begin + 50 * MS), ST_LIMIT);
        assert_string_equal(lab.err.text, "the picture takes longer than the time limit");
        assert_true(clock_ns() - begin >= 50 * MS);
        assert_true(clock_ns() - begin < 2000 * MS);
        assert_int_equal(count_processes(), 0);
    }
    assert_works(&lab);
    sleep_ms(50); /* no timer of an earlier call is left */
    assert_int_equal(decode_until(&lab, clock_ns() + 30 * MS), ST_OK);
    sleep_ms(80);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

/* Two clocks end a call: the process's own alarm, and the daemon's time limit. Here each of them has to do it
 * alone. */
static void test_a_process_that_blocks_its_alarm(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (unsigned ready = 0; ready < 2;
         ready++) { /* a process that has just started, and one of earlier calls */
        int64_t begin = clock_ns();
        load(&lab, FAKE_LOOPS_DEAF, 0);
        assert_int_equal(decode_until(&lab, begin + 50 * MS), ST_LIMIT);
        assert_string_equal(lab.err.text, "the picture takes longer than the time limit");
        assert_true(clock_ns() - begin >= 50 * MS);
        assert_int_equal(count_processes(), 0);
        assert_works(&lab);
    }
    close_lab(&lab);
}

static void test_a_daemon_that_does_not_wait(void **state) {
    struct lab lab;
    int64_t end = clock_ns() + 300 * MS;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    load(&lab, FAKE_LOOPS, 0);
    pid_t caller = fork();
    assert_true(caller >= 0);
    if (caller == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        decode_until(&lab, end);
        _exit(0);
    }
    while (clock_ns() < end - 150 * MS) { /* until the call is on its way */
        sleep_ms(5);
    }
    assert_int_equal(kill(caller, SIGSTOP), 0);
    assert_int_equal(count_processes(), 1);
    while (count_processes() > 0) { /* the test's time limit ends it otherwise */
        sleep_ms(5);
    }
    assert_true(clock_ns() >= end);
    assert_int_equal(kill(caller, SIGKILL), 0);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    close_lab(&lab);
}

/* What a call has computed until its deadline, which is not how long it lasted. */
static void test_time_computed(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    assert_int_equal(codec_link_computed_ns(NULL), 0);
    assert_in_range(codec_link_computed_ns(lab.link), 1, 1000 * MS);
    assert_int_equal(codec_link_computed_ns(lab.link), 0);
    load(&lab, FAKE_SLEEPS, 0);
    assert_int_equal(decode_until(&lab, clock_ns() + 200 * MS), ST_LIMIT);
    assert_string_equal(lab.err.text, "the picture takes longer than the time limit");
    assert_in_range(codec_link_computed_ns(lab.link), 0, 50 * MS);
    assert_int_equal(codec_link_faults(lab.link), 1);
    assert_works(&lab);
    codec_link_computed_ns(lab.link);
    int64_t begin = clock_ns(), computed = 0;
    for (unsigned i = 0; i < 100 && computed < 30 * MS; i++) { /* on a busy machine it takes longer */
        load(&lab, FAKE_LOOPS, 0);
        assert_int_equal(decode_until(&lab, clock_ns() + 100 * MS), ST_LIMIT);
        computed += codec_link_computed_ns(lab.link);
        assert_true(computed <= clock_ns() - begin);
        assert_works(&lab);
        codec_link_computed_ns(lab.link);
    }
    assert_true(computed >= 30 * MS);
    load(&lab, FAKE_ENDS, 0); /* nothing is said: all of it counts */
    assert_int_equal(decode(&lab), ST_CORRUPT);
    assert_true(codec_link_computed_ns(lab.link) > 0);
    for (unsigned ready = 0; ready < 2;
         ready++) { /* as if it were stopped: the start does not count, either */
        load(&lab, FAKE_LOOPS_DEAF, 0);
        assert_int_equal(decode_until(&lab, clock_ns() + 50 * MS), ST_LIMIT);
        assert_int_equal(codec_link_computed_ns(lab.link), 0);
        assert_works(&lab);
        codec_link_computed_ns(lab.link);
    }
    close_lab(&lab);
}

static void test_memory(void **state) {
    struct lab lab;
    struct buf output;
    (void)state;
    if (SANITIZED) {
        skip();
    }
    open_lab(&lab);
    load(&lab, FAKE_HOARDS, 0);
    assert_int_equal(decode(&lab), ST_LIMIT);
    assert_string_equal(lab.err.text, "the picture needs more memory than the 20 MiB that it may take");
    assert_works(&lab);
    assert_int_equal(encode(&lab, FAKE_HOARDS, OUTPUT_MAX, &output), ST_LIMIT);
    buf_finish(&output);
    load(&lab, FAKE_GROWS, 100 * MIB); /* writes to what malloc did not give */
    assert_int_equal(decode(&lab), ST_CORRUPT);
    assert_works(&lab);
    close_lab(&lab);
}

static void test_without_descriptors(void **state) {
    const struct codec_process_options options = {.codec = fake_table, .sandbox.wanted = true};
    struct rlimit usual;
    struct codec_child child;
    struct codec_spawner *made = NULL;
    struct error err;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, usual.rlim_max}), 0);
    enum status started = codec_spawner_start(spawner, 1, &child, &err);
    enum status forked = codec_spawner_fork(&made, &options, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(started, ST_BUSY);
    assert_int_equal(forked, ST_BUSY);
    assert_null(made);
}

/* However many there are, a process that cannot be started leaves none behind. */
static void test_with_few_descriptors(void **state) {
    const unsigned descriptors = count_descriptors();
    struct rlimit usual;
    struct codec_child child;
    struct error err;
    enum status status = ST_BUSY;
    unsigned refused = 0;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (rlim_t most = 0; status != ST_OK && most < usual.rlim_cur; most++) {
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, usual.rlim_max}), 0);
        status = codec_spawner_start(spawner, 1, &child, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
        if (status != ST_OK) {
            assert_int_equal(status, ST_BUSY);
            assert_int_equal(count_descriptors(), descriptors);
            refused++;
        }
    }
    assert_int_equal(status, ST_OK);
    assert_true(refused > 0);
    codec_spawner_stop(&child);
    assert_int_equal(count_descriptors(), descriptors);
}

static int start_with_a_switch(void **state) {
    void *shared =
        mmap(NULL, sizeof *maps_nothing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    maps_nothing = shared;
    tester = getpid();
    return start(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_room_for_a_slot),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_death_between_calls),
        cmocka_unit_test(test_killed_from_outside),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_a_process_that_blocks_its_alarm),
        cmocka_unit_test(test_a_daemon_that_does_not_wait),
        cmocka_unit_test(test_time_computed),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_without_descriptors),
        cmocka_unit_test(test_with_few_descriptors),
    };
    return cmocka_run_group_tests(tests, start_with_a_switch, stop);
}
