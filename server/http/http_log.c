/* SPDX-License-Identifier: MIT */
#include "server/http/http_log.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/metrics.h"

#define LOG_INTERVAL_NS INT64_C(1000000000) /* between two messages of the library */

void http_log_family(struct http_log *log, int family) {
    atomic_store_explicit(&log->local, family == AF_UNIX, memory_order_relaxed);
}

static bool is_about_tcp(const char *text) {
    return (strncmp(text, "Setting ", 8) == 0 && strstr(text, " option ")) ||
           strncmp(text, "Failed to push the data", 23) == 0;
}

/* A connection that the daemon itself ends, with its answer or without, has a line of its own. */
static bool is_own_end(const char *text) {
    static const char begin[] = "Application reported internal error, closing connection";
    return strncmp(text, begin, sizeof begin - 1) == 0;
}

void http_log_message(void *context, const char *format, va_list arguments) {
    struct http_log *log = context;
    int64_t now = clock_ns();
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = '\0';
    const bool local = atomic_load_explicit(&log->local, memory_order_relaxed);
    if (is_own_end(text) || (local && is_about_tcp(text))) {
        return;
    }
    int64_t last = atomic_load(&log->last);
    if (now - last < LOG_INTERVAL_NS || !atomic_compare_exchange_strong(&log->last, &last, now)) {
        metrics_add(log->metrics, METRIC_LOG_SUPPRESSED, 1);
        return;
    }
    log_message(LOG_INFO, "microhttpd", "%s", text);
}
