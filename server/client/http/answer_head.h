/* SPDX-License-Identifier: MIT
 * Status line and fields of an answer, as far as a batch needs them. */
#ifndef BLURD_SERVER_CLIENT_HTTP_ANSWER_HEAD_H
#define BLURD_SERVER_CLIENT_HTTP_ANSWER_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/status.h"

enum { ANSWER_TYPE_MAX = 128, ANSWER_BACKEND_MAX = 48 };

struct answer_head {
    unsigned status;
    bool closes;                /* the connection ends with this answer */
    uint64_t length;            /* of the body */
    int retry_s;                /* Retry-After; -1: none */
    long regions;               /* X-Regions; -1: none */
    char type[ANSWER_TYPE_MAX]; /* with its parameters */
    char backend[ANSWER_BACKEND_MAX];
};

/* Reads a head, from its status line to its empty line. ST_CORRUPT: it is none, or does not tell the length
 * of the body, as answers of blurd do. That of a refusal counts as 0 then. */
enum status answer_head_read(struct bytes text, struct answer_head *head, struct error *err);

#endif
