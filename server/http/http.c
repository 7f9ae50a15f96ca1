/* SPDX-License-Identifier: MIT
 * libmicrohttpd's daemons and our threads for them; what happens on a connection is in connection.c. http.h
 * lists what works around the library.
 *
 * Its own threads are not used: when exactly 128 events are there at once (that is how many
 * it asks for), they wait for one more before they look at any. In MHD_run it never waits;
 * our threads do (loop.h). Each has a daemon, which gets connections from the acceptor. */
#include "server/http/http.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "server/http/acceptor.h"
#include "server/http/connection.h"
#include "server/http/lingering.h"
#include "server/http/tls.h"
#include "server/http/watchdog.h"
#include "server/service.h"

enum {
    CONNECTION_MEMORY = 64 << 10, /* headers and target have to fit; half of it is the read size */
    ADMIN_CONNECTIONS = 64,
};

/* As strict as the library can be. Before 0.9.77.1 this would only add a check of Host, which framing.c
 * makes, too, and whose answer 0.9.75 sends with its header doubled. */
#if MHD_VERSION >= 0x00097701
#define OPTION_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define OPTION_STRICT MHD_OPTION_STRICT_FOR_CLIENT, 0
#endif

/* exchange.c parses the raw target; the library's own view is not used. */
static size_t no_unescape(void *cls, struct MHD_Connection *handle, char *text) {
    (void)cls, (void)handle;
    return strlen(text);
}

/* The library calls this when its own invariants are broken; by default it would abort. */
static void on_panic(void *cls, const char *file, unsigned line, const char *reason) {
    (void)cls;
    log_message(LOG_ERROR, "microhttpd", "panic in %s:%u: %s", file, line, reason ? reason : "");
    _exit(70); /* EX_SOFTWARE */
}

static unsigned connections_max(const struct http *http) {
    return http->admin ? ADMIN_CONNECTIONS : http->service->config->connections;
}

/* Each handshake takes the certificate of the settings as they are then, so that a reloaded certificate
 * serves new connections. */
static int certificate(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                       gnutls_pcert_st **chain, unsigned *length, gnutls_ocsp_data_st **ocsp,
                       unsigned *ocsp_length, gnutls_privkey_t *key, unsigned *flags) {
    (void)info;
    struct settings *settings = settings_take(gnutls_session_get_ptr(session));
    int error = tls_copy(settings->identity, chain, length, key);
    *ocsp = NULL;
    *ocsp_length = 0;
    *flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    settings_drop(settings);
    return error;
}

/* The daemon has no limit of connections, since the acceptor has one, and since libmicrohttpd 0.9.75 keeps a
 * mutex locked for ever when a connection is added beyond its limit. */
static struct MHD_Daemon *start_daemon(struct event_thread *thread) {
    struct http *http = thread->http;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_PRIORITIES, 0, (char[]){TLS_PRIORITIES}},
                                   {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)certificate},
                                   {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon((http->tls ? MHD_USE_TLS : 0) | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
                                MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG,
                            0, NULL, NULL, connection_request, http, MHD_OPTION_EXTERNAL_LOGGER,
                            http_log_message, &http->log, OPTION_STRICT, MHD_OPTION_CONNECTION_LIMIT,
                            UINT_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                            MHD_OPTION_URI_LOG_CALLBACK, connection_target, http, MHD_OPTION_NOTIFY_COMPLETED,
                            connection_completed, http, MHD_OPTION_NOTIFY_CONNECTION, connection_notify,
                            thread, MHD_OPTION_UNESCAPE_CALLBACK, no_unescape, NULL, MHD_OPTION_ARRAY,
                            http->tls ? tls : &tls[2], MHD_OPTION_END);
}

/* Gives the library the connections that the acceptor has handed to the thread; returns how many. */
static unsigned begin_arrivals(struct event_thread *thread) {
    unsigned count = 0;
    for (struct arrival *next, *arrival = intake_take(thread->intake); arrival; arrival = next, count++) {
        next = arrival->next;
        http_log_family(&thread->http->log, arrival->address.ss_family);
        MHD_add_connection(thread->daemon, arrival->fd, (struct sockaddr *)&arrival->address, arrival->size);
        free(arrival);
    }
    return count;
}

/* Gives the library its new connections and lets it work once. The library calls connection_notify when a
 * connection begins, but not for a connection that it closes for want of memory: version 0.9.75 does that in
 * MHD_add_connection, and version 1.0 in MHD_run, too. This function counts such connections as closed. */
