/* SPDX-License-Identifier: MIT */
#include "server/http/http_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/http/watchdog.h"
#include "server/metrics.h"

enum {
    LOG_INTERVAL_NS = 1000000000,  /* between two messages of the library */
    EXHAUSTED_WAIT_NS = 100000000, /* before accept is tried again */
    FRESH_NS = 1500000000, /* longer than the interval, so that a suppressed message counts as fresh, too */
};

/* No descriptor is left for a new connection. A thread that has connections waits until one ends; a thread
 * without any would retry at once and is slowed down here. */
static void on_exhausted(struct http_log *log, bool none) {
    const struct timespec wait = {.tv_nsec = EXHAUSTED_WAIT_NS};
    metrics_add(log->metrics, METRIC_ACCEPT_FAILURES, 1);
    watchdog_relieve(log->watchdog);
    if (none) {
        nanosleep(&wait, NULL);
    }
}

/* At the descriptor limit the library logs millions of messages in a few seconds. */
void http_log_message(void *context, const char *format, va_list arguments) {
    struct http_log *log = context;
    if (strstr(format, "resource limit")) {
        on_exhausted(log, strstr(format, "FIRST"));
    }
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

bool http_log_is_fresh(struct http_log *log) {
    int64_t last = atomic_load(&log->last);
    return last != 0 && clock_ns() - last < FRESH_NS;
}
