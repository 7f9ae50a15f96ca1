/* SPDX-License-Identifier: MIT */
#include "server/series/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/clock.h"
#include "server/http/lingering.h"
#include "server/http/loop.h"
#include "server/http/watchdog.h"
#include "server/request.h"
#include "server/series/chunk.h"
#include "server/series/frames.h"
#include "server/service.h"

enum {
    EVENTS_MAX = 16,
    RETRY_MS = 20,        /* between two attempts to submit a frame that was refused */
    LINGER_MS = 2000,     /* for a client that still sends when its answer has ended */
    TLS_SEND_MAX = 16384, /* bytes of a record */
};

struct stream {
    struct stream_thread *thread;
    struct stream *previous, *next;
    struct request *request; /* NULL: the connection has ended, and workers still have frames */
    struct frames *frames;
    struct stream_socket socket;
    struct chunk chunk;     /* being sent */
    bool complete;          /* the body is */
    bool paused, blocked;   /* the connection; the chunk */
    bool over;              /* the answer has ended */
    bool cut;               /* as the client does not read it any more */
    bool waits;             /* a frame waits for room in the queue */
    bool moved;             /* a chunk was sent since the phase was entered */
    enum watch_phase phase; /* WATCH_BODY at first */
    atomic_bool gone;       /* the client gets no more frames */
};

/* ---- workers ---- */

/* Called by a worker, which may not touch the frame or its stream any more. */
static void give_back(struct request *frame) {
    struct stream_thread *thread = ((struct stream *)frame->connection)->thread;
    struct loop *loop = thread->loop;
    pthread_mutex_lock(&thread->lock);
    frame->next = thread->answered;
    thread->answered = frame;
    pthread_mutex_unlock(&thread->lock);
    loop_wake(loop);
}

static bool is_gone(const struct request *frame) {
    return atomic_load(&((struct stream *)frame->connection)->gone);
}

/* ---- the end ---- */

static void watch_writable(struct stream *stream, bool wanted) {
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = stream};
    if (wanted != stream->blocked) {
        epoll_ctl(stream->thread->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, stream->socket.fd, &event);
        stream->thread->blocked += wanted ? 1U : -1U;
        stream->blocked = wanted;
    }
}

static void resume(struct stream *stream) {
    if (stream->paused) {
        stream->paused = false;
        stream->socket.resume(stream->socket.connection);
    }
}

/* No more is sent. The library closes the connection when it is resumed, when more of the body comes, or when
 * the client closes its side. */
static void end(struct stream *stream) {
    stream->over = true;
    atomic_store(&stream->gone, true);
    watch_writable(stream, false);
    if (stream->cut) {
        shutdown(stream->socket.fd, SHUT_RDWR);
    } else if (!stream->complete) {
        if (stream->socket.tls) {
            gnutls_bye(stream->socket.tls, GNUTLS_SHUT_WR);
        }
        lingering_add(stream->socket.lingering, stream->socket.fd);
        shutdown(stream->socket.fd, SHUT_WR);
        watchdog_enter(stream->socket.watch, WATCH_STREAM, LINGER_MS, NULL);
    }
    resume(stream);
}

static void destroy(struct stream *stream) {
    *(stream->previous ? &stream->previous->next : &stream->thread->first) = stream->next;
    if (stream->next) {
        stream->next->previous = stream->previous;
    }
    frames_destroy(stream->frames);
    free(stream);
}

/* ---- sending ---- */