static void run_library(struct event_thread *thread) {
    unsigned expected = thread->begun;
    expected += begin_arrivals(thread);
    MHD_run(thread->daemon);
    for (; thread->begun != expected; expected--) {
        connection_closed(thread);
    }
}

/* Of two waits in milliseconds; -1: none. */
static int64_t sooner(int64_t a, int64_t b) {
    return a >= 0 && (b < 0 || a < b) ? a : b;
}

static int64_t run_daemon(void *context) {
    struct event_thread *thread = context;
    MHD_UNSIGNED_LONG_LONG ms;
    handshake_backoff_begin(&thread->backoff);
    int64_t stream_ms = stream_thread_run(&thread->streams, atomic_load(&thread->http->service->draining));
    run_library(thread);
    int64_t turn_ms = sooner(connection_continue(thread, false), stream_ms);
    int64_t wait = handshake_backoff_wait(&thread->backoff,
                                          MHD_get_timeout(thread->daemon, &ms) == MHD_YES ? (int64_t)ms : -1);
    return sooner(turn_ms, wait);
}

static enum status start_thread(struct http *http, unsigned index, struct error *err) {
    struct event_thread *thread = &http->thread[index];
    thread->http = http;
    thread->intake = &http->intakes.each[index];
    thread->throttle.limit =
        http->admin ? 0 : body_throttle_limit(http->service->gpu_concurrency, http->threads);
    thread->daemon = start_daemon(thread);
    const union MHD_DaemonInfo *epoll =
        thread->daemon ? MHD_get_daemon_info(thread->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!epoll) {
        return fail(err, ST_BUSY, "cannot start the HTTP library: %s", strerror(errno));
    }
    enum status status = stream_thread_init(&thread->streams, epoll->epoll_fd, err);
    if (status == ST_OK) {
        status = loop_start(&thread->loop, "blurd-event", thread->streams.epoll, run_daemon, thread, err);
    }
    thread->intake->loop = thread->streams.loop = thread->loop;
    http->intakes.count++;
    return status;
}

static enum status start_acceptor(struct http *http, struct error *err) {
    const struct acceptor_options options = {.listen_fd = http->listen_fd,
                                             .most = connections_max(http),
                                             .intakes = &http->intakes,
                                             .metrics = http->service->metrics,
                                             .watchdog = http->watchdog};
    return acceptor_start(&http->acceptor, &options, err);
}

unsigned http_threads(const struct config *config, unsigned cores) {
    return loop_threads(config->event_threads, cores);
}

enum status http_start(struct http **http, struct service *service, int fd, bool admin, struct error *err) {
    struct http *started = calloc(1, sizeof *started);
    if (!started) {
        close(fd);
        return fail(err, ST_BUSY, "out of memory");
    }
    *started = (struct http){.service = service, .listen_fd = fd, .admin = admin};
    started->tls = !admin && service->config->tls_cert[0];
    started->threads = admin ? 1 : http_threads(service->config, service->cores);
    struct watchdog_limits limits =
        watchdog_limits_of(service->config, connections_max(started), started->tls);
    enum status status = watchdog_create(&started->watchdog, &limits, err);
    if (status == ST_OK && started->tls) {
        status =
            MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK2) == MHD_YES
                ? ST_OK
                : fail(err, ST_ARGUMENT, "tls_cert is given, but this libmicrohttpd is built without TLS");
    }
    if (status == ST_OK) {
        status = lingering_create(&started->lingering, err);
    }
    started->log = (struct http_log){.metrics = service->metrics};
    for (unsigned i = 0; i < started->threads && status == ST_OK; i++) {
        status = start_thread(started, i, err);
    }
    if (status == ST_OK) {
        status = start_acceptor(started, err);
    }
    if (status != ST_OK) {
        http_stop(started);
        return status;
    }
    *http = started;
    return ST_OK;
}

void http_configure(struct http *http, const struct config *config) {
    struct watchdog_limits limits = watchdog_limits_of(config, connections_max(http), http->tls);
    watchdog_configure(http->watchdog, &limits);
}

void http_quiesce(struct http *http) {
    acceptor_close(http->acceptor);
    close(http->listen_fd); /* else the kernel would accept more, which get no answer */
    http->listen_fd = -1;
    watchdog_drain(http->watchdog);
    for (unsigned i = 0; i < http->threads; i++) {
        loop_wake(http->thread[i].loop); /* series end with the frames that they have */
    }
}

unsigned http_connections(const struct http *http) {
    return atomic_load(&http->intakes.open);
}

