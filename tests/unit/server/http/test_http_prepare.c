/* SPDX-License-Identifier: MIT
 * Bodies go straight to their memory where the library reads as expected, and through its buffer where not.
 */
#include "server/http/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#include "server/http/direct_receive.h"

/* What this program changes about the library: which descriptor it reads, a byte that arrives, and how much
 * of what it reads the handler gets. */
static struct { bool reads_another, loses_a_byte, keeps_some; } library;
static MHD_AccessHandlerCallback handler;

static enum MHD_Result give_half(void *context, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data, size_t *size,
                                 void **own) {
    *size /= 2;
    return handler(context, connection, url, method, version, data, size, own);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accepts,
                                    void *accepts_context, MHD_AccessHandlerCallback handle, void *context,
                                    ...) {
    struct MHD_Daemon *(*own)(unsigned, uint16_t, MHD_AcceptPolicyCallback, void *, MHD_AccessHandlerCallback,
                              void *, ...);
    *(void **)&own = dlsym(RTLD_NEXT, "MHD_start_daemon");
    handler = handle;
    return own(flags, port, accepts, accepts_context, library.keeps_some ? give_half : handle, context,
               MHD_OPTION_END);
}

enum MHD_Result MHD_add_connection(struct MHD_Daemon *daemon, MHD_socket fd, const struct sockaddr *address,
                                   socklen_t size) {
    enum MHD_Result (*own)(struct MHD_Daemon *, MHD_socket, const struct sockaddr *, socklen_t);
    *(void **)&own = dlsym(RTLD_NEXT, "MHD_add_connection");
    return own(daemon, library.reads_another ? dup(fd) : fd, address, size);
}

ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
    ssize_t got = syscall(SYS_recvfrom, fd, buffer, size, flags, from, length);
    if (got > 10000 && library.loses_a_byte) {
        ((uint8_t *)buffer)[got - 1] ^= 1;
    }
    return got;
}

/* How many of four bytes go to the memory for the body. */
static size_t count_direct(void) {
    char buffer[10], memory[10];
    struct direct_receive direct = {0};
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    direct_receive_set(fds[0], &direct);
    direct_receive_open(&direct, (uint8_t *)memory, sizeof memory);
    assert_int_equal(send(fds[1], "body", 4, 0), 4);
    assert_int_equal(recv(fds[0], buffer, sizeof buffer, 0), 4);
    size_t count = direct_receive_take(&direct);
    assert_memory_equal(count ? memory : buffer, "body", 4);
    direct_receive_set(fds[0], NULL);
    close(fds[0]);
    close(fds[1]);
    return count;
}

static void test_this_library(void **state) {
    (void)state;
    assert_true(http_prepare());
    assert_int_equal(count_direct(), 4);
}

static void test_a_library_that_reads_elsewhere(void **state) {
    (void)state;
    library.reads_another = true;
    assert_false(http_prepare());
    assert_int_equal(count_direct(), 0);
    library.reads_another = false;
    assert_true(http_prepare());
    assert_int_equal(count_direct(), 4);
}

static void test_a_byte_that_is_lost(void **state) {
    (void)state;
    library.loses_a_byte = true;
    assert_false(http_prepare());
    assert_int_equal(count_direct(), 0);
    library.loses_a_byte = false;
}

static void test_bytes_that_the_library_keeps(void **state) {
    (void)state;
    library.keeps_some = true;
    assert_false(http_prepare());
    assert_int_equal(count_direct(), 0);
    library.keeps_some = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_library),
        cmocka_unit_test(test_a_library_that_reads_elsewhere),
        cmocka_unit_test(test_a_byte_that_is_lost),
        cmocka_unit_test(test_bytes_that_the_library_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
