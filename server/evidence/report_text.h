/* SPDX-License-Identifier: MIT
 * Reads the text of a report. */
#ifndef BLURD_SERVER_EVIDENCE_REPORT_TEXT_H
#define BLURD_SERVER_EVIDENCE_REPORT_TEXT_H

#include <stdbool.h>

#include "server/evidence/digest.h"

enum { REPORT_WORD_MAX = 32 };

/* What checking needs of it. Views lie in the text. */
struct report_text {
    unsigned version;
    char program[REPORT_WORD_MAX]; /* version of the program that made it */
    char build[2 * DIGEST_BYTES + 1];
    char input[DIGEST_TEXT], answer[DIGEST_TEXT]; /* SHA-256 in hexadecimal */
    char mask[DIGEST_TEXT];                       /* of the form's mask; "": none */
    char format[REPORT_WORD_MAX];                 /* of the answer */
    struct bytes parameters;                      /* an array of objects with name and value */
    struct bytes redacted;                        /* a list of regions (filters/argument/region_list.h) */
    struct bytes input_view, answer_view, fill, outside; /* whole values */
};

/* ST_CORRUPT names what is missing or no JSON. Names that it does not know are passed over. */
enum status report_text_read(struct bytes text, struct report_text *report, struct error *err);

/* A parameter of the request. */
struct report_parameter {
    char name[64], value[4096];
};

/* Calls `take` with each parameter until one is refused. ST_CORRUPT: they are no such array. */
enum status report_text_parameters(struct bytes parameters,
                                   enum status (*take)(void *context,
                                                       const struct report_parameter *parameter,
                                                       struct error *err),
                                   void *context, struct error *err);

#endif
