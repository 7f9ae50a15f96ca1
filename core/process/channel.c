/* SPDX-License-Identifier: MIT */
#include "core/process/channel.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/tuned.h"

union control {
    char memory[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* A socket queues only a few unread messages (net.unix.max_dgram_qlen), so sending to a stopped process
 * blocks. This bounds the wait. */
static const struct timeval send_timeout = {.tv_sec = 1};

enum status channel_pair(int pair[2], struct error *err) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return fail(err, ST_BUSY, "cannot make a socket pair: %s", strerror(errno));
    }
    for (unsigned i = 0; i < 2; i++) {
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof send_timeout);
    }
    return ST_OK;
}

enum status channel_send(int socket, void *message, size_t size, unsigned kind, int fd, struct error *err) {
    struct channel_head *head = message;
    *head = (struct channel_head){.magic = CHANNEL_MAGIC, .kind = kind, .size = size};
    struct iovec part = {message, size};
    union control control = {0};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        packet.msg_control = control.memory;
        packet.msg_controllen = sizeof control.memory;
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? ST_OK
                                 : fail(err, ST_DEVICE, "cannot reach the other side: %s", strerror(errno));
}

static bool readable(int socket, int ms) {
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    return poll(&ready, 1, ms) > 0;
}

void channel_ask(int socket) {
    int64_t until = clock_ns() + TUNED_ASK_NS;
    while (!readable(socket, 0) && clock_ns() < until) {
        sched_yield();
    }
}

static enum status wait_readable(int socket, int64_t ms, struct error *err) {
    int64_t until = clock_ns() + ms * 1000000;
    for (;;) {
        int64_t left = (until - clock_ns() + 999999) / 1000000;
        if (readable(socket, left < 0 ? 0 : (int)left)) {
            return ST_OK;
        }
        if (left <= 0) {
            return fail(err, ST_TIMEOUT, "no answer within %lld ms", (long long)ms);
        }
    }
}

/* Takes the descriptor out of a packet; -1: there was none. Returns false, with all of them closed, when
 * there are several: alignment leaves room for a second one. */
static bool take_descriptor(struct msghdr *packet, int *fd) {
    struct cmsghdr *header = CMSG_FIRSTHDR(packet);
    *fd = -1;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
        return true;
    }
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof *fd;
    for (size_t i = 0; i < count; i++) {
        memcpy(fd, CMSG_DATA(header) + i * sizeof *fd, sizeof *fd);
        if (count > 1) {
            close(*fd);
            *fd = -1;
        }
    }
    return count <= 1;
}

/* Returns the full size of the packet, even if it does not fit; 0 or less without one. The sandbox of the
 * front permits recv only, which cannot receive a descriptor; the kernel drops it. */
static ssize_t receive_plain(int socket, void *message, size_t size) {
    ssize_t got;
    do {
        got = recv(socket, message, size, MSG_TRUNC);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Also receives the descriptor of the packet, or -1. Returns 1 for a packet that must be refused. */
static ssize_t receive_both(int socket, void *message, size_t size, int *fd) {
    struct iovec part = {message, size};
    union control control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.memory,
                            .msg_controllen = sizeof control.memory};
    ssize_t got;
    do {
        got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC | MSG_TRUNC);
    } while (got < 0 && errno == EINTR);
    bool single = got < 0 || take_descriptor(&packet, fd);
    return single && !(packet.msg_flags & MSG_CTRUNC) ? got : 1;
}

enum status channel_receive(int socket, void *message, size_t size, unsigned kind, int *fd, int64_t ms,
                            struct error *err) {
    enum status status = ms < 0 ? ST_OK : wait_readable(socket, ms, err);
    if (status != ST_OK) {
        return status;
    }
    int received = -1;
    ssize_t got = fd ? receive_both(socket, message, size, &received) : receive_plain(socket, message, size);
    const struct channel_head *head = message;
    bool wellformed = got == (ssize_t)size && head->magic == CHANNEL_MAGIC && head->kind == kind &&
                      head->size == size && (received >= 0) == (fd != NULL);
    if (!wellformed) {
        if (received >= 0) {
            close(received);
        }
        return fail(err, ST_DEVICE, "%s",
                    got > 0 ? "the other side sent something else" : "the other side is gone");
    }
    if (fd) {
        *fd = received;
    }
    return ST_OK;
}
