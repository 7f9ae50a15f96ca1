/* SPDX-License-Identifier: MIT
 * The only file that knows libmicrohttpd. It feeds requests with what arrives and sends
 * what they answer; a request that needs a worker is suspended meanwhile.
 *
 * Rules of the library that shape this file: a response may be queued in the first call
 * of the handler or after the last byte of the body, never between; a suspended
 * connection has no timeout and must be resumed before MHD_stop_daemon, or that aborts;
 * its only timeout is for inactivity (see watchdog.h).
 *
 * Its own threads are not used: when exactly 128 events are there at once (that is how many
 * it asks for), they wait for one more before they look at any. In MHD_run it never waits;
 * our threads do (loop.h). Several share the listening socket, each with a daemon. */
#include "server/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/log.h"
#include "server/answer.h"
#include "server/farewell.h"
#include "server/http_log.h"
#include "server/loop.h"
#include "server/pace.h"
#include "server/peer.h"
#include "server/request.h"
#include "server/service.h"
#include "server/tls.h"
#include "server/watchdog.h"

enum {
    CONNECTION_MEMORY = 64 << 10, /* headers and target have to fit; also the read size */
    BODY_RATE = 256 << 10,        /* bytes a second that a declared body must at least come at */
    EVENT_THREADS_MAX = 64,       /* as --event-threads */
    ADMIN_CONNECTIONS = 64,
};

/* As strict as the library can be. Before 0.9.77.1 that would only add a check of Host,
 * which framing.c makes, and whose answer 0.9.75 sends with its header doubled. */
#if MHD_VERSION >= 0x00097701
#define OPTION_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define OPTION_STRICT MHD_OPTION_STRICT_FOR_CLIENT, 0
#endif

enum phase { PHASE_HEADERS, PHASE_BODY, PHASE_WORK, PHASE_SENT };

/* A thread and its part of the connections. */
struct event_thread {
    struct http *http;
    struct MHD_Daemon *daemon;
    struct loop *loop;
    struct pace pace;
    bool ended; /* a connection has, since the library last looked whether it may accept */
};

struct http {
    struct service *service;
    struct watchdog *watchdog;
    struct farewell *farewell;
    int listen_fd;
    bool admin, tls, quiesced;
    unsigned threads;
    struct event_thread thread[EVENT_THREADS_MAX];
    _Atomic unsigned open; /* connections */
    struct http_log log;
};

/* A TCP connection; requests follow one another on it. */
struct connection {
    struct event_thread *thread;
    struct MHD_Connection *handle;
    struct watch *watch;
    int fd;
    bool asked; /* a request line has come */
    bool early; /* answered before the request was read to its end */
};

static struct connection *connection_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void connection_start(struct event_thread *thread, struct MHD_Connection *handle, void **context) {
    struct http *http = thread->http;
    struct metrics *metrics = http->service->metrics;
    atomic_fetch_add(&http->open, 1);
    metrics_add(metrics, METRIC_CONNECTIONS, 1);
    metrics_add(metrics, METRIC_CONNECTIONS_OPEN, 1);
    struct connection *connection = calloc(1, sizeof *connection);
    *context = connection;
    if (!connection) {
        return; /* its first request is refused for want of a context */
    }
    connection->thread = thread;
    thread->pace.handshakes += http->tls;
    connection->handle = handle;
    connection->fd = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->watch = watch_add(http->watchdog, connection->fd);
    struct settings *settings = settings_take(&http->service->settings);
    watch_phase(connection->watch, WATCH_HEADERS, settings->config.header_timeout_ms, NULL);
    settings_drop(settings);
}

static void count_end(struct metrics *metrics, enum watch_end end) {
    metrics_add(metrics, METRIC_CONNECTIONS_LATE, end == WATCH_LATE);
    metrics_add(metrics, METRIC_CONNECTIONS_SLOW, end == WATCH_SLOW);
    metrics_add(metrics, METRIC_CONNECTIONS_SHED, end == WATCH_SHED);
}

static void connection_end(struct event_thread *thread, struct connection *connection) {
    struct http *http = thread->http;
    struct service *service = http->service;
    thread->ended = true;
    if (connection) {
        thread->pace.handshakes -= http->tls && !connection->asked;
        count_end(service->metrics, watch_ended(connection->watch));
        watch_remove(connection->watch);
        if (connection->early) {
            farewell_add(http->farewell, connection->fd);
        }
        free(connection);
    }
    metrics_add(service->metrics, METRIC_CONNECTIONS_OPEN, -1);
    if (atomic_fetch_sub(&http->open, 1) == 1 && atomic_load(&service->draining)) {
        eventfd_write(service->idle_event, 1);
    }
}