void http_stop(struct http *http) {
    if (!http) {
        return;
    }
    acceptor_close(http->acceptor);
    for (unsigned i = 0; i < http->threads; i++) {
        loop_stop(http->thread[i].loop);
        if (http->thread[i].daemon) {
            begin_arrivals(&http->thread[i]); /* the library closes them */
            connection_continue(&http->thread[i], true);
            stream_thread_stop(&http->thread[i].streams);
            MHD_stop_daemon(http->thread[i].daemon);
            stream_thread_finish(&http->thread[i].streams);
        }
    }
    acceptor_destroy(http->acceptor);
    lingering_destroy(http->lingering);
    watchdog_destroy(http->watchdog);
    if (http->listen_fd >= 0) {
        close(http->listen_fd);
    }
    free(http);
}

const char *http_library(void) {
    static char text[40];
    snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}

/* ---- whether the library reads bodies as direct_receive.h expects ---- */

enum { PROOF_BODY = 100000 /* some reads of the library, and less than a pair of sockets holds */ };

struct proof {
    struct direct_receive direct;
    size_t received, straight; /* bytes of the body; how many of them bypassed the library */
    uint8_t body[PROOF_BODY];
};

static uint8_t sample_byte(size_t i) {
    return (uint8_t)(i * 7 + (i >> 8));
}

/* Reads the body as connection.c does, and answers. */
static enum MHD_Result proof_request(void *cls, struct MHD_Connection *handle, const char *url,
                                     const char *method, const char *version, const char *data, size_t *size,
                                     void **context) {
    (void)url, (void)method, (void)version;
    static char nothing[] = "";
    struct proof *proof = cls;
    if (!*context) {
        *context = proof;
        return MHD_YES;
    }
    if (*size > 0) {
        size_t straight = direct_receive_take(&proof->direct);
        if (straight > *size || *size > PROOF_BODY - proof->received) {
            return MHD_NO;
        }
        memcpy(proof->body + proof->received + straight, data + straight, *size - straight);
        proof->received += *size;
        proof->straight += straight;
        direct_receive_open(&proof->direct, proof->body + proof->received, PROOF_BODY - proof->received);
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(handle, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* Sends the request and lets the library work until its answer begins to come. */
static bool proof_converses(struct MHD_Daemon *daemon, int fd) {
    enum { ROUNDS = 100 /* it takes five */ };
    char message[PROOF_BODY + 100], answer[64] = "";
    int head = snprintf(message, sizeof message, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
                        PROOF_BODY);
    size_t size = (size_t)head + PROOF_BODY, sent = 0;
    for (size_t i = 0; i < PROOF_BODY; i++) {
        message[(size_t)head + i] = (char)sample_byte(i);
    }
    ssize_t got = -1;
    for (int i = 0; i < ROUNDS && got < 0; i++) {
        ssize_t more = sent < size ? send(fd, message + sent, size - sent, MSG_NOSIGNAL) : 0;
        sent += more > 0 ? (size_t)more : 0;
        MHD_run(daemon);
        got = read(fd, answer, sizeof answer - 1);
    }
    return got > 0 && strstr(answer, " 200 ");
}

static bool proof_holds(const struct proof *proof) {
    bool equal = proof->received == PROOF_BODY && proof->straight > PROOF_BODY / 2;
    for (size_t i = 0; i < PROOF_BODY && equal; i++) {
        equal = proof->body[i] == sample_byte(i);
    }
    return equal;
}

static bool prove(struct proof *proof) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
        return false;
    }
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
                         proof_request, proof, MHD_OPTION_END);
    const struct sockaddr address = {.sa_family = AF_UNIX};
    direct_receive_set(fds[0], &proof->direct);
    bool holds = daemon && MHD_add_connection(daemon, fds[0], &address, sizeof address) == MHD_YES &&
                 proof_converses(daemon, fds[1]) && proof_holds(proof);
    direct_receive_set(fds[0], NULL);
    if (daemon) {
        MHD_stop_daemon(daemon); /* closes the connection */
    } else {
        close(fds[0]);
    }
    close(fds[1]);
    return holds;
}

bool http_prepare(void) {
    MHD_set_panic_func(on_panic, NULL);
    struct proof *proof = calloc(1, sizeof *proof);
    direct_receive_refuse(false);
    bool holds = proof && prove(proof);
    free(proof);
    direct_receive_refuse(!holds);
    if (!holds) {
        log_message(LOG_WARNING, "http", "bodies are copied: %s did not read as expected", http_library());
    }
    return holds;
}
