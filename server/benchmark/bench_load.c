/* SPDX-License-Identifier: MIT */
#include "server/benchmark/bench_load.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "server/client/http/answer_body.h"
#include "server/http/listen.h"

enum { PROBLEM_MAX = 8192, FIELDS_MAX = 128, TIMES_MAX = 4096, SHOWN_MAX = 160 };

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

/* Takes what is no 200. A search that found nothing to hide has done its work. */
static enum status read_refusal(struct client *client, struct answer_body *body, unsigned code,
                                struct error *err) {
    uint8_t text[PROBLEM_MAX];
    struct buf problem;
    buf_init_fixed(&problem, text, sizeof text - 1);
    const enum status status = answer_body_keep(body, &problem, err);
    text[problem.size] = '\0';
    if (status != ST_OK) {
        return status;
    }
    client->nothing = code == 422 && strstr((const char *)text, "\"urn:blurd:problem:no-region\"");
    return client->nothing ? ST_OK
                           : fail(err, ST_INTERNAL, "HTTP/1.1 %u: %.*s", code, SHOWN_MAX, (const char *)text);
}

static enum status read_answer(struct client *client, struct client_socket *socket, struct error *err) {
    struct answer_body body = {.socket = socket};
    struct answer_head head;
    enum status status = answer_body_begin(&body, false, &head, err);
    if (status == ST_OK && head.status != 200) {
        return read_refusal(client, &body, head.status, err);
    }
    if (status == ST_OK) {
        snprintf(client->backend, sizeof client->backend, "%s", head.backend);
        status = answer_body_skip(&body, err);
    }
    return status;
}

static enum status ask_once(struct client *client, struct client_socket *socket, const char *head,
                            struct error *err) {
    const struct bytes first = {(const uint8_t *)head, strlen(head)};
    int64_t start = clock_ns();
    enum status status = client_socket_send(socket, first, true, err);
    status = status == ST_OK ? client_socket_send(socket, client->load->body, false, err) : status;
    status = status == ST_OK ? read_answer(client, socket, err) : status;
    client->last_ns = clock_ns();
    client->time_us[client->answers % TIMES_MAX] = (uint32_t)((client->last_ns - start) / 1000);
    client->answers += status == ST_OK;
    return status;
}

static void *run_client(void *argument) {
    struct client *client = argument;
    char head[BENCH_TARGET_MAX + FIELDS_MAX];
    uint8_t buffer[CLIENT_SOCKET_BUFFER];
    struct client_socket socket = {.fd = -1, .buffer = buffer};
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             client->load->target, client->load->body.size);
    client->status = listen_reach("127.0.0.1", client->load->port, &socket.fd, &client->error);
    if (client->status != ST_OK) {
        return NULL;
    }
    while (client->status == ST_OK && clock_ns() < client->end_ns) {
        client->status = ask_once(client, &socket, head, &client->error);
    }
    client_socket_close(&socket);
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
