/* SPDX-License-Identifier: MIT */
#include "config/endpoint.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "http://"
#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { PORT_DIGITS = 5, PORT_MAX = 65535 };

/* Copies `size` characters of `allowed`; false if there are none, too many, or others. */
static bool copy(char *to, size_t capacity, const char *from, size_t size, const char *allowed) {
    if (size == 0 || size >= capacity || strspn(from, allowed) < size) {
        return false;
    }
    memcpy(to, from, size);
    to[size] = '\0';
    return true;
}

/* Returns the end of the host, or NULL. */
static const char *take_host(const char *text, struct endpoint *endpoint) {
    if (*text == '[') {
        size_t size = strcspn(text, "]");
        bool good = text[size] == ']' &&
                    copy(endpoint->host, sizeof endpoint->host, text + 1, size - 1, DIGITS "abcdefABCDEF:.");
        return good ? text + size + 1 : NULL;
    }
    size_t size = strcspn(text, ":/");
    return copy(endpoint->host, sizeof endpoint->host, text, size, LETTERS DIGITS "-._") ? text + size : NULL;
}

static const char *take_port(const char *text, struct endpoint *endpoint) {
    if (*text != ':') {
        snprintf(endpoint->port, sizeof endpoint->port, "4318");
        return text;
    }
    size_t size = strcspn(++text, "/");
    if (size > PORT_DIGITS || !copy(endpoint->port, sizeof endpoint->port, text, size, DIGITS)) {
        return NULL;
    }
    long port = strtol(endpoint->port, NULL, 10);
    return port > 0 && port <= PORT_MAX ? text + size : NULL;
}

enum status endpoint_parse(const char *url, struct endpoint *endpoint, struct error *err) {
    const char *text = strncmp(url, SCHEME, strlen(SCHEME)) == 0 ? url + strlen(SCHEME) : NULL;
    text = text ? take_host(text, endpoint) : NULL;
    text = text ? take_port(text, endpoint) : NULL;
    const char *path = text && *text ? text : "/v1/traces";
    if (!text ||
        !copy(endpoint->path, sizeof endpoint->path, path, strlen(path),
              LETTERS DIGITS "/-._~%!$&'()*+,;=:@?") ||
        *path != '/') {
        return fail_argument(err, "otlp_endpoint",
                             "otlp_endpoint must be like http://127.0.0.1:4318/v1/traces, without TLS");
    }
    return ST_OK;
}

enum status endpoint_check(const char *url, struct error *err) {
    return url[0] ? endpoint_parse(url, &(struct endpoint){.host = ""}, err) : ST_OK;
}
