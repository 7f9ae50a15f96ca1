/* SPDX-License-Identifier: MIT
 * The only file that knows libmicrohttpd. It feeds requests with what arrives and sends
 * what they answer; a request that needs a worker is suspended meanwhile.
 *
 * Rules of the library that shape this file: a response may be queued in the first call
 * of the handler or after the last byte of the body, never between; a suspended
 * connection has no timeout and must be resumed before MHD_stop_daemon, or that aborts;
 * its only timeout is for inactivity (see watchdog.h). */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/cores.h"
#include "core/clock.h"
#include "core/log.h"
#include "server/answer.h"
#include "server/listen.h"
#include "server/request.h"
#include "server/service.h"

enum {
    CONNECTION_MEMORY = 64 << 10, /* headers and target have to fit; also the read size */
    BODY_RATE = 256 << 10,        /* bytes a second that a declared body must at least come at */
    EVENT_THREADS_MAX = 8,
    LOG_INTERVAL_NS = 1000000000, /* the library's messages: one a second */
};

/* As strict as the library can be. Before 0.9.77.1 that would only add a check of Host,
 * which framing.c makes, and whose answer 0.9.75 sends with its header doubled. */
#if MHD_VERSION >= 0x00097701
#define OPTION_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define OPTION_STRICT MHD_OPTION_STRICT_FOR_CLIENT, 0
#endif

enum phase { PHASE_HEADERS, PHASE_BODY, PHASE_WORK, PHASE_SENT };

struct http {
    struct service *service;
    struct MHD_Daemon *daemon;
    int listen_fd;
    _Atomic int64_t last_log; /* clock_ns of the last message of the library */
};

/* A TCP connection; requests follow one another on it. */
struct connection {
    struct MHD_Connection *handle;
    struct watch *watch;
    int fd;
};

static struct connection *connection_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void on_connection(void *cls, struct MHD_Connection *handle, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct service *service = ((struct http *)cls)->service;
    struct connection *connection = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection = calloc(1, sizeof *connection);
        *context = connection;
        if (!connection) {
            return; /* its first request is refused for want of a context */
        }
        connection->handle = handle;
        connection->fd = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        connection->watch = watch_add(service->watchdog, connection->fd);
        watch_phase(connection->watch, WATCH_HEADERS, service->config->header_timeout_ms, NULL);
        metrics_add(service->metrics, METRIC_CONNECTIONS, 1);
        metrics_add(service->metrics, METRIC_CONNECTIONS_OPEN, 1);
    } else if (connection) {
        watch_remove(connection->watch);
        free(connection);
        *context = NULL;
        metrics_add(service->metrics, METRIC_CONNECTIONS_OPEN, -1);
    }
}

static void name_client(struct MHD_Connection *handle, struct request *request) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    if (address && address->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, request->client,
                  sizeof request->client);
    } else if (address && address->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, request->client,
                  sizeof request->client);
    }
}

/* The request line has been read; `target` is raw, and what is returned becomes the
 * request's context. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *handle) {
    struct http *http = cls;
    struct connection *connection = connection_of(handle);
    struct request *request = connection ? request_create(http->service, target) : NULL;
    if (request) {
        request->connection = connection;
        name_client(handle, request);
        watch_phase(connection->watch, WATCH_HEADERS, http->service->config->header_timeout_ms, request->id);
    }
    return request;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                 const char *value, size_t value_size) {
    (void)kind;
    request_header(cls, name, name_size, value ? value : "", value ? value_size : 0);
    return MHD_YES;
}

/* The library copies the headers; the body goes over to it without a copy. */
static struct MHD_Response *make_response(struct request *request) {
    struct answer *answer = &request->answer;
    static char nothing[] = "";
    struct MHD_Response *response = answer->body.size > 0
                                        ? MHD_create_response_from_buffer_with_free_callback_cls(
                                              answer->body.size, answer->body.data, free, answer->body.data)
                                        : MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    if (!response) {
        return NULL;
    }
    if (answer->body.size > 0) {
        answer->body = (struct buf){0};
    }
    for (unsigned i = 0; i < answer->header_count; i++) {
        MHD_add_response_header(response, answer->header[i].name, answer->header[i].value);
    }
    if (request->close || atomic_load(&request->service->draining)) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    }
    return response;
}

