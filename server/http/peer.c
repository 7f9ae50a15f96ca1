/* SPDX-License-Identifier: MIT */
#include "server/http/peer.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool peer_closed(int fd, bool *dead) {
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    bool closed = poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR));
    *dead = closed && (peer.revents & (POLLHUP | POLLERR));
    return closed;
}

bool peer_has_unread(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) == 0 && count > 0;
}

/* Fields that an older kernel does not fill stay 0. */
static struct tcp_info counters(int fd) {
    struct tcp_info info;
    memset(&info, 0, sizeof info);
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        memset(&info, 0, sizeof info);
    }
    return info;
}

uint64_t peer_received(int fd) {
    return counters(fd).tcpi_bytes_received;
}

uint64_t peer_confirmed(int fd) {
    return counters(fd).tcpi_bytes_acked;
}

void peer_name(int fd, char *text, size_t size) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.any.sa_family = AF_UNSPEC}; /* stays so where the peer is gone */
    socklen_t length = sizeof address;
    text[0] = '\0';
    getpeername(fd, &address.any, &length);
    if (address.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address.v6.sin6_addr, text, (socklen_t)size);
    } else if (address.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address.v4.sin_addr, text, (socklen_t)size);
    }
}
