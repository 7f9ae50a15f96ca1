/* SPDX-License-Identifier: MIT */
#include "server/client/http/answer_body.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "core/json/json_reader.h"

enum { BOUNDARY_MAX = 80, REPORT_MAX = 16 << 20 };

enum status answer_body_begin(struct answer_body *body, bool informational, struct answer_head *head,
                              struct error *err) {
    struct client_socket *socket = body->socket;
    for (;;) {
        const uint8_t *from = socket->buffer + socket->at;
        const size_t have = socket->have - socket->at;
        const uint8_t *end = have ? memmem(from, have, "\r\n\r\n", 4) : NULL;
        if (end) {
            const size_t size = (size_t)(end - from) + 4;
            enum status status = answer_head_read((struct bytes){from, size}, head, err);
            socket->at += size;
            body->left = head->length;
            if (status != ST_OK || head->status >= 200 || informational) {
                return status;
            }
            continue;
        }
        memmove(socket->buffer, from, have);
        socket->at = 0;
        socket->have = have;
        if (have == CLIENT_SOCKET_BUFFER) {
            return fail(err, ST_CORRUPT, "the head of the answer is longer than %d bytes",
                        CLIENT_SOCKET_BUFFER);
        }
        const ssize_t got = client_socket_receive(socket);
        if (got <= 0) {
            return fail(err, ST_BUSY,
                        got == 0 ? "the connection is closed without an answer" : "there is no answer: %s",
                        strerror(errno));
        }
    }
}

/* The next bytes, at most `most`, which stay valid until the next call. */
static enum status next(struct answer_body *body, uint64_t most, struct bytes *piece, struct error *err) {
    struct client_socket *socket = body->socket;
    if (socket->at == socket->have) {
        socket->at = socket->have = 0;
        if (client_socket_receive(socket) <= 0) {
            return fail(err, ST_BUSY, "the connection was cut within the answer");
        }
    }
    const size_t have = socket->have - socket->at;
    most = body->left < most ? body->left : most;
    *piece = (struct bytes){socket->buffer + socket->at, have < most ? have : (size_t)most};
    socket->at += piece->size;
    body->left -= piece->size;
    return ST_OK;
}

enum status answer_body_keep(struct answer_body *body, struct buf *kept, struct error *err) {
    enum status status = ST_OK;
    while (status == ST_OK && body->left > 0) {
        struct bytes piece = {0};
        status = next(body, UINT64_MAX, &piece, err);
        status = status == ST_OK ? buf_append(kept, piece.data, piece.size, err) : status;
    }
    return status;
}

enum status answer_body_skip(struct answer_body *body, struct error *err) {
    enum status status = ST_OK;
    while (status == ST_OK && body->left > 0) {
        struct bytes piece = {0};
        status = next(body, UINT64_MAX, &piece, err);
    }
    return status;
}

static enum status write_all(struct answer_file *file, struct bytes data, struct error *err) {
    while (data.size > 0) {
        const ssize_t written = write(file->fd, data.data, data.size);
        if (written < 0 && errno != EINTR) {
            return fail(err, ST_INTERNAL, "the answer cannot be written: %s", strerror(errno));
        }
        data.data += written > 0 ? written : 0;
        data.size -= written > 0 ? (size_t)written : 0;
        file->bytes += written > 0 ? (uint64_t)written : 0;
    }
    return ST_OK;
}

/* Writes what is left but for the last `behind` bytes, which it drops. */
static enum status write_rest(struct answer_body *body, uint64_t behind, struct answer_file *file,
                              struct error *err) {
    enum status status = ST_OK;
    while (status == ST_OK && body->left > 0) {
        struct bytes piece = {0};
        const uint64_t wanted = body->left > behind ? body->left - behind : 0;
        status = next(body, wanted ? wanted : UINT64_MAX, &piece, err);
        status = status == ST_OK && wanted ? write_all(file, piece, err) : status;
    }
    return status;
}

/* Where `what` stands in the text from `at` on; SIZE_MAX: nowhere. */
static size_t find(const struct buf *text, size_t at, const char *what) {
    const uint8_t *found =
        at < text->size ? memmem(text->data + at, text->size - at, what, strlen(what)) : NULL;
    return found ? (size_t)(found - text->data) : SIZE_MAX;
}

