/* SPDX-License-Identifier: MIT
 * The record of one request and its answer. exchange.h has the functions. */
#ifndef BLURD_SERVER_REQUEST_H
#define BLURD_SERVER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/slot.h"
#include "server/framing.h"
#include "server/message/cors.h"
#include "server/message/parameters.h"
#include "server/message/trace.h"
#include "server/metrics.h"
#include "server/outcome.h"
#include "server/planner/cost.h"
#include "server/problem.h"
#include "server/queue/admission.h"

struct finds;
struct held;
struct request;
struct service;
struct worker;
struct route;
struct verification;

enum {
    REQUEST_ID_MAX = 64,
    REQUEST_TARGET_MAX = 8 << 10, /* bytes of path and query */
    ANSWER_HEADERS_MAX = 24,
};

struct answer_header {
    const char *name;
    char value[320];
    const char *longer; /* in place of value; outlives the answer. NULL: none */
};

/* The HTTP side takes over the body, which is heap memory, and the slot. */
struct answer {
    unsigned http_status;
    struct buf body;   /* the whole body, or what comes before `rest` */
    struct bytes rest; /* the end of the body, in `slot`; an engine may still change it. Size 0: none */
    struct slot *slot; /* NULL: none */
    unsigned header_count;
    struct answer_header header[ANSWER_HEADERS_MAX];
};

/* How a worker reaches the connection of a request. */
struct request_transport {
    void (*resume)(struct request *request);        /* the answer is ready: gives it to the event thread */
    bool (*is_gone)(const struct request *request); /* the client reads no answer any more */
};

struct request {
    struct service *service;
    struct settings *settings; /* as they were when it began */
    bool admin;                /* came through the second listener */
    struct job job;            /* the queue's */
    struct cost cost;          /* predicted, once the body is there */
    const struct request_transport *transport;
    void *connection;     /* the transport's */
    unsigned phase;       /* server/http/connection.c's; 0 at first. Of a frame, server/series/frames.c's */
    bool is_frame;        /* of a series: has no connection, log line or answer of its own */
    struct request *next; /* the transport's, once a worker has given it back */
    char client[48];      /* address of the peer, for the log; as in struct connection */
    char id[REQUEST_ID_MAX + 1];
    struct trace trace; /* whose work this is part of */
    char method[16];
    const struct route *route;    /* NULL until known */
    struct parameters parameters; /* parameters_init sets them, for targets that take a picture */
    struct framing framing;
    char accept[256];
    char accept_encoding[128];
    char if_none_match[256];
    char content_type[256];
    char content_coding[40]; /* the first that is not `identity`; empty: none */
    struct cors cors;
    unsigned authorizations; /* Authorization fields seen */
    bool authorized;
    bool answered;                     /* the answer is complete */
    bool close;                        /* the connection must not be used again */
    struct slot *slot;                 /* holds the body, and tables of what it asks for */
    struct verification *verification; /* in the slot, of /verify once envelope_open has read it; else NULL */
    size_t body_size;                  /* bytes of the body kept at the slot's start */
    struct finds *finds;               /* of a frame that was searched; owned, else NULL */
    struct held *held;    /* in the slot: becomes regions before the picture is read. Else NULL */
    struct bytes picture; /* in the body; NULL until envelope_open */
    uint64_t needed;     /* bytes beside the body, planned: set when overload_requeue has to follow. Else 0 */
    bool requeued;       /* overload_requeue has done so */
    uint64_t received;   /* bytes of the body seen, discarded ones included */
    size_t sent;         /* bytes of the answer's body */
    size_t answer_bytes; /* memory of it that counts against the budget */
    enum refusal refusal; /* set with PROBLEM_BUSY */
    unsigned retry_after_s;
    int64_t created_ns; /* clock_ns */
    int64_t queued_ns;
    struct error error;
    struct answer answer;
    struct outcome outcome;
    char *query;   /* in target; NULL: none */
    char target[]; /* path, zero, query, zero */
};

/* Whether the answer is read again before it is sent: all of it must be in memory of the daemon's own. */
static inline bool request_reads_answer(const struct request *request) {
    return request->parameters.evidence.report || request->verification;
}

/* Gives the memory of the body back. Allowed without a slot. */
static inline void request_give_slot_back(struct request *request) {
    slot_give_back(request->slot);
    request->slot = NULL;
}

#endif
