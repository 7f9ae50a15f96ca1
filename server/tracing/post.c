/* SPDX-License-Identifier: MIT */
#include "server/tracing/post.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"

enum { HEAD_MAX = 512, STATUS_MAX = 64, STATUS_AT = 9 /* HTTP/1.1 200 */ };

static int connect_to(const struct addrinfo *address) {
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = POST_TIMEOUT_S};
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
        return fd;
    }
    int reason = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = reason;
    return -1;
}

/* The name is looked up each time: a collector may move. */
static enum status open_connection(const struct endpoint *endpoint, int *fd, struct error *err) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int failure = getaddrinfo(endpoint->host, endpoint->port, &hints, &found);
    if (failure) {
        return fail(err, ST_BUSY, "%s: %s", endpoint->host, gai_strerror(failure));
    }
    *fd = -1;
    for (const struct addrinfo *one = found; one && *fd < 0; one = one->ai_next) {
        *fd = connect_to(one);
    }
    int reason = errno;
    freeaddrinfo(found);
    return *fd >= 0 ? ST_OK
                    : fail(err, ST_BUSY, "cannot connect to %s:%s: %s", endpoint->host, endpoint->port,
                           strerror(reason));
}

static bool send_all(int fd, const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        ssize_t sent = send(fd, next, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        next += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Receives the status line, which a slow endpoint could send byte by byte. */
static enum status read_status(int fd, struct error *err) {
    char line[STATUS_MAX + 1] = "";
    size_t size = 0;
    int64_t until = clock_ns() + POST_TIMEOUT_S * INT64_C(1000000000);
    while (size <= STATUS_AT && clock_ns() < until) {
        ssize_t got = recv(fd, line + size, STATUS_MAX - size, 0);
        if (got == 0) {
            return fail(err, ST_BUSY, "the collector closed the connection");
        }
        if (got < 0) {
            return errno == EAGAIN
                       ? fail(err, ST_TIMEOUT, "the collector does not answer within %d s", POST_TIMEOUT_S)
                       : fail(err, ST_BUSY, "receiving the answer: %s", strerror(errno));
        }
        size += (size_t)got;
    }
    if (size <= STATUS_AT) {
        return fail(err, ST_TIMEOUT, "the collector does not answer within %d s", POST_TIMEOUT_S);
    }
    line[strcspn(line, "\r\n")] = '\0';
    bool good = strncmp(line, "HTTP/1.", strlen("HTTP/1.")) == 0 && line[STATUS_AT] == '2';
    return good ? ST_OK : fail(err, ST_BUSY, "the collector answers %s", line);
}

enum status post_json(const struct endpoint *endpoint, struct bytes body, struct error *err) {
    int fd;
    enum status status = open_connection(endpoint, &fd, err);
    if (status != ST_OK) {
        return status;
    }
    bool brackets = strchr(endpoint->host, ':') != NULL;
    char head[HEAD_MAX];
    int size = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                        endpoint->path, brackets ? "[" : "", endpoint->host, brackets ? "]" : "",
                        endpoint->port, body.size);
    if (!send_all(fd, head, (size_t)size) || !send_all(fd, body.data, body.size)) {
        status = errno == EAGAIN
                     ? fail(err, ST_TIMEOUT, "the collector does not read within %d s", POST_TIMEOUT_S)
                     : fail(err, ST_BUSY, "sending: %s", strerror(errno));
    } else {
        status = read_status(fd, err);
    }
    close(fd);
    return status;
}
