/* SPDX-License-Identifier: MIT
 * Messages of a misbehaving process are refused, and their descriptors are closed. */
#include "core/process/channel.h"
#include "gpu/wire/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { FDS_MAX = 4 };

static int pair[2];
static unsigned before; /* descriptors that were open */

static unsigned descriptors(void) {
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static int open_pair(void **state) {
    (void)state;
    struct error err;
    before = descriptors();
    return channel_pair(pair, &err) == ST_OK ? 0 : -1;
}

static int close_pair(void **state) {
    (void)state;
    close(pair[0]);
    close(pair[1]);
    return descriptors() == before ? 0 : -1;
}

/* One packet of any kind, with `count` descriptors of the same file. */
static void send_raw(const void *data, size_t size, unsigned count) {
    union {
        char memory[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_len = size};
    memcpy(&part.iov_base, &data, sizeof data);
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    int fds[FDS_MAX];
    assert_true(count <= FDS_MAX);
    for (unsigned i = 0; i < count; i++) {
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(fds[i] >= 0);
    }
    if (count > 0) {
        packet.msg_control = control.memory;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    }
    assert_int_equal(sendmsg(pair[0], &packet, 0), size);
    for (unsigned i = 0; i < count; i++) {
        close(fds[i]);
    }
}

static struct wire_run good_run(void) {
    return (struct wire_run){.head = {CHANNEL_MAGIC, WIRE_RUN, sizeof(struct wire_run)}, .slot_serial = 42};
}

/* The message is refused, whether or not the receiver asks for a descriptor. */
static void assert_refused(bool ask) {
    struct wire_run run;
    struct error err = {0};
    int fd = -1;
    assert_int_equal(channel_receive(pair[1], &run, sizeof run, WIRE_RUN, ask ? &fd : NULL, 1000, &err),
                     ST_DEVICE);
    assert_int_equal(fd, -1);
    assert_int_equal(descriptors(), before + 2);
    assert_true(strlen(err.text) > 10);
}

/* A receiver that takes no descriptors reads the message and closes its descriptors. */
static void assert_plain(void) {
    struct wire_run run;
    struct error err = {0};
    assert_int_equal(channel_receive(pair[1], &run, sizeof run, WIRE_RUN, NULL, 1000, &err), ST_OK);
    assert_int_equal(run.slot_serial, 42);
    assert_int_equal(descriptors(), before + 2);
}

static void test_round_trip(void **state) {
    (void)state;
    struct error err = {0};
    struct wire_run sent = {.slot_serial = 7, .chain.count = 3}, got;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = -1;
    assert_int_equal(channel_send(pair[0], &sent, sizeof sent, WIRE_RUN, file, &err), ST_OK);
    assert_int_equal(channel_receive(pair[1], &got, sizeof got, WIRE_RUN, &fd, 1000, &err), ST_OK);
    assert_memory_equal(&sent, &got, sizeof got);
    struct stat one, other;
    assert_int_equal(fstat(file, &one), 0);
    assert_int_equal(fstat(fd, &other), 0);
    assert_int_equal(one.st_ino, other.st_ino);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(file);
    close(fd);
    struct wire_done done = {.timing.unit = 2}, answer;
    assert_int_equal(channel_send(pair[1], &done, sizeof done, WIRE_DONE, -1, &err), ST_OK);
    assert_int_equal(channel_receive(pair[0], &answer, sizeof answer, WIRE_DONE, NULL, -1, &err), ST_OK);
    assert_int_equal(answer.timing.unit, 2);
}

static void test_wrong_heads(void **state) {
    (void)state;
    const struct channel_head heads[] = {
        {CHANNEL_MAGIC + 1, WIRE_RUN, sizeof(struct wire_run)},
        {CHANNEL_MAGIC, WIRE_DONE, sizeof(struct wire_run)},
        {CHANNEL_MAGIC, 0, sizeof(struct wire_run)},
        {CHANNEL_MAGIC, WIRE_RUN, sizeof(struct wire_run) - 1},
        {CHANNEL_MAGIC, WIRE_RUN, UINT64_MAX},
        {0, 0, 0},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct wire_run run = good_run();
        run.head = heads[i];
        send_raw(&run, sizeof run, 1);
        assert_refused(true);
        send_raw(&run, sizeof run, 0);
        assert_refused(false);
    }
}

static void test_wrong_sizes(void **state) {
    (void)state;
    struct {
        struct wire_run run;
        char more[64];
    } message = {.run = good_run()};
    const size_t sizes[] = {0,
                            1,
                            sizeof(struct channel_head),
                            sizeof(struct wire_run) - 1,
                            sizeof(struct wire_run) + 1,
                            sizeof message};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned fds = 0; fds < 3; fds++) {
            send_raw(&message, sizes[i], fds);
            assert_refused(fds > 0);
        }
    }
}

