/* SPDX-License-Identifier: MIT */
#include "server/process/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/log.h"

enum { FIRST_FD = 3, FDS_MAX = 2 };

/* A variable's value as a number; -1 when it is not a number. */
static long number(const char *text) {
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    return text && *text && *end == '\0' ? value : -1;
}

static enum status check_socket(int fd, struct error *err) {
    int type = 0, listening = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
        return fail(err, ST_ARGUMENT, "descriptor %d of LISTEN_FDS: %s", fd, strerror(errno));
    }
    size = sizeof listening;
    if (type != SOCK_STREAM || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
        !listening) {
        return fail(err, ST_ARGUMENT, "descriptor %d of LISTEN_FDS is not a listening stream socket", fd);
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return fail(err, ST_ARGUMENT, "descriptor %d of LISTEN_FDS: %s", fd, strerror(errno));
    }
    return ST_OK;
}

/* Whether the list of names, separated by colons, says "admin" at that place. */
static bool is_admin(const char *names, long place) {
    for (; names && place > 0; place--) {
        names = strchr(names, ':');
        names = names ? names + 1 : NULL;
    }
    return names && strcspn(names, ":") == strlen("admin") && strncmp(names, "admin", strlen("admin")) == 0;
}

static enum status take(struct activation *activation, long count, const char *names, struct error *err) {
    if (count < 1 || count > FDS_MAX) {
        return fail(err, ST_ARGUMENT,
                    "LISTEN_FDS is %ld, it must be 1 or 2: the listener and that for admins", count);
    }
    for (long i = 0; i < count; i++) {
        int fd = FIRST_FD + (int)i;
        enum status status = check_socket(fd, err);
        if (status != ST_OK) {
            return status;
        }
        bool admin = is_admin(names, i) || (activation->listen >= 0 && activation->admin < 0);
        int *place = admin ? &activation->admin : &activation->listen;
        if (*place >= 0) {
            return fail(err, ST_ARGUMENT, "LISTEN_FDNAMES names two sockets \"admin\"");
        }
        *place = fd;
    }
    return ST_OK;
}

enum status activation_take(struct activation *activation, struct error *err) {
    *activation = (struct activation){.listen = -1, .admin = -1};
    const char *count = getenv("LISTEN_FDS");
    enum status status = ST_OK;
    if (count && number(getenv("LISTEN_PID")) == getpid()) {
        status = take(activation, number(count), getenv("LISTEN_FDNAMES"), err);
    }
    /* Child processes must not inherit it. */
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return status;
}

int activation_connect(void) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
        return -1;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = '\0'; /* the abstract name space */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) != 0) {
        log_message(LOG_WARNING, "notify", "cannot reach the service manager: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

void activation_notify(int socket, const char *state) {
    if (socket >= 0 && send(socket, state, strlen(state), MSG_NOSIGNAL) < 0) {
        log_message(LOG_WARNING, "notify", "cannot send %s to the service manager: %s", state,
                    strerror(errno));
    }
}
