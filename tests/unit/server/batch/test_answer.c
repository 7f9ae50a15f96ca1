/* SPDX-License-Identifier: MIT
 * Heads and bodies of answers, through a socket. */
#include <pthread.h>
#include <sys/socket.h>

#include "server/client/http/answer_body.h"

#include "tests/unit/server/batch/batch_fixture.h"

static struct answer_head head;
static struct error err;

static enum status read_head(const char *text) {
    err = (struct error){0};
    return answer_head_read((struct bytes){(const uint8_t *)text, strlen(text)}, &head, &err);
}

static void test_heads(void **state) {
    (void)state;
    assert_int_equal(read_head("HTTP/1.1 200 OK\r\ncontent-length: 12\r\nContent-Type:image/png\r\n"
                               "X-Regions:\t3\r\nX-Backend: cpu/avx2\r\nRetry-After: 7\r\n\r\n"),
                     ST_OK);
    assert_int_equal(head.status, 200);
    assert_int_equal(head.length, 12);
    assert_int_equal(head.regions, 3);
    assert_int_equal(head.retry_s, 7);
    assert_string_equal(head.type, "image/png");
    assert_string_equal(head.backend, "cpu/avx2");
    assert_false(head.closes);
    assert_int_equal(read_head("HTTP/1.1 503 X\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n"), ST_OK);
    assert_true(head.closes);
    assert_int_equal(head.regions, -1);
    assert_int_equal(head.retry_s, -1);
    assert_int_equal(read_head("HTTP/1.1 100 Continue\r\n\r\n"), ST_OK);
}

static void test_odd_numbers(void **state) {
    (void)state;
    assert_int_equal(read_head("HTTP/1.1 503 X\r\nRetry-After: 999999\r\nContent-Length: 1\r\n\r\n"), ST_OK);
    assert_int_equal(head.retry_s, 3600);
    assert_int_equal(read_head("HTTP/1.1 503 X\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"
                               "X-Regions: -4\r\nContent-Length: 1\r\n\r\n"),
                     ST_OK);
    assert_int_equal(head.retry_s, -1);
    assert_int_equal(head.regions, -1);
    static const char *const lengths[] = {"-1", "+1", "1 ", "0x1", "", "1234567890123456789", "1,1", "a"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char text[100];
        snprintf(text, sizeof text, "HTTP/1.1 200 X\r\nContent-Length: %s\r\n\r\n", lengths[i]);
        assert_int_equal(read_head(text), ST_CORRUPT);
    }
    assert_int_equal(read_head("HTTP/1.1 200 X\r\nContent-Length: 123456789012345678\r\n\r\n"), ST_OK);
    assert_true(head.length == 123456789012345678);
}

/* A refusal needs no length: the connection is not used again. */
static void test_refusals_without_length(void **state) {
    (void)state;
    assert_int_equal(read_head("HTTP/1.1 503 X\r\nConnection: keep-alive\r\n\r\n"), ST_OK);
    assert_true(head.closes);
    assert_int_equal(head.length, 0);
    assert_int_equal(read_head("HTTP/1.1 204 X\r\n\r\n"), ST_CORRUPT);
}

static void test_no_heads(void **state) {
    static const char *const wrong[] = {
        "",
        "\r\n\r\n",
        "HTTP/1.1 200",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
        "200 OK\r\n",
        "HTTP/1.1 99\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_head(wrong[i]), ST_CORRUPT);
    }
}

static void test_long_lines(void **state) {
    static char text[4096];
    (void)state;
    snprintf(text, sizeof text,
             "HTTP/1.1 200 %0600d\r\nContent-Type: %0600d\r\nX-Backend: %0600d\r\nContent-Length: 5\r\n\r\n",
             1, 2, 3);
    assert_int_equal(read_head(text), ST_OK);
    assert_int_equal(strlen(head.type), ANSWER_TYPE_MAX - 1);
    assert_int_equal(strlen(head.backend), ANSWER_BACKEND_MAX - 1);
    assert_int_equal(head.length, 5);
}

