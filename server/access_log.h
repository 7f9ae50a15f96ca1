/* SPDX-License-Identifier: MIT
 * The log line, the metrics and the spans of a finished request. */
#ifndef BLURD_SERVER_ACCESS_LOG_H
#define BLURD_SERVER_ACCESS_LOG_H

struct request;

/* Counts and logs the request, and hands it to the exporter of spans. Refusals for overload get no more lines
 * than overload_may_log allows. Thread-safe. */
void access_log_write(const struct request *request);

#endif
