/* SPDX-License-Identifier: MIT */
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 4096
}; /* beyond it a client waits a second for its next try; the kernel may have a lower limit */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};
_Static_assert(sizeof(struct sockaddr_un) - offsetof(struct sockaddr_un, sun_path) ==
                   OPTION_LOCAL_PATH_MAX + 1,
               "the option's limit is the kernel's");

static const size_t prefix = sizeof OPTION_LOCAL_PREFIX - 1;

bool listen_is_local(const char *address) {
    return strncmp(address, OPTION_LOCAL_PREFIX, prefix) == 0;
}

static socklen_t parse(const char *text, uint16_t port, union address *address) {
    memset(address, 0, sizeof *address);
    if (listen_is_local(text) && strlen(text + prefix) <= OPTION_LOCAL_PATH_MAX) {
        address->local.sun_family = AF_UNIX;
        memcpy(address->local.sun_path, text + prefix, strlen(text + prefix) + 1);
        return sizeof address->local;
    }
    if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        return sizeof address->v6;
    }
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        return sizeof address->v4;
    }
    return 0;
}

/* Closes it and keeps errno. Returns -1. */
static int give_up(int fd) {
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int try_bind(const union address *address, socklen_t size) {
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1, off = 0;
    if (address->any.sa_family != AF_UNIX) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (address->any.sa_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    /* Until it listens, a path would look like what another daemon left. */
    const bool bound = bind(fd, &address->any, size) == 0;
    return bound && (address->any.sa_family != AF_UNIX || listen(fd, BACKLOG) == 0) ? fd : give_up(fd);
}

/* A connected socket; -1 with errno. */
static int try_connect(const char *text, uint16_t port) {
    union address address;
    socklen_t size = parse(text, port, &address);
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? -1 : connect(fd, &address.any, size) == 0 ? fd : give_up(fd);
}

/* Removes a socket to which no process listens: what a daemon left that has ended. */
static void remove_stale(const char *text) {
    struct stat file;
    if (lstat(text + prefix, &file) == 0 && S_ISSOCK(file.st_mode)) {
        int fd = try_connect(text, 0);
        if (fd >= 0) {
            close(fd);
        } else if (errno == ECONNREFUSED) {
            unlink(text + prefix);
        }
    }
}

enum status listen_bind(const char *text, uint16_t *port, int *fd, struct error *err) {
    union address address;
    const bool local = listen_is_local(text);
    socklen_t size = parse(text, *port, &address);
    if (size == 0) {
        return fail(err, ST_ARGUMENT, "cannot listen on \"%s\": neither an IP address nor a short path",
                    text);
    }
    if (local) {
        remove_stale(text);
    }
    *fd = try_bind(&address, size);
    if (*fd < 0 && strcmp(text, "::") == 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
        size = parse("0.0.0.0", *port, &address);
        *fd = try_bind(&address, size);
    }
    if (*fd < 0) {
        return local
                   ? fail(err, ST_ARGUMENT, "cannot listen on %s: %s", text, strerror(errno))
                   : fail(err, ST_ARGUMENT, "cannot listen on %s port %u: %s", text, *port, strerror(errno));
    }
    listen_port(*fd, port);
    return ST_OK;
}

enum status listen_start(int fd, struct error *err) {
    int already = 0;
    socklen_t size = sizeof already;
    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &already, &size);
    return already || listen(fd, BACKLOG) == 0 ? ST_OK
                                               : fail(err, ST_ARGUMENT, "cannot listen: %s", strerror(errno));
}

enum status listen_reach(const char *text, uint16_t port, int *fd, struct error *err) {
    bool both = strcmp(text, "::") == 0;
    const char *to = both || strcmp(text, "0.0.0.0") == 0 ? "127.0.0.1" : text;
    *fd = try_connect(to, port);
    if (*fd < 0 && both) { /* a machine without IPv4 */
        *fd = try_connect("::1", port);
    }
    if (*fd < 0 && listen_is_local(to)) {
        return fail(err, ST_ARGUMENT, "nothing answers on %s: %s", to, strerror(errno));
    }
    return *fd >= 0 ? ST_OK
                    : fail(err, ST_ARGUMENT, "nothing answers on %s port %u: %s", to, port, strerror(errno));
}

static bool is_loopback(const union address *address) {
    const struct in6_addr *v6 = &address->v6.sin6_addr;
    if (address->any.sa_family == AF_INET) {
        return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

/* The IP address of a socket; false when it has none. */
static bool read_address(int fd, union address *address) {
    socklen_t size = sizeof *address;
    memset(address, 0, sizeof *address);
    return getsockname(fd, &address->any, &size) == 0 &&
           (address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6);
}

bool listen_is_public(int fd) {
    union address address;
    return read_address(fd, &address) && !is_loopback(&address);
}

void listen_port(int fd, uint16_t *port) {
    union address address;
    bool known = read_address(fd, &address);
    *port = !known                              ? 0
            : address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port)
                                                : ntohs(address.v4.sin_port);
}

void listen_name(int fd, char name[LISTEN_NAME_MAX]) {
    union address address;
    uint16_t port;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    listen_port(fd, &port);
    getsockname(fd, &address.any, &size);
    if (address.any.sa_family == AF_UNIX) {
        snprintf(name, LISTEN_NAME_MAX, OPTION_LOCAL_PREFIX "%.*s", OPTION_LOCAL_PATH_MAX,
                 address.local.sun_path);
    } else {
        snprintf(name, LISTEN_NAME_MAX, "port %u", port);
    }
}

/* "localhost" is this machine's IPv4 loopback address wherever there is one. */
static bool is_at_localhost(const union address *address) {
    if (address->any.sa_family == AF_INET6) {
        return IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr);
    }
    uint32_t v4 = ntohl(address->v4.sin_addr.s_addr);
    return v4 == INADDR_ANY || v4 == INADDR_LOOPBACK;
}

static void write_host(const union address *address, char *host, socklen_t size) {
    if (is_at_localhost(address)) {
        snprintf(host, size, "localhost");
    } else if (address->any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address->v4.sin_addr, host, size);
    } else {
        char digits[INET6_ADDRSTRLEN] = "";
        inet_ntop(AF_INET6, &address->v6.sin6_addr, digits, sizeof digits);
        snprintf(host, size, "[%s]", digits);
    }
}

void listen_url(int fd, bool tls, char url[LISTEN_URL_MAX]) {
    union address address;
    char host[INET6_ADDRSTRLEN + 2] = "";
    uint16_t port;
    url[0] = '\0';
    if (read_address(fd, &address)) {
        listen_port(fd, &port);
        write_host(&address, host, sizeof host);
        snprintf(url, LISTEN_URL_MAX, "%s://%s:%u/", tls ? "https" : "http", host, port);
    }
}
