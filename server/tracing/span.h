/* SPDX-License-Identifier: MIT
 * The facts about one finished request that its spans are made of. The record goes from the daemon to the
 * process that exports it, so it has a fixed size and no pointers. */
#ifndef BLURD_SERVER_TRACING_SPAN_H
#define BLURD_SERVER_TRACING_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "server/message/trace.h"
#include "server/metrics.h"

struct request;

enum { SPAN_TEXT_MAX = 64, SPAN_PATH_MAX = 128 };

struct span_record {
    char trace_id[TRACE_ID_SIZE + 1];      /* empty: a new trace begins here */
    char parent_id[TRACE_PARENT_SIZE + 1]; /* empty: none */
    char method[16];
    char path[SPAN_PATH_MAX];  /* cut if it is longer */
    char route[SPAN_TEXT_MAX]; /* empty: unknown */
    char request_id[SPAN_TEXT_MAX + 1];
    char client[SPAN_TEXT_MAX];
    char backend[SPAN_TEXT_MAX];
    char problem[SPAN_TEXT_MAX]; /* empty: none */
    uint32_t http_status, width, height;
    uint64_t received, sent; /* bytes of bodies */
    int64_t begin_ns;        /* since 1970 */
    int64_t queued_ns;       /* the same */
    int64_t end_ns;          /* the same */
    int64_t stage_ns[STAGE_COUNT];
    bool stages; /* the request got as far as a worker: the stages are known */
};

/* Whether the request is to be exported: its client does not say that the trace is not sampled, and it is no
 * answered probe. */
bool span_is_wanted(const struct request *request);

void span_fill(struct span_record *record, const struct request *request);

#endif
