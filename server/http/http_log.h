/* SPDX-License-Identifier: MIT
 * What the HTTP library has to say. It is the only way in which it tells that no connection
 * could be accepted for want of descriptors. */
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

/* Whether it has said something lately: something did not work, and it may need to be called again. */
bool http_log_is_fresh(struct http_log *log);

#endif
