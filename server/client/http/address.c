/* SPDX-License-Identifier: MIT */
#include "server/client/http/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WORD_MAX = 512 };

static enum status wrong(const char *word, struct error *err) {
    return fail(err, ST_ARGUMENT,
                "\"%.100s\" is no address of a daemon: http://host:port, https://host:port or unix:PATH",
                word);
}

/* host:port, [v6]:port or host. */
static enum status parse_authority(const char *text, const char *word, struct daemon_address *address,
                                   struct error *err) {
    const bool bracket = *text == '[';
    const char *end = bracket ? strchr(text, ']') : text + strcspn(text, ":/");
    if (!end) {
        return wrong(word, err);
    }
    const char *port = end + bracket;
    const int length = (int)(end - text) - bracket;
    snprintf(address->port, sizeof address->port, "%s", address->tls ? "443" : "80");
    if (*port == ':') {
        const size_t digits = strspn(port + 1, "0123456789");
        if (digits == 0 || digits > 5) {
            return wrong(word, err);
        }
        snprintf(address->port, sizeof address->port, "%.*s", (int)digits, port + 1);
        port += 1 + digits;
    }
    if (length < 1 || length >= ADDRESS_HOST_MAX || strspn(port, "/") != strlen(port)) {
        return wrong(word, err);
    }
    snprintf(address->host, sizeof address->host, "%.*s", length, text + bracket);
    return ST_OK;
}

static enum status parse(const char *word, struct daemon_address *address, struct error *err) {
    const size_t local = sizeof OPTION_LOCAL_PREFIX - 1;
    *address = (struct daemon_address){.tls = strncmp(word, "https://", 8) == 0};
    if (strncmp(word, OPTION_LOCAL_PREFIX, local) == 0 && word[local] && strlen(word) <= OPTION_ADDRESS_MAX) {
        address->local = true;
        snprintf(address->host, sizeof address->host, "%.*s", OPTION_LOCAL_PATH_MAX, word + local);
        return ST_OK;
    }
    if (!address->tls && strncmp(word, "http://", 7) != 0) {
        return wrong(word, err);
    }
    return parse_authority(word + (address->tls ? 8 : 7), word, address, err);
}

enum status addresses_parse(const char *list, struct daemon_address address[ADDRESSES_MAX], size_t *count,
                            struct error *err) {
    enum status status = ST_OK;
    *count = 0;
    while (*list && status == ST_OK) {
        char word[WORD_MAX];
        const size_t length = strcspn(list, ",");
        if (*count == ADDRESSES_MAX) {
            return fail(err, ST_ARGUMENT, "more than %d daemons", ADDRESSES_MAX);
        }
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        status = parse(word, &address[(*count)++], err);
        list += length + (list[length] == ',');
    }
    return status;
}

static void limit_waits(int fd, unsigned seconds) {
    const struct timeval most = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

static int try_connect(int family, const void *to, socklen_t size, unsigned seconds) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    limit_waits(fd, seconds);
    if (connect(fd, to, size) == 0) {
        return fd;
    }
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int connect_local(const char *path, unsigned seconds) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, path, strlen(path) + 1);
    return try_connect(AF_UNIX, &to, sizeof to, seconds);
}

static enum status connect_host(const struct daemon_address *address, unsigned seconds, int *fd,
                                struct error *err) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int failure = getaddrinfo(address->host, address->port, &hints, &found);
    if (failure) {
        return fail(err, ST_BUSY, "%s has no address: %s", address->host, gai_strerror(failure));
    }
    *fd = -1;
    for (const struct addrinfo *one = found; one && *fd < 0; one = one->ai_next) {
        *fd = try_connect(one->ai_family, one->ai_addr, one->ai_addrlen, seconds);
    }
    const int reason = errno;
    freeaddrinfo(found);
    if (*fd >= 0) {
        setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    }
    errno = reason;
    return ST_OK;
}

enum status address_connect(const struct daemon_address *address, unsigned seconds, int *fd,
                            struct error *err) {
    enum status status = ST_OK;
    if (address->local) {
        *fd = connect_local(address->host, seconds);
    } else {
        status = connect_host(address, seconds, fd, err);
    }
    return status != ST_OK || *fd >= 0 ? status
                                       : fail(err, ST_BUSY, "cannot connect to %s%s%s: %s", address->host,
                                              address->local ? "" : ":", address->port, strerror(errno));
}
