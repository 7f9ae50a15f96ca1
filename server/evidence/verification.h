/* SPDX-License-Identifier: MIT
 * Checks a report (server/evidence/report.h): whether a trusted key signed it, whether it is about this
 * answer and this input, and whether the redaction that it states, done again, gives the answer to the byte.
 * Then nothing but what the report states went into the answer. */
#ifndef BLURD_SERVER_EVIDENCE_VERIFICATION_H
#define BLURD_SERVER_EVIDENCE_VERIFICATION_H

#include "core/status.h"

struct request;
struct work_plan;

/* Reads the form of /verify, with the parts report, answer and perhaps input and mask, and checks all that
 * needs no picture. With an input, the request becomes that of the redaction: request->picture is set. Sets
 * request->verification. ST_ARGUMENT: a part is missing, unknown or malformed. ST_UNVERIFIED: the
 * report does not hold, as the sentence says. */
enum status verification_open(struct request *request, struct error *err);

/* If there was an input, compares the picture that was made of it with the answer. Then the answer's body
 * becomes JSON that says what was verified. ST_UNVERIFIED: the pictures differ, or the report says of them
 * what is not so. */
enum status verification_answer(struct request *request, const struct work_plan *plan, struct error *err);

#endif
