/* SPDX-License-Identifier: MIT
 * How long the front waits for an engine: longer while much is in progress, also if it began later. */
#include "gpu/front/link.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/process/channel.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { LEAST_MS = 500, SLOW_MS = 1500, MOST_MS = 60000, MUCH = 1000, WIDTH = 40, HEIGHT = 30 };

/* What pretends to be the engine. */
struct pretended {
    int socket;
    bool answers; /* SLOW_MS after the request */
    struct link_timeout *timeout;
    int64_t later; /* bytes of other runs, which begin and end during the request */
};

static int pair[2];

static int open_pair(void **state) {
    (void)state;
    struct error err;
    return channel_pair(pair, &err) == ST_OK ? 0 : -1;
}

static int close_pair(void **state) {
    (void)state;
    close(pair[0]);
    close(pair[1]);
    return 0;
}

static void *pretend(void *argument) {
    const struct pretended *engine = argument;
    struct wire_run run;
    struct wire_done done = {0};
    struct error err;
    int slot;
    if (channel_receive(engine->socket, &run, sizeof run, WIRE_RUN, &slot, MOST_MS, &err) != ST_OK) {
        return NULL;
    }
    close(slot);
    atomic_fetch_add(&engine->timeout->begun, engine->later);
    atomic_fetch_add(&engine->timeout->ended, engine->later);
    if (engine->answers) {
        nanosleep(&(struct timespec){SLOW_MS / 1000, SLOW_MS % 1000 * 1000000L}, NULL);
        channel_send(engine->socket, &done, sizeof done, WIRE_DONE, -1, &err);
    }
    return NULL;
}

/* Milliseconds that the run took. */
static double ask(struct link_timeout *timeout, bool answers, int64_t later, enum status expected) {
    struct pretended engine = {pair[1], answers, timeout, later};
    struct engine_link link = {.socket = pair[0]};
    struct wire_run run = {.shape = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT}};
    const int64_t open_before = atomic_load(&timeout->begun) - atomic_load(&timeout->ended);
    struct wire_done done;
    struct error err;
    pthread_t thread;
    struct slot slot = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC), .kind = SLOT_LENT_WORK};
    assert_int_equal(pthread_create(&thread, NULL, pretend, &engine), 0);
    int64_t begin = clock_ns();
    enum status status = link_run(&link, &run, &slot, timeout, &done, &err);
    double took = clock_ns_to_ms(clock_ns() - begin);
    pthread_join(thread, NULL);
    close(slot.fd);
    if (status != expected) {
        fail_msg("status %d in place of %d after %.0f ms", (int)status, (int)expected, took);
    }
    assert_true(status == ST_OK || strstr(err.text, "no answer within"));
    assert_int_equal(atomic_load(&timeout->begun) - atomic_load(&timeout->ended), open_before);
    return took;
}

static int64_t times(int64_t units) {
    return units * LINK_TIMEOUT_BYTES;
}

static void test_ms(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = 2000, .most_ms = 10000};
    const int64_t expected[][2] = {{0, 2000}, {1, 2000}, {2, 4000}, {5, 10000}, {6, 10000}, {1 << 30, 10000}};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(link_timeout_ms(&timeout, times(expected[i][0])), expected[i][1]);
    }
    timeout.most_ms = 1000; /* less than the least one */
    assert_int_equal(link_timeout_ms(&timeout, times(6)), 2000);
}

static struct image_shape shape_of(enum pixel_model model, uint8_t depth, uint32_t width, uint32_t height) {
    return (struct image_shape){.model = model, .depth = depth, .width = width, .height = height};
}

static void expect_bytes(const struct wire_run *run, const struct image_shape *largest) {
    assert_int_equal(link_bytes(run), image_layout(&(struct image){0}, largest));
}

/* The largest picture counts, whether it is read, or comes and goes within the chain. */
static void test_bytes(void **state) {
    (void)state;
    struct error err;
    struct wire_run run = {.shape = shape_of(PIXEL_RGBA, 16, WIDTH, HEIGHT)};
    struct image_shape largest = run.shape;
    expect_bytes(&run, &largest);
    const struct resize_arguments larger = {.width = 5 * WIDTH, .enlarge = true},
                                  smaller = {.width = WIDTH / 2};
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &larger, &run.shape, &err), ST_OK);
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &smaller, &run.shape, &err), ST_OK);
    largest = shape_of(PIXEL_RGBA, 16, 5 * WIDTH, 5 * HEIGHT);
    expect_bytes(&run, &largest);
}

/* A JPEG counts as the picture that its filters read. */
static void test_bytes_of_a_jpeg(void **state) {
    (void)state;
    struct wire_run run = {.shape = {.model = PIXEL_YCBCR,
                                     .depth = 8,
                                     .chroma_shift_x = 1,
                                     .chroma_shift_y = 1,
                                     .width = WIDTH,
                                     .height = HEIGHT},
                           .jpeg = {.size = 1, .orientation = 6}};
    struct image_shape largest = transcode_read(&run.shape, TRANSCODE_LINEAR_420);
    assert_int_equal(largest.depth, 16);
    largest = shape_of(largest.model, 16, HEIGHT, WIDTH);
    run.jpeg.colours = TRANSCODE_LINEAR_420;
    expect_bytes(&run, &largest);
}

static void test_an_engine_that_hangs(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = LEAST_MS, .most_ms = MOST_MS};
    double took = ask(&timeout, false, 0, ST_TIMEOUT);
    assert_true(took >= LEAST_MS && took < MOST_MS / 2);
}

static void test_an_engine_with_much_to_do(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = LEAST_MS, .most_ms = MOST_MS, .begun = times(MUCH)};
    assert_true(ask(&timeout, true, 0, ST_OK) >= SLOW_MS);
}

static void test_work_that_comes_and_goes(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = LEAST_MS, .most_ms = MOST_MS};
    assert_true(ask(&timeout, true, times(MUCH), ST_OK) >= SLOW_MS);
}

static void test_the_most(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = LEAST_MS, .most_ms = SLOW_MS, .begun = times(MUCH)};
    double took = ask(&timeout, false, 0, ST_TIMEOUT);
    assert_true(took >= SLOW_MS && took < MOST_MS / 2);
}

/* What the daemon alone may map never gets to an engine, nor does one engine's memory to a process of codecs
 * or the other way round. */
static void test_slots_that_are_not_lent(void **state) {
    (void)state;
    struct link_timeout timeout = {.least_ms = LEAST_MS};
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        struct engine_link link = {.socket = pair[0]};
        struct slot slot = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC), .kind = (enum slot_kind)kind};
        const bool lent = kind == SLOT_LENT_FILE || kind == SLOT_LENT_WORK;
        struct wire_run run = {.shape = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT}};
        struct wire_run got;
        struct wire_done done;
        struct error err;
        int fd = -1;
        assert_int_equal(link_run(&link, &run, &slot, &timeout, &done, &err),
                         lent ? ST_TIMEOUT : ST_UNSUPPORTED);
        assert_int_equal(slot.shared, lent);
        enum status sent = channel_receive(pair[1], &got, sizeof got, WIRE_RUN, &fd, 0, &err);
        assert_int_equal(sent, lent ? ST_OK : ST_TIMEOUT);
        assert_int_equal(fd >= 0, lent);
        if (fd >= 0) {
            close(fd);
        }
        close(slot.fd);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ms),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_of_a_jpeg),
        cmocka_unit_test_setup_teardown(test_slots_that_are_not_lent, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_an_engine_that_hangs, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_an_engine_with_much_to_do, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_work_that_comes_and_goes, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_the_most, open_pair, close_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
