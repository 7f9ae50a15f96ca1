/* SPDX-License-Identifier: MIT */
#include "server/client/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/json/json_reader.h"
#include "server/client/http/answer_body.h"

enum { HEAD_MAX = 1024, BOUNDARY_MAX = 40 };

static enum status send_text(struct client_socket *socket, const char *text, bool more, struct error *err) {
    return client_socket_send(socket, (struct bytes){(const uint8_t *)text, strlen(text)}, more, err);
}

static int part_head(char head[HEAD_MAX], const char *boundary, const char *name) {
    return snprintf(head, HEAD_MAX,
                    "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                    "Content-Type: application/octet-stream\r\n\r\n",
                    boundary, name, name);
}

static enum status send_form(struct client_socket *socket, const char *path, const struct post_part *part,
                             unsigned count, struct error *err) {
    char head[HEAD_MAX], boundary[BOUNDARY_MAX], end[BOUNDARY_MAX + 8];
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return fail(err, ST_BUSY, "no random numbers: %s", strerror(errno));
    }
    snprintf(boundary, sizeof boundary, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    size_t size = (size_t)snprintf(end, sizeof end, "--%s--\r\n", boundary);
    for (unsigned i = 0; i < count; i++) {
        size += (size_t)part_head(head, boundary, part[i].name) + part[i].data.size + 2;
    }
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n"
             "Content-Type: multipart/form-data; boundary=%s\r\n\r\n",
             path, size, boundary);
    enum status status = send_text(socket, head, true, err);
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        part_head(head, boundary, part[i].name);
        status = send_text(socket, head, true, err);
        status = status == ST_OK ? client_socket_send(socket, part[i].data, true, err) : status;
        status = status == ST_OK ? send_text(socket, "\r\n", true, err) : status;
    }
    return status == ST_OK ? send_text(socket, end, false, err) : status;
}

enum status post_form(int fd, const char *path, const struct post_part *part, unsigned count,
                      unsigned *http_status, struct buf *answer, struct error *err) {
    uint8_t buffer[CLIENT_SOCKET_BUFFER];
    struct client_socket socket = {.fd = fd, .buffer = buffer};
    struct answer_body body = {.socket = &socket};
    struct answer_head head = {0};
    struct error late = {0};
    const enum status sent = send_form(&socket, path, part, count, err);
    /* A refusal may come before all is sent. */
    enum status status = answer_body_begin(&body, false, &head, &late);
    status = status == ST_OK ? answer_body_keep(&body, answer, &late) : status;
    *http_status = head.status;
    if (status != ST_OK && sent == ST_OK) {
        *err = late;
    }
    return status == ST_OK || sent == ST_OK ? status : sent;
}

void post_detail(struct bytes problem, char *detail, size_t size) {
    struct json_reader reader;
    char name[16];
    bool more, read = true;
    snprintf(detail, size, "the daemon answered something else");
    json_reader_init(&reader, problem);
    read = json_reader_open(&reader, '{');
    while (read && json_reader_next(&reader, '}', &more) && more) {
        read = json_reader_name(&reader, name, sizeof name) &&
               (strcmp(name, "detail") == 0 ? json_reader_text(&reader, detail, size)
                                            : json_reader_skip(&reader));
    }
}
