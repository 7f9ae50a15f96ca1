/* SPDX-License-Identifier: MIT
 * Trace context (W3C). The ids of the header `traceparent` go into the log line, and into the spans of the
 * request (server/tracing/span.h). blurd passes no context on, since it makes no calls for a request. */
#ifndef BLURD_SERVER_MESSAGE_TRACE_H
#define BLURD_SERVER_MESSAGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_ID_SIZE = 32, TRACE_PARENT_SIZE = 16 }; /* hexadecimal digits */

/* Zero-initialise. */
struct trace {
    unsigned fields; /* seen so far */
    bool known;      /* exactly one field came, and it is valid */
    bool sampled;    /* then: its flag says that the caller records the trace */
    char trace_id[TRACE_ID_SIZE + 1];
    char parent_id[TRACE_PARENT_SIZE + 1];
};

/* Takes a field `traceparent`. Malformed and repeated fields are ignored, since the answer does not depend on
 * them. */
void trace_header(struct trace *trace, const char *value, size_t size);

#endif
