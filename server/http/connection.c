/* SPDX-License-Identifier: MIT
 * Rules of libmicrohttpd that shape this file: a response may be queued in the first call of the handler or
 * after the last byte of the body, never between; a suspended connection has no timeout and must be resumed
 * before MHD_stop_daemon, or that aborts; its only timeout is for inactivity (see watchdog.h). */
#include "server/http/connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "core/clock.h"
#include "server/answer.h"
#include "server/exchange.h"
#include "server/http/lingering.h"
#include "server/http/peer.h"
#include "server/http/watchdog.h"
#include "server/request.h"
#include "server/route.h"
#include "server/service.h"

enum {
    BODY_RATE = 256 << 10, /* bytes a second; the slowest a declared body may arrive */
    LARGE_BODY = 64 << 10, /* bytes; a smaller one comes with its headers */
};

enum phase { PHASE_HEADERS, PHASE_BODY, PHASE_STREAM, PHASE_WORK, PHASE_SENT };

static struct connection *connection_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* The certificate callback has no argument of its own: the session carries the settings to it. */
static void lend_settings(struct http *http, struct MHD_Connection *handle) {
    if (http->tls) {
        void *session = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
        gnutls_session_set_ptr(session, &http->service->settings);
    }
}

static void connection_start(struct event_thread *thread, struct MHD_Connection *handle, void **context) {
    struct http *http = thread->http;
    struct metrics *metrics = http->service->metrics;
    thread->begun++;
    metrics_add(metrics, METRIC_CONNECTIONS, 1);
    metrics_add(metrics, METRIC_CONNECTIONS_OPEN, 1);
    lend_settings(http, handle);
    struct connection *connection = calloc(1, sizeof *connection);
    *context = connection;
    if (!connection) {
        return; /* without a context its first request is refused */
    }
    connection->thread = thread;
    connection->greets = http->tls;
    thread->backoff.handshakes += connection->greets;
    connection->handle = handle;
    connection->fd = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    peer_name(connection->fd, connection->client, sizeof connection->client);
    direct_receive_set(connection->fd, http->tls ? NULL : &connection->direct);
    connection->watch = watchdog_add(http->watchdog, (unsigned)(thread - http->thread), connection->fd);
    struct settings *settings = settings_take(&http->service->settings);
    watchdog_enter(connection->watch, WATCH_HEADERS, settings->config.header_timeout_ms, NULL);
    settings_drop(settings);
}

static void count_end(struct metrics *metrics, enum watch_end end) {
    metrics_add(metrics, METRIC_CONNECTIONS_LATE, end == WATCH_LATE);
    metrics_add(metrics, METRIC_CONNECTIONS_SLOW, end == WATCH_SLOW);
    metrics_add(metrics, METRIC_CONNECTIONS_SHED, end == WATCH_SHED);
}

void connection_closed(struct event_thread *thread) {
    struct http *http = thread->http;
    if (intake_release(&http->intakes, thread->intake, http->acceptor) == 0 &&
        atomic_load(&http->service->draining)) {
        eventfd_write(http->service->idle_event, 1);
    }
}

static void connection_end(struct event_thread *thread, struct connection *connection) {
    struct http *http = thread->http;
    struct service *service = http->service;
    if (connection) {
        thread->backoff.handshakes -= connection->greets;
        direct_receive_set(connection->fd, NULL);
        count_end(service->metrics, watchdog_ended(connection->watch));
        watchdog_remove(connection->watch);
        if (connection->early) {
            lingering_add(http->lingering, connection->fd);
        }
        free(connection);
    }
    metrics_add(service->metrics, METRIC_CONNECTIONS_OPEN, -1);
    connection_closed(thread);
}

void connection_notify(void *cls, struct MHD_Connection *handle, void **context,
                       enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_start(cls, handle, context);
    } else {
        connection_end(cls, *context);
        *context = NULL;
    }
}

static void resume(struct request *request) {
    const struct connection *connection = request->connection;
    struct loop *loop = connection->thread->loop;
    MHD_resume_connection(connection->handle); /* from now on the connection may end */
    loop_wake(loop);
}

/* A client that has only closed its side for sending still reads its answer. */
static bool is_gone(const struct request *request) {
    bool dead;
    return peer_closed(((struct connection *)request->connection)->fd, &dead) && dead;
}

/* The request has its own copy of the target. The library would parse its copy into a record for each
 * argument, in the connection's memory, and close without an answer when there are too many. So it is shown a
 * single argument. The text lies in the connection's buffer. */