/* The bounds of the report, the head of the picture, and where the picture begins. */
struct answer_parts {
    size_t report, report_end, head, picture;
};

static bool find_parts(const struct buf *text, const char *delimiter, struct answer_parts *parts) {
    const size_t first = find(text, 0, "\r\n\r\n");
    if (first == SIZE_MAX) {
        return false;
    }
    parts->report = first + 4;
    parts->report_end = find(text, parts->report, delimiter);
    if (parts->report_end == SIZE_MAX) {
        return false;
    }
    parts->head = parts->report_end + strlen(delimiter);
    const size_t last = find(text, parts->head, "\r\n\r\n");
    parts->picture = last + 4;
    return last != SIZE_MAX;
}

/* The value of Content-Type in the head of the picture's part. */
static void read_type(const struct buf *text, const struct answer_parts *parts, struct answer_head *head) {
    static const char name[] = "\r\nContent-Type: ";
    const size_t at = find(text, parts->head, name);
    const size_t from = at == SIZE_MAX ? at : at + sizeof name - 1;
    if (from < parts->picture) { /* not in the picture, which may begin so */
        const int length = (int)(find(text, from, "\r\n") - from);
        snprintf(head->type, sizeof head->type, "%.*s", length, (const char *)text->data + from);
    }
}

/* It becomes a member of a line in the report of the batch, which it must not end or add others to. */
static bool is_json(struct bytes text) {
    struct json_reader reader;
    json_reader_init(&reader, text);
    reader.depth = 1; /* of the line */
    return json_reader_peek(&reader) == '{' && json_reader_skip(&reader) &&
           json_reader_peek(&reader) == '\0' && json_reader_offset(&reader) == text.size &&
           !memchr(text.data, '\0', text.size);
}

static enum status write_parts(struct answer_body *body, const char *boundary, struct answer_head *head,
                               struct answer_file *file, struct error *err) {
    char delimiter[BOUNDARY_MAX + 8];
    struct answer_parts parts = {0};
    struct buf *text = file->report;
    struct bytes piece = {0};
    enum status status = ST_OK;
    const int length = snprintf(delimiter, sizeof delimiter, "\r\n--%s", boundary);
    const uint64_t tail = (uint64_t)length + 4; /* with "--" and the line's end */
    while (status == ST_OK && !find_parts(text, delimiter, &parts)) {
        if (body->left == 0) {
            return fail(err, ST_CORRUPT, "the answer has no report and picture");
        }
        status = next(body, UINT64_MAX, &piece, err);
        status = status == ST_OK ? buf_append(text, piece.data, piece.size, err) : status;
    }
    if (status != ST_OK) {
        return status;
    }
    const uint64_t have = text->size - parts.picture, all = have + body->left;
    if (all < tail) {
        return fail(err, ST_CORRUPT, "the answer has no report and picture");
    }
    read_type(text, &parts, head);
    const uint64_t now = have < all - tail ? have : all - tail;
    status = write_all(file, (struct bytes){text->data + parts.picture, (size_t)now}, err);
    status = status == ST_OK ? write_rest(body, tail, file, err) : status;
    memmove(text->data, text->data + parts.report, parts.report_end - parts.report);
    text->size = parts.report_end - parts.report;
    return status == ST_OK && !is_json(buf_bytes(text))
               ? fail(err, ST_CORRUPT, "the report of the answer is no JSON")
               : status;
}

enum status answer_body_write(struct answer_body *body, struct answer_head *head, struct answer_file *file,
                              struct error *err) {
    static const char parts[] = "multipart/mixed; boundary=";
    const bool again = file->bytes > 0;
    file->bytes = 0;
    buf_finish(file->report);
    buf_init(file->report, REPORT_MAX);
    if (again && lseek(file->fd, 0, SEEK_SET) != 0) {
        return fail(err, ST_INTERNAL, "the answer cannot be written: %s", strerror(errno));
    }
    if (strncasecmp(head->type, parts, sizeof parts - 1) != 0) {
        return write_rest(body, 0, file, err);
    }
    char boundary[BOUNDARY_MAX];
    snprintf(boundary, sizeof boundary, "%.*s", BOUNDARY_MAX - 1, head->type + sizeof parts - 1);
    return write_parts(body, boundary, head, file, err);
}