static void test_wrong_descriptors(void **state) {
    (void)state;
    struct wire_run run = good_run();
    for (unsigned fds = 0; fds <= FDS_MAX; fds++) {
        if (fds != 1) {
            send_raw(&run, sizeof run, fds);
            assert_refused(true);
        }
        send_raw(&run, sizeof run, fds);
        assert_plain();
    }
}

/* Messages after a refused one are read as usual. */
static void test_the_next_is_read(void **state) {
    (void)state;
    struct wire_run run = good_run(), got;
    struct error err;
    int fd;
    send_raw("nonsense", 8, 2);
    assert_refused(true);
    send_raw(&run, sizeof run, 1);
    assert_int_equal(channel_receive(pair[1], &got, sizeof got, WIRE_RUN, &fd, 1000, &err), ST_OK);
    assert_int_equal(got.slot_serial, 42);
    close(fd);
}

static void test_closed_peer(void **state) {
    (void)state;
    struct wire_run run = good_run();
    struct error err = {0};
    close(pair[0]);
    pair[0] = open("/dev/null", O_RDONLY | O_CLOEXEC); /* so that the counts are as ever */
    assert_refused(true);
    assert_refused(false);
    assert_int_equal(channel_receive(pair[1], &run, sizeof run, WIRE_RUN, NULL, -1, &err), ST_DEVICE);
    assert_int_equal(channel_send(pair[1], &run, sizeof run, WIRE_RUN, -1, &err), ST_DEVICE);
}

static void test_timeout(void **state) {
    (void)state;
    struct wire_done done;
    struct error err = {0};
    const int64_t times[] = {0, 1, 30};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t begin = clock_ns();
        assert_int_equal(channel_receive(pair[1], &done, sizeof done, WIRE_DONE, NULL, times[i], &err),
                         ST_TIMEOUT);
        assert_true(clock_ns() - begin >= times[i] * 1000000);
        assert_true(clock_ns() - begin < (times[i] + 2000) * 1000000);
    }
}

/* A stopped process reads nothing. When its socket is full the sender does not block. */
static void test_nobody_reads(void **state) {
    (void)state;
    struct wire_done done = {0};
    struct error err = {0};
    int64_t begin = clock_ns();
    unsigned sent = 0;
    while (sent < 100000 && channel_send(pair[0], &done, sizeof done, WIRE_DONE, -1, &err) == ST_OK) {
        sent++;
    }
    assert_true(sent < 100000);
    assert_int_equal(err.status, ST_DEVICE);
    assert_true(clock_ns() - begin < 10ll * 1000000000);
}

/* A message that has arrived is seen at once. The wait for one that has not, or for a peer that has ended, is
 * short. */
static void test_asking(void **state) {
    (void)state;
    struct wire_done done = {0};
    struct error err = {0};
    int64_t begin = clock_ns();
    channel_ask(pair[1]);
    int64_t took = clock_ns() - begin;
    assert_true(took >= 400000 && took < 1000 * 1000000ll);
    assert_int_equal(channel_send(pair[0], &done, sizeof done, WIRE_DONE, -1, &err), ST_OK);
    int64_t least = INT64_MAX;
    for (unsigned i = 0; i < 20; i++) { /* one of them is not interrupted */
        begin = clock_ns();
        channel_ask(pair[1]);
        took = clock_ns() - begin;
        least = took < least ? took : least;
    }
    assert_true(least < 400000);
    assert_int_equal(channel_receive(pair[1], &done, sizeof done, WIRE_DONE, NULL, 0, &err), ST_OK);
    shutdown(pair[0], SHUT_RDWR);
    begin = clock_ns();
    channel_ask(pair[1]);
    assert_true(clock_ns() - begin < 1000 * 1000000ll);
    assert_int_equal(channel_receive(pair[1], &done, sizeof done, WIRE_DONE, NULL, 0, &err), ST_DEVICE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_pair, close_pair)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),        TEST(test_wrong_heads),      TEST(test_wrong_sizes),
        TEST(test_wrong_descriptors), TEST(test_the_next_is_read), TEST(test_closed_peer),
        TEST(test_timeout),           TEST(test_nobody_reads),     TEST(test_asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