static ssize_t send_plain(int fd, const struct chunk *chunk) {
    struct iovec parts[CHUNK_PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = chunk_left(chunk, parts)};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* An unfinished record is repeated with the same bytes, as GnuTLS demands. */
static ssize_t send_tls(gnutls_session_t session, const struct chunk *chunk) {
    struct iovec parts[CHUNK_PARTS];
    chunk_left(chunk, parts);
    ssize_t sent = gnutls_record_send(session, parts[0].iov_base,
                                      parts[0].iov_len < TLS_SEND_MAX ? parts[0].iov_len : TLS_SEND_MAX);
    errno = sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED ? EAGAIN : EPIPE;
    return sent;
}

/* Sends as much of the chunk as the socket takes. Returns whether all is sent. */
static bool send_chunk(struct stream *stream) {
    struct chunk *chunk = &stream->chunk;
    while (chunk->sent < chunk->size) {
        ssize_t sent =
            stream->socket.tls ? send_tls(stream->socket.tls, chunk) : send_plain(stream->socket.fd, chunk);
        if (sent > 0) {
            chunk->sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            watch_writable(stream, true);
            return false;
        } else if (errno != EINTR) {
            stream->cut = true;
            end(stream);
            return false;
        }
    }
    watch_writable(stream, false);
    return true;
}

/* Makes the next chunk. Returns whether there is something to send. */
static bool make_chunk(struct stream *stream) {
    struct request *request = stream->request, *frame = frames_first(stream->frames);
    struct chunk *chunk = &stream->chunk;
    if (frame && frame->outcome.problem == PROBLEM_NONE) {
        return chunk_make_frame(chunk, request, frame);
    }
    if (frame) {
        chunk_make_problem(chunk, request, frame);
    } else if (!frames_are_left(stream->frames) && frames_have_ended(stream->frames)) {
        stream->complete ? chunk_make_last(chunk) : chunk_make_early_end(chunk, request);
    }
    return chunk->last || chunk->size > 0;
}

/* Sends what can be sent. */
static void send_all(struct stream *stream) {
    while (!stream->over && (stream->chunk.size > 0 || make_chunk(stream)) && send_chunk(stream)) {
        const bool last = stream->chunk.last;
        stream->moved = true;
        if (stream->chunk.frame) {
            frames_drop_first(stream->frames);
        }
        stream->chunk.size = stream->chunk.sent = 0;
        stream->chunk.last = false;
        if (last) {
            end(stream);
        }
    }
}

/* ---- reading ---- */

/* Which deadline holds now: for the client that does not read, for none while workers have frames, for the
 * client from which the next frame has to come. */
static void enter_phase(struct stream *stream) {
    const struct config *config = &stream->request->settings->config;
    enum watch_phase next = stream->blocked                     ? WATCH_WRITE
                            : frames_are_moving(stream->frames) ? WATCH_WORK
                            : stream->request->answered         ? WATCH_STREAM
                                                                : WATCH_BODY;
    bool write = next == WATCH_WRITE;
    if (!stream->over && (next != stream->phase || (write && stream->moved))) {
        watchdog_enter(stream->socket.watch, next, write ? config->write_timeout_ms : config->body_timeout_ms,
                       next == WATCH_BODY ? stream->request->id : NULL);
        stream->phase = next;
    }
    stream->moved = false;
}

/* Goes on after something has changed. */
static void advance(struct stream *stream) {
    if (stream->over || !stream->request) {
        return;
    }
    if (!stream->complete && atomic_load(&stream->request->service->draining)) {
        frames_end(stream->frames, true);
    }
    stream->waits = frames_retry(stream->frames);
    send_all(stream);
    if (!stream->over && !stream->complete && !frames_are_full(stream->frames)) {
        resume(stream);
    }
    enter_phase(stream);
}

static enum stream_wish wish(struct stream *stream) {
    stream->paused = !stream->over && (stream->complete || frames_are_full(stream->frames));
    return stream->over ? STREAM_CLOSE : stream->paused ? STREAM_PAUSE : STREAM_GO;
}

enum stream_wish stream_take(struct stream *stream, const uint8_t *data, size_t size, size_t *taken) {
    *taken = 0;
    if (stream->paused) {
        return STREAM_GO;
    }
    *taken = stream->over ? size : frames_take(stream->frames, data, size);
    stream->request->received += *taken;
    metrics_add(stream->request->service->metrics, METRIC_RECEIVED_BYTES, (int64_t)*taken);
    advance(stream);
    return wish(stream);
}

enum stream_wish stream_complete(struct stream *stream) {
    if (stream->paused) {
        return STREAM_GO;
    }
    if (!stream->complete && !stream->over) {
        frames_end(stream->frames, false);
        stream->complete = true;
    }
    advance(stream);
    return wish(stream);
}

/* ---- begin and end ---- */

struct stream *stream_begin(struct stream_thread *thread, struct request *request,
                            const struct stream_socket *socket) {
    static const struct request_transport transport = {give_back, is_gone};
    struct stream *stream = calloc(1, sizeof *stream);
    struct frames *frames = stream ? frames_create(request, &transport, stream) : NULL;
    if (!frames) {
        free(stream);
        return NULL;
    }
    const int yes = 1;
    setsockopt(socket->fd, IPPROTO_TCP, TCP_NODELAY, &yes,
               sizeof yes); /* fails on AF_UNIX, which never waits */
    stream->thread = thread;
    stream->request = request;
    stream->frames = frames;
    stream->socket = *socket;
    stream->phase = WATCH_BODY;
    stream->next = thread->first;
    if (stream->next) {
        stream->next->previous = stream;
    }
    thread->first = stream;
    return stream;
}

bool stream_end(struct stream *stream) {
    bool ended = stream->over && !stream->cut;
    atomic_store(&stream->gone, true);
    watch_writable(stream, false);
    frames_end(stream->frames, true);
    stream->over = true;
    stream->request = NULL;
    if (!frames_are_with_workers(stream->frames)) {
        destroy(stream);
    }
    return ended;
}

/* ---- the thread ---- */

enum status stream_thread_init(struct stream_thread *thread, int library, struct error *err) {
    struct epoll_event event = {.events = EPOLLIN};
    pthread_mutex_init(&thread->lock, NULL);
    thread->retry_at = INT64_MAX;
    thread->epoll = epoll_create1(EPOLL_CLOEXEC);
    return thread->epoll >= 0 && epoll_ctl(thread->epoll, EPOLL_CTL_ADD, library, &event) == 0
               ? ST_OK
               : fail(err, ST_BUSY, "no descriptor: %s", strerror(errno));
}

void stream_thread_finish(struct stream_thread *thread) {
    if (thread->epoll > 0) {
        close(thread->epoll);
        pthread_mutex_destroy(&thread->lock);
    }
}

static struct request *take_answered(struct stream_thread *thread) {
    pthread_mutex_lock(&thread->lock);
    struct request *answered = thread->answered;
    thread->answered = NULL;
    pthread_mutex_unlock(&thread->lock);
    return answered;
}

static void note_answers(struct stream_thread *thread) {
    for (struct request *next, *frame = take_answered(thread); frame; frame = next) {
        struct stream *stream = frame->connection;
        next = frame->next;
        frames_note_answer(stream->frames, frame);
        advance(stream);
        if (!stream->request && !frames_are_with_workers(stream->frames)) {
            destroy(stream);
        }
    }
}

static void note_writable(struct stream_thread *thread) {
    struct epoll_event events[EVENTS_MAX];
    int count = thread->blocked > 0 ? epoll_wait(thread->epoll, events, EVENTS_MAX, 0) : 0;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr) { /* else it is the library's */
            advance(events[i].data.ptr);
        }
    }
}

int64_t stream_thread_run(struct stream_thread *thread, bool draining) {
    if (!thread->first) {
        return -1;
    }
    note_answers(thread);
    note_writable(thread);
    int64_t now = clock_ns();
    bool due = now >= thread->retry_at, drained = draining && !thread->drained, waits = false;
    thread->drained = draining;
    for (struct stream *stream = thread->first; stream; stream = stream->next) {
        if ((stream->waits && due) || drained) {
            advance(stream);
        }
        waits |= stream->waits && !stream->over;
    }
    if (due || !waits || thread->retry_at == INT64_MAX) {
        thread->retry_at = waits ? now + RETRY_MS * MS : INT64_MAX;
    }
    return waits ? (thread->retry_at - now) / MS + 1 : -1;
}

void stream_thread_stop(struct stream_thread *thread) {
    note_answers(thread);
    for (struct stream *stream = thread->first; stream; stream = stream->next) {
        stream->cut = true;
        end(stream);
    }
}
