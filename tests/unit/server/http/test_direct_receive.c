/* SPDX-License-Identifier: MIT
 * What `recv` returns and where the bytes are: on sockets with a destination, and on others. */
#include "server/http/direct_receive.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { BUFFER = 10, MEMORY = 64, HIGH = 1 << 16 };

/* A connection: the library's end and the client's, the library's buffer, and the memory for the body. */
struct pair {
    int near, far;
    struct direct_receive direct;
    uint8_t buffer[BUFFER + 1], memory[MEMORY + 1];
};

static void set_up(struct pair *pair) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    *pair = (struct pair){.near = fds[0], .far = fds[1]};
    direct_receive_set(pair->near, &pair->direct);
}

static void tear_down(struct pair *pair) {
    direct_receive_set(pair->near, NULL);
    close(pair->near);
    close(pair->far);
}

static void say(struct pair *pair, const char *text) {
    assert_int_equal(send(pair->far, text, strlen(text), 0), strlen(text));
}

/* One read of the library. */
static ssize_t read_on(struct pair *pair) {
    memset(pair->buffer, '.', BUFFER);
    return recv(pair->near, pair->buffer, BUFFER, 0);
}

static void test_without_a_destination(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    say(&pair, "head");
    assert_int_equal(read_on(&pair), 4);
    assert_memory_equal(pair.buffer, "head......", BUFFER);
    assert_int_equal(direct_receive_take(&pair.direct), 0);
    assert_int_equal(read_on(&pair), -1);
    assert_int_equal(errno, EAGAIN);
    tear_down(&pair);
}

static void test_the_end_is_hidden_while_an_answer_is_due(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    say(&pair, "next");
    assert_int_equal(shutdown(pair.far, SHUT_WR), 0);
    pair.direct.answers = true;
    assert_int_equal(read_on(&pair), 4);
    assert_int_equal(read_on(&pair), -1);
    assert_int_equal(errno, EAGAIN);
    pair.direct.answers = false;
    assert_int_equal(read_on(&pair), 0);
    tear_down(&pair);
}

static void test_bytes_are_reported_in_pieces(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    direct_receive_open(&pair.direct, pair.memory, 30);
    say(&pair, "0123456789abcdefghijklm"); /* 23 */
    for (size_t at = 0; at < 20; at += BUFFER) {
        assert_int_equal(read_on(&pair), BUFFER);
        assert_memory_equal(pair.buffer, "..........", BUFFER);
        assert_int_equal(direct_receive_take(&pair.direct), BUFFER);
        direct_receive_open(&pair.direct, pair.memory + at + BUFFER, 30 - at - BUFFER);
    }
    assert_string_equal((char *)pair.memory, "0123456789abcdefghijklm"); /* received in one call */
    say(&pair, "nop");
    assert_int_equal(read_on(&pair), 6);
    assert_int_equal(direct_receive_take(&pair.direct), 6);
    assert_string_equal((char *)pair.memory, "0123456789abcdefghijklmnop");
    assert_int_equal(read_on(&pair), -1);
    assert_int_equal(errno, EAGAIN);
    tear_down(&pair);
}

/* The library takes a read of less than it asked for as the last one for now. */
static void test_what_follows_the_end_goes_to_the_buffer(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    direct_receive_open(&pair.direct, pair.memory, 4);
    say(&pair, "bodyGET /livez");
    assert_int_equal(read_on(&pair), BUFFER);
    assert_memory_equal(pair.buffer, "....GET /l", BUFFER);
    assert_int_equal(direct_receive_take(&pair.direct), 4);
    assert_string_equal((char *)pair.memory, "body");
    assert_int_equal(read_on(&pair), 4);
    assert_memory_equal(pair.buffer, "ivez......", BUFFER);
    assert_int_equal(direct_receive_take(&pair.direct), 0);
    tear_down(&pair);
}

static void test_a_closed_destination_still_reports_what_is_ahead(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    direct_receive_open(&pair.direct, pair.memory, 20);
    say(&pair, "0123456789abcd");
    assert_int_equal(read_on(&pair), BUFFER);
    direct_receive_close(&pair.direct);
    say(&pair, "efg");
    assert_int_equal(read_on(&pair), 7);
    assert_memory_equal(pair.buffer, "....efg...", BUFFER);
    assert_string_equal((char *)pair.memory, "0123456789abcd");
    assert_int_equal(direct_receive_take(&pair.direct), 14);
    say(&pair, "h");
    assert_int_equal(read_on(&pair), 1);
    assert_int_equal(direct_receive_take(&pair.direct), 0);
    tear_down(&pair);
}

static void test_the_end_of_the_stream_comes_last(void **state) {
    (void)state;
    struct pair pair;
    set_up(&pair);
    direct_receive_open(&pair.direct, pair.memory, 20);
    say(&pair, "0123456789abcd");
    assert_int_equal(shutdown(pair.far, SHUT_WR), 0);
    assert_int_equal(read_on(&pair), BUFFER);
    assert_int_equal(read_on(&pair), 4);
    assert_int_equal(read_on(&pair), 0);
    tear_down(&pair);
}

static void test_high_descriptors_have_no_destination(void **state) {
    (void)state;
    struct direct_receive direct = {0};
    uint8_t buffer[BUFFER], memory[MEMORY];
    const int beyond[] = {HIGH, -1, INT_MAX}; /* no sockets: where the limit is lower, none has that number */
    direct_receive_open(&direct, memory, 20);
    for (unsigned i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        direct_receive_set(beyond[i], &direct);
        assert_int_equal(recv(beyond[i], buffer, BUFFER, 0), -1);
        assert_int_equal(errno, EBADF);
        assert_int_equal(direct_receive_take(&direct), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_destination),
        cmocka_unit_test(test_the_end_is_hidden_while_an_answer_is_due),
        cmocka_unit_test(test_bytes_are_reported_in_pieces),
        cmocka_unit_test(test_what_follows_the_end_goes_to_the_buffer),
        cmocka_unit_test(test_a_closed_destination_still_reports_what_is_ahead),
        cmocka_unit_test(test_the_end_of_the_stream_comes_last),
        cmocka_unit_test(test_high_descriptors_have_no_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
