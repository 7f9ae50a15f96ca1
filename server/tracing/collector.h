/* SPDX-License-Identifier: MIT
 * The process that exports spans: one thread takes records from the daemon, the other one posts them to the
 * collector. */
#ifndef BLURD_SERVER_TRACING_COLLECTOR_H
#define BLURD_SERVER_TRACING_COLLECTOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "config/endpoint.h"

enum {
    COLLECTOR_QUEUE = 2048,       /* records that wait to be posted; further ones are dropped */
    COLLECTOR_BATCH = 256,        /* records in a message */
    COLLECTOR_INTERVAL_MS = 1000, /* longest time that a record waits for others */
    COLLECTOR_FLUSH_S = 3         /* time for the records that are left at the end of the daemon */
};

/* Shared by the daemon and the process. */
struct collector_counts {
    _Atomic int64_t exported, dropped; /* requests */
};

struct collector_options {
    struct endpoint endpoint;
    struct collector_counts *counts;
};

/* Runs until the daemon closes its end of `socket` and all records are posted, or the time for that is over.
 */
void collector_run(const struct collector_options *options, int socket);

#endif
