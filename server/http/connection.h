/* SPDX-License-Identifier: MIT
 * Connections: feeds incoming data to requests and sends their answers. A connection is suspended while a
 * worker has its request. Used by http.c; libmicrohttpd calls these functions on the connection's event
 * thread. */
#ifndef BLURD_SERVER_HTTP_CONNECTION_H
#define BLURD_SERVER_HTTP_CONNECTION_H

#include <stdatomic.h>
#include <stdbool.h>

#include "server/http/acceptor.h"
#include "server/http/body_throttle.h"
#include "server/http/direct_receive.h"
#include "server/http/handshake_backoff.h"
#include "server/http/http_log.h"
#include "server/http/loop.h"
#include "server/http/respond.h"
#include "server/series/stream.h"

struct service;

enum { EVENT_THREADS_MAX = INTAKES_MAX }; /* the maximum of --event-threads */

/* An event thread and its share of the connections. */
struct event_thread {
    struct http *http;
    struct MHD_Daemon *daemon;
    struct loop *loop;
    struct handshake_backoff backoff;
    struct body_throttle throttle;
    struct stream_thread streams;
    struct intake *intake;
    unsigned begun; /* connections that have begun, by connection_notify */
};

struct http {
    struct service *service;
    struct watchdog *watchdog;
    struct lingering *lingering;
    struct acceptor *acceptor;
    int listen_fd;
    bool admin, tls;
    unsigned threads;
    struct event_thread thread[EVENT_THREADS_MAX];
    struct intakes intakes;
    struct http_log log;
};

/* A TCP connection, on which requests follow one another. */
struct connection {
    struct body_throttle_turn turn; /* is first */
    struct event_thread *thread;
    struct MHD_Connection *handle;
    struct watch *watch;
    struct direct_receive direct;
    struct stream *stream; /* of a series; NULL: none */
    int fd;
    const char *target, *target_end; /* of the request, in the library's buffer */
    char client[48];                 /* address of the peer */
    bool greets;                     /* with TLS, until a request line is received: counts as a handshake */
    bool early;                      /* answered before the request was read completely */
};

/* MHD_OPTION_NOTIFY_CONNECTION: a connection begins or ends. `cls` is the struct event_thread. */
void connection_notify(void *cls, struct MHD_Connection *handle, void **context,
                       enum MHD_ConnectionNotificationCode code);

/* Counts a connection of the thread as closed. Called once for each connection that the thread got, also for
 * one that the library refused. */
void connection_closed(struct event_thread *thread);

/* MHD_OPTION_URI_LOG_CALLBACK: the request line was read. `target` is raw; the result becomes the request's
 * context. Here and below, `cls` is the struct http. */
void *connection_target(void *cls, const char *target, struct MHD_Connection *handle);

/* Resumes the connections of the thread whose bodies may be read now, or with `all` each that waits. Returns
 * after how many milliseconds to call it again; -1: with the next event. */
int64_t connection_continue(struct event_thread *thread, bool all);

/* The handler of MHD_start_daemon, and MHD_OPTION_NOTIFY_COMPLETED. */
enum MHD_Result connection_request(void *cls, struct MHD_Connection *handle, const char *url,
                                   const char *method, const char *version, const char *data, size_t *size,
                                   void **context);
void connection_completed(void *cls, struct MHD_Connection *handle, void **context,
                          enum MHD_RequestTerminationCode code);

#endif
