/* SPDX-License-Identifier: MIT */
#include "server/client/http/transfer.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "core/json/json_reader.h"
#include "server/client/http/answer_body.h"

enum {
    REQUEST_MAX = 8 << 10,
    PROBLEM_MAX = 16 << 10,
    PIECE = 64 << 10,
    STATUS_BUSY = 503,
    STATUS_MANY = 429
};

static enum transfer_verdict give(struct transfer_result *result, enum transfer_verdict verdict,
                                  const char *reason, const char *detail) {
    snprintf(result->reason, sizeof result->reason, "%s", reason);
    snprintf(result->detail, sizeof result->detail, "%.*s", TRANSFER_DETAIL_MAX - 1, detail);
    return verdict;
}

static enum status send_head(const struct transfer_job *job, struct client_socket *socket,
                             const struct daemon_address *address, uint64_t size, const char *more,
                             struct error *err) {
    char head[REQUEST_MAX];
    const bool bracket = !address->local && strchr(address->host, ':');
    const int length = snprintf(
        head, sizeof head, "POST %s HTTP/1.1\r\nHost: %s%s%s\r\nContent-Length: %llu\r\n%s%s%s%s\r\n",
        job->target, bracket ? "[" : "", address->local ? "localhost" : address->host, bracket ? "]" : "",
        (unsigned long long)size, job->token[0] ? "Authorization: Bearer " : "", job->token,
        job->token[0] ? "\r\n" : "", more);
    return length < REQUEST_MAX
               ? client_socket_send(socket, (struct bytes){(const uint8_t *)head, (size_t)length}, size > 0,
                                    err)
               : fail(err, ST_ARGUMENT, "the job is longer than %d bytes", REQUEST_MAX);
}

