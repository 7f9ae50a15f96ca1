/* SPDX-License-Identifier: MIT
 * Receives the HTTP library's messages, of which one a second is logged. */
#ifndef BLURD_SERVER_HTTP_HTTP_LOG_H
#define BLURD_SERVER_HTTP_HTTP_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

struct metrics;

struct http_log {
    struct metrics *metrics;
    _Atomic int64_t last; /* clock_ns of the last message that was logged */
};

/* The library's external logger; `log` is a struct http_log. Thread-safe. */
void http_log_message(void *log, const char *format, va_list arguments);

#endif
