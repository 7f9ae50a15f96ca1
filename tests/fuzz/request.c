/* SPDX-License-Identifier: MIT
 * The bytes that a client sends on a connection to the whole server in this process: sockets, framing,
 * routes, parameters, a worker, pictures. Cut into pieces where the bytes 0xFF 0xFE stand. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/memory.h"
#include "core/log.h"
#include "cpu/cpu.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "server/overload.h"
#include "server/routes.h"
#include "server/service.h"
#include "server/work.h"
#include "tests/fuzz/common/fuzz.h"

enum { QUIET_MS = 2, SILENCES = 4, ANSWER_MAX = 4 << 20 };

static struct config config;
static struct service service;
static struct http *http;
static uint8_t *answer;

static void configure(void) {
    config_default(&config);
    config.port = 0;
    snprintf(config.listen, sizeof config.listen, "127.0.0.1");
    snprintf(config.gpus, sizeof config.gpus, "none");
    config.max_pixels = 1 << 16;
    config.max_body = 1 << 16;
    config.max_scans = 20;
    config.memory = 64 << 20;
    config.work_timeout_ms = 1000;
    config.workers = 1;
    config.queue = 4;
    config.event_threads = 1;
}

static void finish(void) {
    http_quiesce(http);
    workers_finish(service.workers, true);
    http_stop(http);
    workers_destroy(service.workers);
    backend_close(service.cpu);
    slot_pool_destroy(service.slots);
    settings_finish(&service.settings);
    metrics_destroy(service.metrics);
    close(service.idle_event);
    free(answer);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    struct error err = {0};
    unsigned operations;
    int fd = -1;
    struct settings *settings = NULL;
    const char *const *names = routes_names(&operations);
    configure();
    log_init(LOG_ERROR, LOG_TEXT);
    service = (struct service){.config = &config,
                               .http_library = http_library(),
                               .idle_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    service.metrics = metrics_create(names, operations);
    service.slots = slot_pool_create(memory_budget(config.memory));
    answer = malloc(ANSWER_MAX);
    fuzz_require(service.metrics && service.slots && answer, "there is memory");
    fuzz_require(cpu_backend_open("auto", &service.cpu, &err) == ST_OK, "there is a CPU");
    service.backend[service.backend_count++] = service.cpu;
    metrics_name_backend(service.metrics, 1, service.cpu->name);
    settings_init(&service.settings);
    fuzz_require(settings_create(&settings, &config, &err) == ST_OK, "the options hold");
    settings_replace(&service.settings, settings);
    http_prepare();
    fuzz_require(overload_start_workers(&service, config.workers,
                                        &(struct workers_calls){work_run, work_refuse}, &err) == ST_OK &&
                     listen_bind(config.listen, &service.port, &fd, &err) == ST_OK &&
                     listen_start(fd, &err) == ST_OK && http_start(&http, &service, fd, false, &err) == ST_OK,
                 "the server starts");
    atexit(finish);
    return 0;
}

/* Closing resets the connection, so that no port waits for stray packets. */
static int connect_to_server(void) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(service.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const struct linger reset = {.l_onoff = 1};
    static const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz_require(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0,
                 "the server accepts");
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Sends all and reads answers meanwhile; false when the server has closed. */
static bool send_piece(int fd, struct bytes piece) {
    while (piece.size > 0) {
        ssize_t sent = send(fd, piece.data, piece.size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        size_t done = sent > 0 ? (size_t)sent : 0;
        piece = (struct bytes){piece.data + done, piece.size - done};
    }
    return true;
}

static void send_all(int fd, struct bytes input) {
    while (input.size > 0) {
        size_t cut = 0;
        while (cut < input.size &&
               !(cut + 1 < input.size && input.data[cut] == 0xFF && input.data[cut + 1] == 0xFE)) {
            cut++;
        }
        if (!send_piece(fd, (struct bytes){input.data, cut})) {
            return;
        }
        cut += cut < input.size ? 2 : 0;
        input = (struct bytes){input.data + cut, input.size - cut};
    }
}

/* Reads until the server closes or stays silent, a little longer while a request is under way. */
static size_t read_answers(int fd) {
    size_t used = 0;
    unsigned silences = 0;
    while (used < ANSWER_MAX) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int count = poll(&ready, 1, QUIET_MS);
        if (count > 0) {
            ssize_t got = recv(fd, answer + used, ANSWER_MAX - used, 0);
            if (got <= 0) {
                return used;
            }
            used += (size_t)got;
        } else if (atomic_load(&service.active) == 0 || ++silences == SILENCES) {
            return used;
        }
    }
    return used;
}

static bool is_allowed(unsigned status) {
    static const unsigned allowed[] = {100, 200, 400, 401, 404, 405, 408, 413,
                                       414, 415, 422, 431, 501, 503, 505};
    for (unsigned i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        if (status == allowed[i]) {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = connect_to_server();
    send_all(fd, (struct bytes){data, size});
    size_t used = read_answers(fd);
    close(fd);
    if (used > 0) {
        unsigned status = 0;
        answer[used < ANSWER_MAX ? used : ANSWER_MAX - 1] = '\0';
        fuzz_require(sscanf((const char *)answer, "HTTP/1.%*1[01] %3u ", &status) == 1 && is_allowed(status),
                     "the status is one of those promised");
    }
    return 0;
}
