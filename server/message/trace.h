/* SPDX-License-Identifier: MIT
 * Trace context (W3C): the header `traceparent` says whose work a request is part of. Its ids go into the log
 * line and nowhere else: blurd calls nobody and reports no spans, so it needs no id of its own. */
#ifndef BLURD_SERVER_MESSAGE_TRACE_H
#define BLURD_SERVER_MESSAGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_ID_SIZE = 32, TRACE_PARENT_SIZE = 16 }; /* hexadecimal digits */

/* Zero-initialise. */
struct trace {
    unsigned fields; /* seen so far */
    bool known;      /* there is one field, and it is valid */
    char trace_id[TRACE_ID_SIZE + 1];
    char parent_id[TRACE_PARENT_SIZE + 1];
};

/* Takes a field `traceparent`. A malformed one, and several of them, count as if there were none: nothing is
 * refused, since the picture does not depend on it. */
void trace_header(struct trace *trace, const char *value, size_t size);

#endif