/* What a thread sends into the socket, in pieces. */
struct peer {
    int fd;
    struct bytes data;
    size_t piece;
};

static void *send_all(void *argument) {
    const struct peer *peer = argument;
    for (size_t at = 0; at < peer->data.size;) {
        const size_t left = peer->data.size - at;
        const ssize_t sent =
            send(peer->fd, peer->data.data + at, left < peer->piece ? left : peer->piece, MSG_NOSIGNAL);
        if (sent <= 0) {
            break;
        }
        at += (size_t)sent;
    }
    close(peer->fd);
    return NULL;
}

static uint8_t buffer[CLIENT_SOCKET_BUFFER];
static char written[1 << 18];
static struct buf report;
static struct answer_file file;

/* Receives a body of `length` bytes, of which the peer sends `data`. */
static enum status receive(const char *type, struct bytes data, uint64_t length, size_t piece) {
    int pair[2];
    pthread_t thread;
    char name[] = "/tmp/blurd-answer-XXXXXX";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    struct peer peer = {pair[1], data, piece};
    assert_int_equal(pthread_create(&thread, NULL, send_all, &peer), 0);
    struct client_socket from = {.fd = pair[0], .buffer = buffer};
    struct answer_body body = {.socket = &from, .left = length};
    file = (struct answer_file){.fd = mkstemp(name), .report = &report};
    assert_true(file.fd >= 0 && unlink(name) == 0);
    err = (struct error){0};
    head = (struct answer_head){.status = 200};
    snprintf(head.type, sizeof head.type, "%s", type);
    const enum status status = answer_body_write(&body, &head, &file, &err);
    const ssize_t got = pread(file.fd, written, sizeof written, 0);
    assert_int_equal(got, file.bytes);
    close(pair[0]);
    pthread_join(thread, NULL);
    close(file.fd);
    return status;
}

static const char form[] = "multipart/mixed; boundary=xy";
static const char begin[] =
    "--xy\r\nContent-Type: application/json\r\n\r\n{\"a\": 1}\r\n--xy\r\nContent-Type: image/png\r\n\r\n";
static const char end[] = "\r\n--xy--\r\n";

static struct bytes make(const char *before, const char *picture, size_t size) {
    static uint8_t text[1 << 18];
    size_t at = strlen(before);
    memcpy(text, before, at);
    memcpy(text + at, picture, size);
    memcpy(text + at + size, end, sizeof end - 1);
    return (struct bytes){text, at + size + sizeof end - 1};
}

static void test_plain_bodies(void **state) {
    static uint8_t picture[200000];
    (void)state;
    for (size_t i = 0; i < sizeof picture; i++) {
        picture[i] = (uint8_t)(i * i >> 7);
    }
    for (size_t size = 0; size <= sizeof picture; size += 50000) {
        assert_int_equal(receive("image/png", (struct bytes){picture, size}, size, 7777), ST_OK);
        assert_int_equal(file.bytes, size);
        assert_memory_equal(written, picture, size);
        assert_int_equal(report.size, 0);
    }
    assert_int_equal(receive("image/png", (struct bytes){picture, 999}, 1000, 100), ST_BUSY);
    assert_int_equal(receive("image/png", (struct bytes){picture, 1000}, 10, 100), ST_OK);
    assert_int_equal(file.bytes, 10);
}

static void assert_parts(struct bytes whole, const char *picture, size_t size, size_t piece) {
    assert_int_equal(receive(form, whole, whole.size, piece), ST_OK);
    assert_int_equal(file.bytes, size);
    assert_memory_equal(written, picture, size);
    assert_string_equal(head.type, "image/png");
    assert_int_equal(report.size, 8);
    assert_memory_equal(report.data, "{\"a\": 1}", 8);
}