static void hide_arguments(const char *target) {
    for (char *at = (char *)(uintptr_t)target; (at = strchr(at, '&'));) {
        *at = ';';
    }
}

void *connection_target(void *cls, const char *target, struct MHD_Connection *handle) {
    struct http *http = cls;
    struct connection *connection = connection_of(handle);
    struct request *request = connection ? exchange_create(http->service, target, http->admin) : NULL;
    hide_arguments(target);
    if (request) {
        connection->target = target, connection->target_end = target + strlen(target);
        connection->thread->backoff.handshakes -= connection->greets, connection->greets = false;
        static const struct request_transport transport = {resume, is_gone};
        request->transport = &transport;
        request->connection = connection;
        _Static_assert(sizeof request->client == sizeof connection->client, "the address is copied whole");
        memcpy(request->client, connection->client, sizeof request->client);
        watchdog_enter(connection->watch, WATCH_HEADERS, request->settings->config.header_timeout_ms,
                       request->id);
    }
    return request;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                 const char *value, size_t value_size) {
    (void)kind;
    exchange_header(cls, name, name_size, value ? value : "", value ? value_size : 0);
    return MHD_YES;
}

/* Whether this answer is the connection's last. A proxy that is told so sends no further request into a
 * connection that closes. */
static bool is_last(const struct request *request) {
    const struct connection *connection = request->connection;
    return request->close || atomic_load(&request->service->draining) ||
           watchdog_wants_last(connection->thread->http->watchdog);
}

static enum MHD_Result send_answer(struct request *request) {
    struct connection *connection = request->connection;
    struct MHD_Response *response = respond_make(request, is_last(request));
    if (!response) {
        return MHD_NO;
    }
    request->phase = PHASE_SENT;
    body_throttle_end(&connection->thread->throttle, &connection->turn);
    watchdog_enter(connection->watch, WATCH_WRITE, request->settings->config.write_timeout_ms, NULL);
    enum MHD_Result result = MHD_queue_response(connection->handle, request->answer.http_status, response);
    MHD_destroy_response(response);
    return result;
}

static bool takes_a_turn(const struct request *request) {
    return request->framing.content_length > LARGE_BODY;
}

static void resume_stream(void *connection) {
    MHD_resume_connection(((struct connection *)connection)->handle);
}

