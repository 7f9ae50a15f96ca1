/* SPDX-License-Identifier: MIT
 * The answer of a series, which begins before the request is complete. libmicrohttpd sends no answer before
 * it has read a body, but it also writes nothing while it reads one (docs/adr/0080). So it reads the body,
 * and this module writes the answer to the socket, on the same event thread: a head once the first frame is
 * done, then a chunk for each frame, and the last chunk when all are sent. Without the last chunk the answer
 * is not whole. The connection is closed behind it.
 *
 * While frames are in progress as many as allowed, or wait for a client that does not read, the connection is
 * paused and TCP holds the client back.
 *
 * All functions but stream_thread_init are called on the event thread. */
#ifndef BLURD_SERVER_SERIES_STREAM_H
#define BLURD_SERVER_SERIES_STREAM_H

#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct lingering;
struct loop;
struct request;
struct stream;
struct watch;

/* The streams of an event thread. */
struct stream_thread {
    struct loop *loop; /* set by the caller before the first stream */
    int epoll;        /* for the loop to wait for: the library's, and sockets that cannot be written to now */
    bool drained;     /* all streams know that the daemon is about to end */
    unsigned blocked; /* streams that wait for that */
    int64_t retry_at; /* clock_ns; INT64_MAX: no frame waits for room in the queue */
    struct stream *first;
    pthread_mutex_t lock;
    struct request *answered; /* frames that workers have given back; under the lock */
};

/* What a stream knows of its connection. */
struct stream_socket {
    int fd;
    gnutls_session_t tls; /* NULL: none */
    struct watch *watch;
    struct lingering *lingering;
    void *connection;
    void (*resume)(
        void *connection); /* after STREAM_PAUSE: gives more of the body, or its end, to the stream */
};

enum stream_wish {
    STREAM_GO,    /* more of the body is wanted */
    STREAM_PAUSE, /* pause the connection until `resume` */
    STREAM_CLOSE, /* the answer has ended: close the connection */
};

/* `library` is the descriptor that is readable when the library has something to do. ST_BUSY without
 * descriptors. */
enum status stream_thread_init(struct stream_thread *thread, int library, struct error *err);

/* Every stream has ended. Allowed on a zeroed thread. */
void stream_thread_finish(struct stream_thread *thread);

/* Does what has become possible. Returns after how many milliseconds to call it again; -1: with the next
 * event. */
int64_t stream_thread_run(struct stream_thread *thread, bool draining);

/* Gives all streams up and resumes their connections. No worker may have a request. */
void stream_thread_stop(struct stream_thread *thread);

/* Begins with a request whose headers are complete and not refused. NULL without memory. */
struct stream *stream_begin(struct stream_thread *thread, struct request *request,
                            const struct stream_socket *socket);

/* Takes the next bytes of the body. *taken: how many of them; the others are to be given again. The library
 * goes on with what it has read of a connection that is paused: this takes nothing then, and wants nothing.
 * So does the next function. */
enum stream_wish stream_take(struct stream *stream, const uint8_t *data, size_t size, size_t *taken);

/* The body is complete. */
enum stream_wish stream_complete(struct stream *stream);

/* The connection ends, and the request is about to be freed. Returns whether the answer had ended as far as
 * it could: `request` has its problem, if any. */
bool stream_end(struct stream *stream);

#endif
