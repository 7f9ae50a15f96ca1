/* SPDX-License-Identifier: MIT
 * Spans as JSON, by the OpenTelemetry protocol 1 (ExportTraceServiceRequest). */
#ifndef BLURD_SERVER_TRACING_OTLP_H
#define BLURD_SERVER_TRACING_OTLP_H

#include <stddef.h>

#include "core/bytes.h"
#include "server/tracing/span.h"

enum {
    OTLP_STAGES = STAGE_TOTAL,   /* the stages that have spans; the last one is their sum */
    OTLP_RECORD_MAX = 16 << 10,  /* bytes that one record takes at most */
    OTLP_MESSAGE_HEAD_MAX = 1024 /* bytes of a message around its records */
};

/* Appends a message with the spans of all records: one for the request, and one for each stage below it.
 * Stages have no moments of their own, since they overlap: their spans are laid end to end from the entry
 * into the queue. Span ids, and ids of traces that begin here, are random. Failures as buf_reserve. */
enum status otlp_write(struct buf *out, const struct span_record *records, size_t count, struct error *err);

#endif
