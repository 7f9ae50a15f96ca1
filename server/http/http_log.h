/* SPDX-License-Identifier: MIT
 * Receives the HTTP library's messages. Only a message tells that a connection could not be accepted because
 * descriptors ran out. */
#ifndef BLURD_SERVER_HTTP_HTTP_LOG_H
#define BLURD_SERVER_HTTP_HTTP_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct metrics;
struct watchdog;

struct http_log {
    struct metrics *metrics;
    struct watchdog *watchdog;
    _Atomic int64_t last; /* clock_ns of the last message that was logged */
};

/* The library's external logger; `log` is a struct http_log. Thread-safe. */
void http_log_message(void *log, const char *format, va_list arguments);

/* Whether a message came lately: an operation failed, and the library may need to be called again. */
bool http_log_is_fresh(struct http_log *log);

#endif
