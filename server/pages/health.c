/* SPDX-License-Identifier: MIT */
#include "server/pages/health.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sysexits.h>
#include <unistd.h>

#include "server/http/listen.h"
#include "server/pages/tls_client.h"

enum { STATUS_LINE_MIN = 12, ARGUMENTS_MAX = 64 << 10, WORDS_MAX = 512 };

/* Reads at most `size` bytes; 0 when that is not possible. */
static size_t read_whole(const char *path, char *text, size_t size) {
    size_t have = 0;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        do {
            got = read(fd, text + have, size - have);
            have += got > 0 ? (size_t)got : 0;
        } while (got > 0);
        close(fd);
    }
    return got == 0 ? have : 0;
}

/* Points at the words of a text, each of which ends with a zero byte. Returns their number, at most
 * WORDS_MAX. */
static int split(char *text, size_t size, char *words[WORDS_MAX]) {
    int count = 0;
    for (size_t at = 0; at < size && count < WORDS_MAX; at += strlen(text + at) + 1) {
        words[count++] = text + at;
    }
    return count;
}

static bool is_daemon(const char *word) {
    const char *slash = strrchr(word, '/');
    return strcmp(slash ? slash + 1 : word, "blurd") == 0;
}

/* The index of the word that names the daemon; `count` without one. */
static int find_daemon(char *const *words, int count) {
    int at = 0;
    while (at < count && !(is_daemon(words[at]) && (at == 0 || strcmp(words[at - 1], "--") == 0))) {
        at++;
    }
    return at;
}

enum status health_config(struct config *config, const char *path, char *const *environment,
                          struct error *err) {
    static char text[ARGUMENTS_MAX + 1]; /* the last byte stays zero */
    char *words[WORDS_MAX];
    enum config_action action;
    int count = split(text, read_whole(path, text, ARGUMENTS_MAX), words);
    int at = find_daemon(words, count);
    return at < count ? config_load(config, &action, count - at, words + at, environment, err) : ST_OK;
}

struct door {
    const char *address;
    uint16_t port;
    bool tls;
};

static enum status choose_door(const struct config *config, struct door *door, struct error *err) {
    bool second = config->admin_listen[0] != '\0';
    door->address = second ? config->admin_listen : config->listen;
    door->port = (uint16_t)(second ? config->admin_port : config->port);
    door->tls = !second && config->tls_cert[0];
    return door->port || listen_is_local(door->address)
               ? ST_OK
               : fail(err, ST_ARGUMENT, "--check-health needs a port other than 0");
}

static enum status plain_ask(int fd, struct bytes request, char *answer, size_t size, struct error *err) {
    if (send(fd, request.data, request.size, MSG_NOSIGNAL) != (ssize_t)request.size ||
        recv(fd, answer, size, MSG_WAITALL) != (ssize_t)size) {
        return fail(err, ST_ARGUMENT, "the connection is closed without an answer");
    }
    return ST_OK;
}

/* Sends a request and reads the status line of the answer. */
static enum status ask(int fd, bool tls, struct error *err) {
    static const char text[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    struct bytes request = {(const uint8_t *)text, sizeof text - 1};
    char line[STATUS_LINE_MIN + 1] = "";
    enum status status = (tls ? tls_client_ask : plain_ask)(fd, request, line, STATUS_LINE_MIN, err);
    if (status != ST_OK) {
        return status;
    }
    if (strncmp(line, "HTTP/1.1 ", 9) != 0) {
        return fail(err, ST_ARGUMENT, "what answers is no HTTP server");
    }
    return strcmp(line + 9, "200") == 0 ? ST_OK
                                        : fail(err, ST_ARGUMENT, "/readyz answers with status %s", line + 9);
}

enum status health_check(const struct config *config, struct error *err) {
    struct door door;
    int fd;
    enum status status = choose_door(config, &door, err);
    if (status == ST_OK) {
        status = listen_reach(door.address, door.port, &fd, err);
    }
    if (status == ST_OK) {
        status = ask(fd, door.tls, err);
        close(fd);
    }
    return status;
}

/* Limits all steps of a health check, connecting and TLS included. Only calls async-signal-safe functions. */
static void end_late(int signal) {
    static const char text[] = "blurd: /readyz is not answered within 2 s\n";
    (void)signal;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written < 0 ? EX_IOERR : EXIT_FAILURE);
}

/* Orchestrators give a check some seconds; the daemon answers within one. */
int health_answer(struct config *config, bool first, char *const *environment) {
    struct error err = {0};
    signal(SIGALRM, end_late);
    alarm(2);
    enum status status = first ? health_config(config, "/proc/1/cmdline", environment, &err) : ST_OK;
    status = status == ST_OK ? health_check(config, &err) : status;
    if (status != ST_OK) {
        fprintf(stderr, "blurd: %s\n", err.text);
    }
    return status == ST_OK ? EX_OK : EXIT_FAILURE;
}
