/* SPDX-License-Identifier: MIT */
#include "server/health.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "server/listen.h"

/* Orchestrators give a check some seconds; the daemon takes less than one of them. */
enum { SECONDS = 2, STATUS_LINE_MIN = 12 };

static enum status choose_door(const struct config *config, const char **address, uint16_t *port,
                               struct error *err) {
    bool second = config->admin_listen[0] != '\0';
    *address = second ? config->admin_listen : config->listen;
    *port = (uint16_t)(second ? config->admin_port : config->port);
    if (!second && config->tls_cert[0]) {
        return fail(err, ST_ARGUMENT, "--check-health speaks no TLS, it needs admin_listen");
    }
    return *port ? ST_OK : fail(err, ST_ARGUMENT, "--check-health needs a port other than 0");
}

/* The first line of the answer to one request, as far as it says the status. */
static enum status ask(int fd, struct error *err) {
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char line[STATUS_LINE_MIN + 1] = "";
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)(sizeof request - 1) ||
        recv(fd, line, STATUS_LINE_MIN, MSG_WAITALL) != STATUS_LINE_MIN) {
        return fail(err, ST_ARGUMENT, "/readyz is not answered within %d s", SECONDS);
    }
    if (strncmp(line, "HTTP/1.1 ", 9) != 0) {
        return fail(err, ST_ARGUMENT, "what answers is no HTTP server");
    }
    return strcmp(line + 9, "200") == 0 ? ST_OK
                                        : fail(err, ST_ARGUMENT, "/readyz answers with status %s", line + 9);
}

enum status health_check(const struct config *config, struct error *err) {
    const char *address;
    uint16_t port;
    int fd;
    enum status status = choose_door(config, &address, &port, err);
    if (status == ST_OK) {
        status = listen_reach(address, port, SECONDS, &fd, err);
    }
    if (status == ST_OK) {
        status = ask(fd, err);
        close(fd);
    }
    return status;
}
