/* SPDX-License-Identifier: MIT
 * Sends the spans of requests to a collector, from a process of its own.
 *
 * The daemon hands records over without waiting: where the process is behind, they are dropped and counted.
 * So neither a slow collector nor one that is down touches a request. The daemon's sandbox allows no new
 * socket; the process is forked before it, and opens the connections (docs/adr/0038). */
#ifndef BLURD_SERVER_TRACING_EXPORTER_H
#define BLURD_SERVER_TRACING_EXPORTER_H

#include <stdint.h>

#include "core/status.h"

struct request;
struct exporter;

/* Forks the process; to be called while there is one thread. `url` is the option otlp_endpoint, which
 * endpoint_parse accepts; empty: *exporter becomes NULL. ST_BUSY without memory or processes. */
enum status exporter_start(struct exporter **exporter, const char *url, struct error *err);

/* Hands over a finished request. Never blocks; thread-safe. Accepts NULL. */
void exporter_add(struct exporter *exporter, const struct request *request);

/* How many requests' spans a collector took, and how many were dropped. Zeros for NULL. */
void exporter_counts(const struct exporter *exporter, int64_t *exported, int64_t *dropped);

/* Waits until the process has sent what is left, COLLECTOR_FLUSH_S at most. Accepts NULL. */
void exporter_end(struct exporter *exporter);

#endif
