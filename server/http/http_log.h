/* SPDX-License-Identifier: MIT
 * Receives the HTTP library's messages, of which one a second is logged. */
#ifndef BLURD_SERVER_HTTP_HTTP_LOG_H
#define BLURD_SERVER_HTTP_HTTP_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct metrics;

struct http_log {
    struct metrics *metrics;
    _Atomic int64_t last; /* clock_ns of the last message that was logged */
    atomic_bool local;    /* connections are those of AF_UNIX */
};

/* Notes the family of a connection's address. The library tries options of TCP on those of AF_UNIX, too, and
 * complains with each answer, which is not logged. */
void http_log_family(struct http_log *log, int family);

/* The library's external logger. It passes over the message that the application has ended a connection,
 * since the daemon logs that itself. `log` is a struct http_log. Thread-safe. */
void http_log_message(void *log, const char *format, va_list arguments);

#endif
