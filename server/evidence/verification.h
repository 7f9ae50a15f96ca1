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
 * request->verification. ST_ARGUMENT: a part is missing, unknown or malformed. ST_UNVERIFIED: what of the
 * report does not hold. */
enum status verification_open(struct request *request, struct error *err);

/* Compares the answer that was made of the input, if there is one, and replaces it by what was verified, as
 * JSON. ST_UNVERIFIED: it is another one. */
enum status verification_answer(struct request *request, const struct work_plan *plan, struct error *err);

#endif
