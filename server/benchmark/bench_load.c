/* SPDX-License-Identifier: MIT */
#include "server/benchmark/bench_load.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "server/http/listen.h"

enum { HEAD_MAX = 8192, FIELDS_MAX = 128, PIECE = 64 << 10, TIMES_MAX = 4096, SHOWN_MAX = 160 };

/* A connection and its thread. */
struct client {
    const struct bench_load *load;
    int64_t end_ns;
    pthread_t thread;
    uint64_t answers;
    int64_t last_ns;
    uint32_t time_us[TIMES_MAX]; /* of the last answers */
    char backend[BENCH_BACKEND_MAX];
    bool nothing; /* the last answer refuses, since nothing was found */
    enum status status;
    struct error error;
};

static enum status send_all(int fd, const void *data, size_t size, int flags, struct error *err) {
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t sent = send(fd, from, size, MSG_NOSIGNAL | flags);
        if (sent <= 0) {
            return fail(err, ST_INTERNAL, "the daemon closed a connection: %s", strerror(errno));
        }
        from += sent;
        size -= (size_t)sent;
    }
    return ST_OK;
}

/* The value of a field of the answer's head, without its line end. */
static bool find_field(const char *head, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *from = line + 3 + length;
            from += strspn(from, " ");
            snprintf(value, size, "%.*s", (int)strcspn(from, "\r"), from);
            return true;
        }
    }
    return false;
}

/* Reads up to the end of the head. *have counts all that was read. */
static enum status read_head(int fd, char head[HEAD_MAX + 1], size_t *have, struct error *err) {
    for (*have = 0; *have < HEAD_MAX;) {
        ssize_t got = recv(fd, head + *have, HEAD_MAX - *have, 0);
        if (got <= 0) {
            return fail(err, ST_INTERNAL, "the daemon closed a connection without an answer");
        }
        *have += (size_t)got;
        head[*have] = '\0';
        if (strstr(head, "\r\n\r\n")) {
            return ST_OK;
        }
    }
    return fail(err, ST_INTERNAL, "the head of an answer is longer than %d bytes", HEAD_MAX);
}

/* Takes what is no 200. A search that found nothing to hide has done its work; `head` holds *have bytes. */
static enum status read_refusal(struct client *client, int fd, char head[HEAD_MAX + 1], size_t have,
                                struct error *err) {
    char text[24];
    const char *body = strstr(head, "\r\n\r\n") + 4;
    size_t size = find_field(head, "Content-Length", text, sizeof text) ? strtoull(text, NULL, 10) : 0;
    const size_t all = (size_t)(body - head) + size;
    while (have < all && have < HEAD_MAX) {
        ssize_t got = recv(fd, head + have, HEAD_MAX - have, 0);
        if (got <= 0) {
            return fail(err, ST_INTERNAL, "the daemon closed a connection within an answer");
        }
        have += (size_t)got;
        head[have] = '\0';
    }
    client->nothing = have == all && strncmp(head, "HTTP/1.1 422", 12) == 0 &&
                      strstr(body, "\"urn:blurd:problem:no-region\"");
    return client->nothing ? ST_OK : fail(err, ST_INTERNAL, "%.12s: %.*s", head, SHOWN_MAX, body);
}

static enum status read_answer(struct client *client, int fd, struct error *err) {
    char head[HEAD_MAX + 1], text[24], piece[PIECE];
    size_t have;
    enum status status = read_head(fd, head, &have, err);
    if (status != ST_OK) {
        return status;
    }
    const char *body = strstr(head, "\r\n\r\n") + 4;
    if (strncmp(head, "HTTP/1.1 200", 12) != 0) {
        return read_refusal(client, fd, head, have, err);
    }
    if (!find_field(head, "Content-Length", text, sizeof text)) {
        return fail(err, ST_INTERNAL, "an answer has no Content-Length");
    }
    find_field(head, "X-Backend", client->backend, sizeof client->backend);
    size_t left = (size_t)strtoull(text, NULL, 10) - (have - (size_t)(body - head));
    while (left > 0) {
        ssize_t got = recv(fd, piece, left < sizeof piece ? left : sizeof piece, 0);
        if (got <= 0) {
            return fail(err, ST_INTERNAL, "the daemon closed a connection within an answer");
        }
        left -= (size_t)got;
    }
    return ST_OK;
}

static enum status ask_once(struct client *client, int fd, const char *head, struct error *err) {
    int64_t start = clock_ns();
    enum status status = send_all(fd, head, strlen(head), MSG_MORE, err);
    if (status == ST_OK) {
        status = send_all(fd, client->load->body.data, client->load->body.size, 0, err);
    }
    if (status == ST_OK) {
        status = read_answer(client, fd, err);
    }
    client->last_ns = clock_ns();
    client->time_us[client->answers % TIMES_MAX] = (uint32_t)((client->last_ns - start) / 1000);
    client->answers += status == ST_OK;
    return status;
}

static void *run_client(void *argument) {
    struct client *client = argument;
    char head[BENCH_TARGET_MAX + FIELDS_MAX];
    int fd;
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             client->load->target, client->load->body.size);
    client->status = listen_reach("127.0.0.1", client->load->port, &fd, &client->error);
    if (client->status != ST_OK) {
        return NULL;
    }
    while (client->status == ST_OK && clock_ns() < client->end_ns) {
        client->status = ask_once(client, fd, head, &client->error);
    }
    close(fd);
    return NULL;
}

static int compare_times(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum status collect(const struct client *client, unsigned count, int64_t start_ns,
                           struct bench_result *result, struct error *err) {
    uint32_t *times = malloc((size_t)count * TIMES_MAX * sizeof *times);
    size_t known = 0;
    int64_t last = start_ns;
    if (!times) {
        return fail(err, ST_BUSY, "out of memory");
    }
    for (unsigned i = 0; i < count; i++) {
        size_t some = client[i].answers < TIMES_MAX ? (size_t)client[i].answers : TIMES_MAX;
        memcpy(times + known, client[i].time_us, some * sizeof *times);
        known += some;
        result->answers += client[i].answers;
        last = client[i].last_ns > last ? client[i].last_ns : last;
    }
    qsort(times, known, sizeof *times, compare_times);
    result->seconds = (double)(last - start_ns) / 1e9;
    result->p50_ms = known ? times[known / 2] / 1e3 : 0;
    result->p99_ms = known ? times[known - 1 - known / 100] / 1e3 : 0;
    memcpy(result->backend, client[0].backend, sizeof result->backend);
    result->nothing = client[0].nothing;
    free(times);
    return ST_OK;
}

enum status bench_load_run(const struct bench_load *load, struct bench_result *result, struct error *err) {
    struct client *client = calloc(load->connections, sizeof *client);
    int64_t start = clock_ns();
    unsigned count = 0;
    enum status status = client ? ST_OK : fail(err, ST_BUSY, "out of memory");
    *result = (struct bench_result){0};
    for (; status == ST_OK && count < load->connections; count++) {
        client[count].load = load;
        client[count].end_ns = start + load->duration_ns;
        int problem = pthread_create(&client[count].thread, NULL, run_client, &client[count]);
        if (problem) {
            status = fail(err, ST_BUSY, "no thread for a connection: %s", strerror(problem));
            break;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(client[i].thread, NULL);
        if (status == ST_OK && client[i].status != ST_OK) {
            status = client[i].status;
            *err = client[i].error;
        }
    }
    status = status == ST_OK ? collect(client, count, start, result, err) : status;
    free(client);
    return status;
}