static void on_connection(void *cls, struct MHD_Connection *handle, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_start(cls, handle, context);
    } else {
        connection_end(cls, *context);
        *context = NULL;
    }
}

/* The request line has been read; `target` is raw, and what is returned becomes the
 * request's context. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *handle) {
    struct http *http = cls;
    struct connection *connection = connection_of(handle);
    struct request *request = connection ? request_create(http->service, target, http->admin) : NULL;
    if (request) {
        connection->thread->pace.handshakes -= http->tls && !connection->asked;
        connection->asked = true;
        request->connection = connection;
        peer_name(connection->fd, request->client, sizeof request->client);
        watch_phase(connection->watch, WATCH_HEADERS, request->settings->config.header_timeout_ms,
                    request->id);
    }
    return request;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                 const char *value, size_t value_size) {
    (void)kind;
    request_header(cls, name, name_size, value ? value : "", value ? value_size : 0);
    return MHD_YES;
}

/* Whether the connection ends with this answer. Said in time, a proxy sends no further
 * request into a connection that closes. */
static bool is_last(const struct request *request) {
    const struct connection *connection = request->connection;
    return request->close || atomic_load(&request->service->draining) ||
           watchdog_wants_last(connection->thread->http->watchdog);
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
    bool whole = true;
    for (unsigned i = 0; i < answer->header_count; i++) {
        whole &=
            MHD_add_response_header(response, answer->header[i].name, answer->header[i].value) == MHD_YES;
    }
    if (is_last(request)) {
        whole &= MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
    }
    if (!whole) { /* without memory: rather no answer than one that lacks its type */
        MHD_destroy_response(response);
        return NULL;
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
    watch_phase(connection->watch, WATCH_WRITE, request->settings->config.write_timeout_ms, NULL);
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
        connection->early = true;
        return send_answer(request);
    }
    int64_t allowance = (int64_t)(request->framing.content_length / BODY_RATE) * 1000;
    watch_phase(connection->watch, WATCH_BODY, request->settings->config.body_timeout_ms + allowance,
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
        http_resume(request);
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
    ((struct connection *)request->connection)->thread->pace.moved = true;
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
    (void)cls;
    struct connection *connection = connection_of(handle);
    struct watch *watch = connection ? connection->watch : NULL;
    struct request *request = *context;
    *context = NULL;
    if (request) {
        enum watch_end end = watch_ended(watch);
        int64_t idle_ms = request->settings->config.idle_timeout_ms;
        request_destroy(request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK,
                        end == WATCH_LATE || end == WATCH_SLOW);
        watch_phase(watch, WATCH_IDLE, idle_ms, NULL);
    }
}

/* Targets are taken apart by request.c, raw; the library's own view is not used. */
static size_t no_unescape(void *cls, struct MHD_Connection *handle, char *text) {
    (void)cls, (void)handle;
    return strlen(text);
}

/* The library calls this where it would abort: its own invariants are broken. */
static void on_panic(void *cls, const char *file, unsigned line, const char *reason) {
    (void)cls;
    log_message(LOG_ERROR, "microhttpd", "panic in %s:%u: %s", file, line, reason ? reason : "");
    _exit(70); /* EX_SOFTWARE */
}

static unsigned connections_max(const struct http *http) {
    return http->admin ? ADMIN_CONNECTIONS : http->service->config->connections;
}

static struct MHD_Daemon *start_daemon(struct event_thread *thread, unsigned connections) {
    struct http *http = thread->http;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_PRIORITIES, 0, (char[]){TLS_PRIORITIES}},
                                   {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)tls_retrieve},
                                   {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        (http->tls ? MHD_USE_TLS : 0) | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, http_log_message, &http->log, OPTION_STRICT,
        MHD_OPTION_LISTEN_SOCKET, http->listen_fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        thread, MHD_OPTION_UNESCAPE_CALLBACK, no_unescape, NULL, MHD_OPTION_ARRAY, http->tls ? tls : &tls[2],
        MHD_OPTION_END);
}

