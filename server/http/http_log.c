/* SPDX-License-Identifier: MIT */
#include "server/http/http_log.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/metrics.h"

#define LOG_INTERVAL_NS INT64_C(1000000000) /* between two messages of the library */

void http_log_message(void *context, const char *format, va_list arguments) {
    struct http_log *log = context;
    int64_t now = clock_ns();
    int64_t last = atomic_load(&log->last);
    if (now - last < LOG_INTERVAL_NS || !atomic_compare_exchange_strong(&log->last, &last, now)) {
        metrics_add(log->metrics, METRIC_LOG_SUPPRESSED, 1);
        return;
    }
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = '\0';
    log_message(LOG_INFO, "microhttpd", "%s", text);
}