/* In pieces of each size, and cut at each byte. */
static void test_parts(void **state) {
    static const char picture[] = "PNG\r\n--xy\r\n--xy--\r\n\0Content-Type: text/html\r\n\r\n";
    (void)state;
    const struct bytes whole = make(begin, picture, sizeof picture);
    for (size_t piece = 1; piece <= whole.size; piece++) {
        assert_parts(whole, picture, sizeof picture, piece);
    }
    for (size_t size = 0; size < whole.size; size++) {
        assert_int_equal(receive(form, (struct bytes){whole.data, size}, whole.size, 1000), ST_BUSY);
        const enum status status = receive(form, (struct bytes){whole.data, size}, size, 1000);
        assert_true(status == ST_CORRUPT || (status == ST_OK && file.bytes < sizeof picture));
    }
}

static void test_large_parts(void **state) {
    static char picture[150000];
    (void)state;
    memset(picture, '-', sizeof picture);
    for (size_t size = sizeof picture; size > 100; size /= 3) {
        assert_parts(make(begin, picture, size), picture, size, 60000);
    }
}

/* A picture may begin as a field of the head before it does. */
static void test_pictures_like_heads(void **state) {
    static const char *const pictures[] = {"Content-Type: ", "Content-Type: text/html\r\n", "\r\n", "",
                                           "\r\n\r\n"};
    static const char bare[] = "--xy\r\n\r\n{}\r\n--xy\r\n\r\n";
    (void)state;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const size_t size = strlen(pictures[i]);
        assert_parts(make(begin, pictures[i], size), pictures[i], size, 1000);
        const struct bytes whole = make(bare, pictures[i], size);
        assert_int_equal(receive(form, whole, whole.size, 1000), ST_OK);
        assert_string_equal(head.type, form); /* no type is told */
        assert_int_equal(file.bytes, size);
    }
}

/* It becomes a part of a line of JSON. */
static void test_reports_that_are_none(void **state) {
    static const char *const reports[] = {
        "", "no", "[]", "1", "{", "{}{}", "{},\"file\":\"a\"", "{\"a\":}", "{}}", "{\"a\":1,}"};
    (void)state;
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char before[200];
        snprintf(before, sizeof before, "--xy\r\n\r\n%s\r\n--xy\r\n\r\n", reports[i]);
        const struct bytes whole = make(before, "x", 1);
        assert_int_equal(receive(form, whole, whole.size, 1000), ST_CORRUPT);
        assert_string_equal(err.text, "the report of the answer is no JSON");
    }
}

/* That of an earlier try does not stay. */
static void test_reports_are_dropped(void **state) {
    (void)state;
    assert_parts(make(begin, "x", 1), "x", 1, 1000);
    assert_int_equal(receive("image/png", (struct bytes){(const uint8_t *)"x", 1}, 1, 1), ST_OK);
    assert_int_equal(report.size, 0);
}

/* What has come before a request is seen, whether it was received or not, and that the peer has closed. */
static void test_quiet_sockets(void **state) {
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    struct client_socket here = {.fd = pair[0], .buffer = buffer};
    assert_true(client_socket_is_quiet(&here));
    assert_int_equal(write(pair[1], "ab", 2), 2);
    assert_false(client_socket_is_quiet(&here));
    assert_int_equal(client_socket_receive(&here), 2);
    assert_false(client_socket_is_quiet(&here));
    here.at = 2;
    assert_true(client_socket_is_quiet(&here));
    close(pair[1]);
    assert_false(client_socket_is_quiet(&here));
    assert_int_equal(client_socket_receive(&here), 0);
    client_socket_close(&here);
}

static int finish(void **state) {
    (void)state;
    buf_finish(&report);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_refusals_without_length),
        cmocka_unit_test(test_no_heads),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_plain_bodies),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_large_parts),
        cmocka_unit_test(test_pictures_like_heads),
        cmocka_unit_test(test_reports_that_are_none),
        cmocka_unit_test(test_reports_are_dropped),
        cmocka_unit_test(test_quiet_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