static enum MHD_Result send_answer(struct request *request) {
    struct connection *connection = request->connection;
    struct MHD_Response *response = make_response(request);
    if (!response) {
        return MHD_NO;
    }
    request->phase = PHASE_SENT;
    watch_phase(connection->watch, WATCH_WRITE, request->service->config->write_timeout_ms, NULL);
    enum MHD_Result result = MHD_queue_response(connection->handle, request->answer.http_status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result begin(struct request *request, const char *method, const char *version) {
    struct connection *connection = request->connection;
    MHD_get_connection_values_n(connection->handle, MHD_HEADER_KIND, on_header, request);
    request_begin(request, method, version);
    request->phase = PHASE_BODY;
    if (request_must_answer_early(request)) {
        return send_answer(request);
    }
    int64_t allowance = (int64_t)(request->framing.content_length / BODY_RATE) * 1000;
    watch_phase(connection->watch, WATCH_BODY, request->service->config->body_timeout_ms + allowance,
                request->id);
    return MHD_YES;
}

static enum MHD_Result end(struct request *request) {
    struct connection *connection = request->connection;
    if (request_end(request)) {
        return send_answer(request);
    }
    request->phase = PHASE_WORK;
    watch_phase(connection->watch, WATCH_WORK, 0, NULL);
    /* Suspended first: a worker may be done, and resume, before this function returns. */
    MHD_suspend_connection(connection->handle);
    if (request_submit(request) != ST_OK) {
        MHD_resume_connection(connection->handle);
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *handle, const char *url,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **context) {
    (void)cls, (void)handle, (void)url;
    struct request *request = *context;
    if (!request) {
        return MHD_NO; /* no memory for it: close */
    }
    switch ((enum phase)request->phase) {
    case PHASE_HEADERS:
        return begin(request, method, version);
    case PHASE_BODY:
        if (*size == 0) {
            return end(request);
        }
        if (!request_body(request, data, *size)) {
            return MHD_NO;
        }
        *size = 0;
        return MHD_YES;
    case PHASE_WORK:
        return request->answered ? send_answer(request) : MHD_YES;
    default:
        return MHD_YES;
    }
}

static void on_completed(void *cls, struct MHD_Connection *handle, void **context,
                         enum MHD_RequestTerminationCode code) {
    struct service *service = ((struct http *)cls)->service;
    struct connection *connection = connection_of(handle);
    struct watch *watch = connection ? connection->watch : NULL;
    struct request *request = *context;
    *context = NULL;
    request_destroy(request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK, watch_expired(watch));
    watch_phase(watch, WATCH_IDLE, service->config->idle_timeout_ms, NULL);
}

/* Targets are taken apart by request.c, raw; the library's own view is not used. */
static size_t no_unescape(void *cls, struct MHD_Connection *handle, char *text) {
    (void)cls, (void)handle;
    return strlen(text);
}

/* At the descriptor limit the library complains millions of times in a few seconds. */
static void on_message(void *cls, const char *format, va_list arguments) {
    struct http *http = cls;
    int64_t now = clock_ns();
    int64_t last = atomic_load(&http->last_log);
    if (now - last < LOG_INTERVAL_NS || !atomic_compare_exchange_strong(&http->last_log, &last, now)) {
        metrics_add(http->service->metrics, METRIC_LOG_SUPPRESSED, 1);
        return;
    }
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = '\0';
    log_message(LOG_INFO, "microhttpd", "%s", text);
}

/* The library calls this where it would abort: its own invariants are broken. */
static void on_panic(void *cls, const char *file, unsigned line, const char *reason) {
    (void)cls;
    log_message(LOG_ERROR, "microhttpd", "panic in %s:%u: %s", file, line, reason ? reason : "");
    _exit(70); /* EX_SOFTWARE */
}

static unsigned event_threads(const struct config *config) {
    uint32_t automatic = cores_usable() / 4;
    automatic = automatic < 1 ? 1 : automatic > EVENT_THREADS_MAX ? EVENT_THREADS_MAX : automatic;
    return config->event_threads ? config->event_threads : automatic;
}

static struct MHD_Daemon *start_daemon(struct http *http) {
    const struct config *config = http->service->config;
    unsigned threads = event_threads(config);
    /* The library warns about a pool of one thread. */
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        http->service->port, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_message, http,
        OPTION_STRICT, MHD_OPTION_LISTEN_SOCKET, http->listen_fd, MHD_OPTION_ARRAY, pool,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_target, http, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_UNESCAPE_CALLBACK,
        no_unescape, NULL, MHD_OPTION_END);
}

enum status http_start(struct http **http, struct service *service, struct error *err) {
    struct http *started = calloc(1, sizeof *started);
    if (!started) {
        return fail(err, ST_BUSY, "out of memory");
    }
    started->service = service;
    service->port = (uint16_t)service->config->port;
    enum status status = listen_open(service->config->listen, &service->port, &started->listen_fd, err);
    if (status != ST_OK) {
        free(started);
        return status;
    }
    MHD_set_panic_func(on_panic, NULL);
    started->daemon = start_daemon(started);
    if (!started->daemon) {
        close(started->listen_fd);
        free(started);
        return fail(err, ST_BUSY, "cannot start the HTTP library: %s", strerror(errno));
    }
    *http = started;
    return ST_OK;
}

void http_quiesce(struct http *http) {
    MHD_quiesce_daemon(http->daemon);
}

void http_stop(struct http *http) {
    if (http) {
        MHD_stop_daemon(http->daemon);
        close(http->listen_fd); /* after quiescing it is ours again */
        free(http);
    }
}

void http_resume(struct request *request) {
    MHD_resume_connection(((struct connection *)request->connection)->handle);
}

bool http_peer_gone(const struct request *request) {
    struct pollfd peer = {.fd = ((struct connection *)request->connection)->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

const char *http_library(void) {
    static char text[40];
    snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}