/* ST_ARGUMENT: the file is not what it was. */
static enum status send_file(struct client_socket *socket, int input, uint64_t size, gnutls_hash_hd_t hash,
                             struct error *err) {
    uint8_t piece[PIECE];
    uint64_t at = 0;
    while (at < size) {
        const size_t most = size - at < PIECE ? (size_t)(size - at) : PIECE;
        const ssize_t got = pread(input, piece, most, (off_t)at);
        if (got <= 0) {
            return fail(err, ST_ARGUMENT,
                        got < 0 ? "it cannot be read: %s" : "it became shorter while it was read",
                        strerror(errno));
        }
        if (hash) {
            gnutls_hash(hash, piece, (size_t)got);
        }
        at += (uint64_t)got;
        const enum status status =
            client_socket_send(socket, (struct bytes){piece, (size_t)got}, at < size, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return ST_OK;
}

/* Without a copy: the kernel sends what it has of the file. */
static enum status send_directly(struct client_socket *socket, int input, uint64_t size, struct error *err) {
    off_t at = 0;
    while ((uint64_t)at < size) {
        const ssize_t sent = sendfile(socket->fd, input, &at, (size_t)(size - (uint64_t)at));
        if (sent == 0) {
            return fail(err, ST_ARGUMENT, "it became shorter while it was read");
        }
        if (sent < 0 && errno != EINTR) {
            return fail(err, errno == EIO ? ST_ARGUMENT : ST_BUSY, "it cannot be sent: %s", strerror(errno));
        }
    }
    return ST_OK;
}

static enum status send_request(const struct transfer_job *job, struct client_socket *socket,
                                const struct daemon_address *address, int input, uint64_t size,
                                struct transfer_result *result, struct error *err) {
    gnutls_hash_hd_t hash = NULL;
    enum status status = send_head(job, socket, address, size, "", err);
    if (status == ST_OK && job->hash && gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) {
        status = fail(err, ST_BUSY, "out of memory");
    }
    if (status == ST_OK && !hash && !socket->tls) {
        status = send_directly(socket, input, size, err);
    } else if (status == ST_OK) {
        status = send_file(socket, input, size, hash, err);
    }
    if (hash) {
        struct digest digest;
        gnutls_hash_deinit(hash, digest.byte);
        result->digest = status == ST_OK ? digest : result->digest; /* that of a part is none */
        result->hashed = result->hashed || status == ST_OK;
    }
    return status;
}

/* What a daemon says goes to a terminal, which must not obey it. */
static void clean(char *text) {
    for (; *text; text++) {
        const bool second = text[0] == '\xC2' && (text[1] & 0xE0) == 0x80; /* U+0080 to U+009F */
        *text = (unsigned char)*text < ' ' || *text == '\x7F' || second ? '?' : *text;
    }
}

/* "urn:blurd:problem:corrupt-image" becomes "corrupt-image". The detail does not always name the parameter.
 */
static void read_problem(struct bytes problem, struct transfer_result *result) {
    struct json_reader reader;
    char name[16], type[96] = "", parameter[ERROR_PARAMETER_MAX] = "", detail[TRANSFER_DETAIL_MAX] = "";
    bool more, read;
    json_reader_init(&reader, problem);
    read = json_reader_open(&reader, '{');
    while (read && json_reader_next(&reader, '}', &more) && more) {
        read = json_reader_name(&reader, name, sizeof name) &&
               (strcmp(name, "type") == 0        ? json_reader_text(&reader, type, sizeof type)
                : strcmp(name, "parameter") == 0 ? json_reader_text(&reader, parameter, sizeof parameter)
                : strcmp(name, "detail") == 0    ? json_reader_text(&reader, detail, sizeof detail)
                                                 : json_reader_skip(&reader));
    }
    const char *colon = strrchr(type, ':');
    if (colon) {
        snprintf(result->reason, sizeof result->reason, "%s", colon + 1);
    }
    if (detail[0]) {
        const bool named = !parameter[0] || strstr(detail, parameter);
        snprintf(result->detail, sizeof result->detail, "%s%s%.*s", named ? "" : parameter, named ? "" : ": ",
                 TRANSFER_DETAIL_MAX - ERROR_PARAMETER_MAX - 3, detail);
    }
    clean(result->reason);
    clean(result->detail);
}

/* 429 is what a daemon behind some balancers answers in place of 503 (overload_status). Others of 5xx come
 * from what stands between. */
static bool is_busy(unsigned status) {
    return status == STATUS_BUSY || status == STATUS_MANY || status == 502 || status == 504;
}

static enum transfer_verdict refused(struct answer_body *body, struct transfer_result *result) {
    uint8_t text[PROBLEM_MAX];
    struct buf problem;
    struct error err = {0};
    const unsigned status = result->head.status;
    char detail[TRANSFER_DETAIL_MAX];
    buf_init_fixed(&problem, text, sizeof text);
    if (answer_body_keep(body, &problem, &err) != ST_OK) {
        client_socket_close(body->socket);
    }
    snprintf(detail, sizeof detail, "the daemon answers with status %u", status);
    char reason[TRANSFER_REASON_MAX];
    snprintf(reason, sizeof reason, "status-%u", status);
    give(result, TRANSFER_FAILED, reason, detail);
    read_problem(buf_bytes(&problem), result);
    return is_busy(status) ? TRANSFER_AGAIN : TRANSFER_FAILED;
}

static enum transfer_verdict receive(struct client_socket *socket, int output,
                                     struct transfer_result *result) {
    struct error err = {0};
    enum transfer_verdict verdict = TRANSFER_DONE;
    struct answer_body body = {.socket = socket};
    enum status status = answer_body_begin(&body, false, &result->head, &err);
    if (status != ST_OK) {
        client_socket_close(socket);
        result->head.status = 0;
        return give(result, status == ST_BUSY ? TRANSFER_AGAIN : TRANSFER_BROKEN, "cut", err.text);
    }
    if (result->head.status == 200) {
        struct answer_file file = {.fd = output, .bytes = result->bytes, .report = &result->report};
        status = answer_body_write(&body, &result->head, &file, &err);
        result->bytes = file.bytes;
        verdict = status == ST_OK     ? TRANSFER_DONE
                  : status == ST_BUSY ? give(result, TRANSFER_AGAIN, "cut", err.text)
                                      : give(result, TRANSFER_BROKEN, "output", err.text);
    } else {
        verdict = refused(&body, result);
    }
    if (status != ST_OK || result->head.closes) {
        client_socket_close(socket);
    }
    return verdict;
}

enum transfer_verdict transfer_try(const struct transfer_job *job, struct client_socket *socket,
                                   const struct daemon_address *address, int input, uint64_t size, int output,
                                   struct transfer_result *result) {
    struct error err = {0};
    if (socket->fd >= 0 && !client_socket_is_quiet(socket)) {
        client_socket_close(socket);
    }
    const bool reused = socket->fd >= 0;
    enum status status = reused ? ST_OK : client_socket_open(socket, address, &err);
    result->head = (struct answer_head){.retry_s = -1, .regions = -1};
    if (status != ST_OK) {
        return give(result, status == ST_BUSY ? TRANSFER_AGAIN : TRANSFER_BROKEN, "unreachable", err.text);
    }
    if (result->bytes > 0 && ftruncate(output, 0) != 0) {
        return give(result, TRANSFER_BROKEN, "output", strerror(errno));
    }
    status = send_request(job, socket, address, input, size, result, &err);
    if (status == ST_ARGUMENT) {
        client_socket_close(socket);
        return give(result, TRANSFER_FAILED, "changed", err.text);
    }
    /* A refusal may come before all is sent. */
    const enum transfer_verdict verdict = receive(socket, output, result);
    if (status != ST_OK) {
        client_socket_close(socket);
    }
    /* The daemon may close a connection that has waited: that is no failure. */
    return reused && result->head.status == 0 && verdict == TRANSFER_AGAIN
               ? transfer_try(job, socket, address, input, size, output, result)
               : verdict;
}

enum status transfer_check(const struct transfer_job *job, const struct daemon_address *address,
                           uint8_t *buffer, struct error *err) {
    struct client_socket socket = {.fd = -1, .buffer = buffer};
    struct answer_body body = {.socket = &socket};
    struct answer_head head = {0};
    enum status status = client_socket_open(&socket, address, err);
    status = status == ST_OK ? send_head(job, &socket, address, 1, "Expect: 100-continue\r\n", err) : status;
    status = status == ST_OK ? answer_body_begin(&body, true, &head, err) : status;
    if (status == ST_OK && head.status != 100) {
        struct transfer_result result = {.head = head};
        refused(&body, &result);
        status = fail(err, is_busy(head.status) ? ST_BUSY : ST_ARGUMENT, "%s", result.detail);
    }
    client_socket_close(&socket);
    return status;
}

static bool read_in_flight(struct bytes text, unsigned *count) {
    struct json_reader reader;
    char name[16];
    double value = 0;
    bool more, read;
    json_reader_init(&reader, text);
    read = json_reader_open(&reader, '{');
    while (read && json_reader_next(&reader, '}', &more) && more) {
        read = json_reader_name(&reader, name, sizeof name) &&
               (strcmp(name, "in_flight") == 0 ? json_reader_number(&reader, &value)
                                               : json_reader_skip(&reader));
    }
    *count = value >= 1 && value <= 65536 ? (unsigned)value : 0;
    return *count > 0;
}

enum status transfer_ask_in_flight(const struct daemon_address *address, uint8_t *buffer, unsigned *count,
                                   struct error *err) {
    static const char request[] = "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    struct client_socket socket = {.fd = -1, .buffer = buffer};
    struct answer_head head = {0};
    struct answer_body body = {.socket = &socket};
    struct buf text;
    buf_init(&text, PROBLEM_MAX);
    enum status status = client_socket_open(&socket, address, err);
    if (status == ST_OK) {
        status = client_socket_send(&socket, (struct bytes){(const uint8_t *)request, sizeof request - 1},
                                    false, err);
    }
    status = status == ST_OK ? answer_body_begin(&body, false, &head, err) : status;
    status = status == ST_OK ? answer_body_keep(&body, &text, err) : status;
    if (status == ST_OK && !read_in_flight(buf_bytes(&text), count)) {
        status = fail(err, ST_BUSY, "the daemon does not tell how many requests it wants");
    }
    buf_finish(&text);
    client_socket_close(&socket);
    return status;
}

void transfer_result_finish(struct transfer_result *result) {
    buf_finish(&result->report);
}