static int64_t run_daemon(void *context) {
    struct event_thread *thread = context;
    MHD_UNSIGNED_LONG_LONG ms;
    thread->ended = false;
    pace_begin(&thread->pace);
    MHD_run(thread->daemon);
    if (thread->ended) {
        return 0;
    }
    return pace_wait(&thread->pace, MHD_get_timeout(thread->daemon, &ms) == MHD_YES ? (int64_t)ms : -1,
                     http_log_is_fresh(&thread->http->log));
}

static void quiesce_daemon(void *context) {
    MHD_quiesce_daemon(((struct event_thread *)context)->daemon);
}

static enum status start_thread(struct http *http, unsigned index, struct error *err) {
    struct event_thread *thread = &http->thread[index];
    unsigned most = connections_max(http);
    thread->http = http;
    unsigned share = most / http->threads + (index < most % http->threads);
    thread->daemon = start_daemon(thread, share ? share : 1);
    const union MHD_DaemonInfo *epoll =
        thread->daemon ? MHD_get_daemon_info(thread->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!epoll) {
        return fail(err, ST_BUSY, "cannot start the HTTP library: %s", strerror(errno));
    }
    return loop_start(&thread->loop, epoll->epoll_fd, run_daemon, thread, err);
}

enum status http_start(struct http **http, struct service *service, int fd, bool admin, struct error *err) {
    struct http *started = calloc(1, sizeof *started);
    if (!started) {
        close(fd);
        return fail(err, ST_BUSY, "out of memory");
    }
    *started = (struct http){.service = service, .listen_fd = fd, .admin = admin};
    started->tls = !admin && service->config->tls_cert[0];
    started->threads = admin ? 1 : loop_threads(service->config->event_threads, service->cores);
    struct watchdog_limits limits = settings_limits(service->config, connections_max(started), started->tls);
    enum status status = watchdog_create(&started->watchdog, &limits, err);
    if (status == ST_OK && started->tls) {
        tls_serve(&service->settings);
        status =
            MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK2) == MHD_YES
                ? ST_OK
                : fail(err, ST_ARGUMENT, "tls_cert is given, but this libmicrohttpd is built without TLS");
    }
    if (status == ST_OK) {
        status = farewell_create(&started->farewell, err);
    }
    started->log = (struct http_log){.metrics = service->metrics, .watchdog = started->watchdog};
    MHD_set_panic_func(on_panic, NULL);
    for (unsigned i = 0; i < started->threads && status == ST_OK; i++) {
        status = start_thread(started, i, err);
    }
    if (status != ST_OK) {
        http_stop(started);
        return status;
    }
    *http = started;
    return ST_OK;
}

void http_configure(struct http *http, const struct config *config) {
    struct watchdog_limits limits = settings_limits(config, connections_max(http), http->tls);
    watchdog_configure(http->watchdog, &limits);
}

/* Afterwards the listening socket is not the library's to close. */
static void stop_accepting(struct http *http) {
    for (unsigned i = 0; i < http->threads && !http->quiesced; i++) {
        struct event_thread *thread = &http->thread[i];
        if (thread->loop) {
            loop_call(thread->loop, quiesce_daemon);
        } else if (thread->daemon) {
            quiesce_daemon(thread);
        }
    }
    http->quiesced = true;
}

void http_quiesce(struct http *http) {
    stop_accepting(http);
    watchdog_drain(http->watchdog);
}

unsigned http_connections(const struct http *http) {
    return atomic_load(&http->open);
}

void http_stop(struct http *http) {
    if (!http) {
        return;
    }
    stop_accepting(http);
    for (unsigned i = 0; i < http->threads; i++) {
        loop_stop(http->thread[i].loop);
        if (http->thread[i].daemon) {
            MHD_stop_daemon(http->thread[i].daemon);
        }
    }
    farewell_destroy(http->farewell);
    watchdog_destroy(http->watchdog);
    close(http->listen_fd);
    free(http);
}

void http_resume(struct request *request) {
    const struct connection *connection = request->connection;
    struct loop *loop = connection->thread->loop;
    MHD_resume_connection(connection->handle); /* from now on the connection may end */
    loop_wake(loop);
}

bool http_peer_gone(const struct request *request) {
    return peer_closed(((struct connection *)request->connection)->fd, NULL);
}

const char *http_library(void) {
    static char text[40];
    snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}