static enum MHD_Result begin_stream(struct request *request) {
    struct connection *connection = request->connection;
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(connection->handle, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const struct stream_socket socket = {.fd = connection->fd,
                                         .tls = tls ? tls->tls_session : NULL,
                                         .watch = connection->watch,
                                         .lingering = connection->thread->http->lingering,
                                         .connection = connection,
                                         .resume = resume_stream};
    connection->stream = stream_begin(&connection->thread->streams, request, &socket);
    request->phase = PHASE_STREAM;
    return connection->stream ? MHD_YES : MHD_NO;
}

/* A piece of the body of a series, or its end. */
static enum MHD_Result take_stream(struct request *request, const char *data, size_t *size) {
    struct connection *connection = request->connection;
    size_t taken = 0;
    connection->direct.answers = *size == 0;
    enum stream_wish wish = *size == 0
                                ? stream_complete(connection->stream)
                                : stream_take(connection->stream, (const uint8_t *)data, *size, &taken);
    *size -= taken;
    if (wish == STREAM_PAUSE) {
        MHD_suspend_connection(connection->handle);
    }
    return wish == STREAM_CLOSE ? MHD_NO : MHD_YES;
}

static enum MHD_Result begin(struct request *request, const char *method, const char *version) {
    struct connection *connection = request->connection;
    MHD_get_connection_values_n(connection->handle, MHD_HEADER_KIND, on_header, request);
    if (MHD_get_version()[0] == '0') { /* 1.0 refuses zero bytes itself */
        framing_line(&request->framing, method, connection->target, connection->target_end, version);
    }
    exchange_begin(request, method, version);
    request->phase = PHASE_BODY;
    if (exchange_must_answer_early(request)) {
        connection->early = true;
        return send_answer(request);
    }
    int64_t allowance = (int64_t)(request->framing.content_length / BODY_RATE) * 1000;
    watchdog_enter(connection->watch, WATCH_BODY, request->settings->config.body_timeout_ms + allowance,
                   request->id);
    if (!request->answered && request->route->series) {
        return begin_stream(request);
    }
    if (!request->answered && takes_a_turn(request) &&
        !body_throttle_begin(&connection->thread->throttle, &connection->turn, clock_ns())) {
        MHD_suspend_connection(connection->handle);
    }
    return MHD_YES;
}

int64_t connection_continue(struct event_thread *thread, bool all) {
    if (thread->throttle.list[BODY_THROTTLE_WAITING].count == 0) {
        return -1; /* in most rounds, without a look at the clock */
    }
    int64_t now = clock_ns();
    struct body_throttle_turn *turn = body_throttle_next(&thread->throttle, now, all);
    if (!turn) {
        return body_throttle_wait_ms(&thread->throttle, now);
    }
    for (; turn; turn = body_throttle_next(&thread->throttle, now, all)) {
        MHD_resume_connection(((struct connection *)turn)->handle); /* `turn` is first */
    }
    return 0;
}

/* A request keeps its turn until it is answered if the GPU makes the whole answer from the file. All others
 * give their turns back now: they wait for a core, or are progressive files, of which the GPU reads hundreds
 * at a time. */
static void keep_turn(struct request *request) {
    struct connection *connection = request->connection;
    if (takes_a_turn(request) && request->job.ways[WAY_GPU_FILE].ns > 0) {
        body_throttle_work(&connection->thread->throttle, &connection->turn);
    } else {
        body_throttle_end(&connection->thread->throttle, &connection->turn);
    }
}

static enum MHD_Result end(struct request *request) {
    struct connection *connection = request->connection;
    connection->direct.answers = true;
    if (exchange_end(request)) {
        return send_answer(request);
    }
    request->phase = PHASE_WORK;
    watchdog_enter(connection->watch, WATCH_WORK, 0, NULL);
    /* Suspended first, because a worker may be done and resume before this function returns. */
    MHD_suspend_connection(connection->handle);
    if (exchange_submit(request) != ST_OK) {
        resume(request);
    } else {
        keep_turn(request);
    }
    return MHD_YES;
}

/* A piece of the body. The library believes that it has it in its buffer, but its first bytes may be in the
 * slot. After that the buffer has no more of the body, and the next bytes may go to the slot. */
static enum MHD_Result take_piece(struct request *request, const char *data, size_t size) {
    struct direct_receive *direct = &((struct connection *)request->connection)->direct;
    size_t direct_size = direct_receive_take(direct);
    if (direct_size > size) {
        return MHD_NO; /* the library does not read as direct_receive.h expects */
    }
    if ((direct_size > 0 && !exchange_body(request, NULL, direct_size)) ||
        (direct_size < size && !exchange_body(request, data + direct_size, size - direct_size))) {
        return MHD_NO;
    }
    uint8_t *to;
    size_t room = exchange_room(request, &to);
    if (room > 0) {
        direct_receive_open(direct, to, room);
    } else {
        direct_receive_close(direct);
    }
    return MHD_YES;
}

enum MHD_Result connection_request(void *cls, struct MHD_Connection *handle, const char *url,
                                   const char *method, const char *version, const char *data, size_t *size,
                                   void **context) {
    (void)cls, (void)handle, (void)url;
    struct request *request = *context;
    if (!request) {
        return MHD_NO; /* out of memory */
    }
    ((struct connection *)request->connection)->thread->backoff.moved = true;
    switch ((enum phase)request->phase) {
    case PHASE_HEADERS:
        return begin(request, method, version);
    case PHASE_BODY:
        if (*size == 0) { /* the body is complete, or the connection was resumed to read it */
            return request->received < request->framing.content_length ? MHD_YES : end(request);
        }
        if (take_piece(request, data, *size) != MHD_YES) {
            return MHD_NO;
        }
        *size = 0;
        return MHD_YES;
    case PHASE_STREAM:
        return take_stream(request, data, size);
    case PHASE_WORK:
        return request->answered ? send_answer(request) : MHD_YES;
    default:
        return MHD_YES;
    }
}

void connection_completed(void *cls, struct MHD_Connection *handle, void **context,
                          enum MHD_RequestTerminationCode code) {
    (void)cls;
    struct connection *connection = connection_of(handle);
    struct watch *watch = connection ? connection->watch : NULL;
    struct request *request = *context;
    *context = NULL;
    if (request) {
        enum watch_end end = watchdog_ended(watch);
        body_throttle_end(&connection->thread->throttle, &connection->turn);
        connection->direct.answers = false;
        direct_receive_close(&connection->direct); /* of a body that did not arrive completely */
        int64_t idle_ms = request->settings->config.idle_timeout_ms;
        bool sent =
            connection->stream ? stream_end(connection->stream) : code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
        connection->stream = NULL;
        exchange_destroy(request, sent, end == WATCH_LATE || end == WATCH_SLOW);
        watchdog_enter(watch, WATCH_IDLE, idle_ms, NULL);
    }
}
