/* SPDX-License-Identifier: MIT */
#include "server/client/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum { HEAD_MAX = 1024, PIECE = 64 << 10, BOUNDARY_MAX = 40 };

static enum status send_all(int fd, struct bytes data, struct error *err) {
    while (data.size > 0) {
        const ssize_t sent = send(fd, data.data, data.size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return fail(err, ST_BUSY, "cannot send to the daemon: %s", strerror(errno));
        }
        data.data += sent > 0 ? sent : 0;
        data.size -= sent > 0 ? (size_t)sent : 0;
    }
    return ST_OK;
}

static enum status send_text(int fd, const char *text, struct error *err) {
    return send_all(fd, (struct bytes){(const uint8_t *)text, strlen(text)}, err);
}

static int part_head(char head[HEAD_MAX], const char *boundary, const char *name) {
    return snprintf(head, HEAD_MAX,
                    "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                    "Content-Type: application/octet-stream\r\n\r\n",
                    boundary, name, name);
}

static enum status send_form(int fd, const char *path, const struct post_part *part, unsigned count,
                             struct error *err) {
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
    enum status status = send_text(fd, head, err);
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        part_head(head, boundary, part[i].name);
        status = send_text(fd, head, err);
        status = status == ST_OK ? send_all(fd, part[i].data, err) : status;
        status = status == ST_OK ? send_text(fd, "\r\n", err) : status;
    }
    return status == ST_OK ? send_text(fd, end, err) : status;
}

static enum status receive_all(int fd, struct buf *answer, struct error *err) {
    enum status status = ST_OK;
    ssize_t got = 1;
    while (status == ST_OK && got != 0) {
        uint8_t piece[PIECE];
        got = recv(fd, piece, sizeof piece, 0);
        if (got < 0 && errno != EINTR) {
            return fail(err, ST_BUSY, "the daemon closed the connection: %s", strerror(errno));
        }
        status = got > 0 ? buf_append(answer, piece, (size_t)got, err) : ST_OK;
    }
    return status;
}

/* Leaves the body of the answer. The daemon gives each a length, and closes the connection behind it. */
static enum status parse(struct buf *answer, unsigned *http_status, struct error *err) {
    static const char empty[] = "\r\n\r\n";
    const uint8_t *end = answer->size ? memmem(answer->data, answer->size, empty, sizeof empty - 1) : NULL;
    char line[16] = "";
    memcpy(line, answer->data ? answer->data : (const uint8_t *)"", answer->size < 15 ? answer->size : 15);
    if (!end || sscanf(line, "HTTP/1.1 %3u", http_status) != 1) {
        return fail(err, ST_BUSY, "the daemon did not answer");
    }
    const size_t head = (size_t)(end - answer->data) + sizeof empty - 1;
    memmove(answer->data, answer->data + head, answer->size - head);
    answer->size -= head;
    return ST_OK;
}

enum status post_form(int fd, const char *path, const struct post_part *part, unsigned count,
                      unsigned *http_status, struct buf *answer, struct error *err) {
    enum status status = send_form(fd, path, part, count, err);
    /* A refusal may come before all is sent. */
    struct error ignored;
    enum status received = receive_all(fd, answer, status == ST_OK ? err : &ignored);
    return received == ST_OK ? parse(answer, http_status, err) : status == ST_OK ? received : status;
}
