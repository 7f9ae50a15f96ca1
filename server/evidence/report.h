/* SPDX-License-Identifier: MIT
 * What a report says about a redaction: a JSON text, docs/api/report.schema.json, that is signed
 * (server/evidence/dsse.h) and precedes the picture in the answer. It has digests, numbers and names, and
 * nothing of what the picture shows. */
#ifndef BLURD_SERVER_EVIDENCE_REPORT_H
#define BLURD_SERVER_EVIDENCE_REPORT_H

#include "server/evidence/digest.h"
#include "server/planner/plan.h"

struct report_text;
struct request;

#define REPORT_TYPE "application/vnd.blurd.redaction+json"

enum { REPORT_VERSION = 1 };

/* Puts the signed report in front of the picture in the answer's body, which becomes multipart/mixed with the
 * request's `boundary`, or JSON where `Accept` names it. To be called once the picture is complete; all of it
 * is in the body. ST_BUSY or ST_LIMIT: there is no memory; then no picture may be sent. */
enum status report_add(struct request *request, const struct work_plan *plan, struct error *err);

/* Compares what a report says of input, answer, fill and the outside with a redaction that was done again,
 * whose picture is the answer's body. ST_UNVERIFIED names what differs. */
enum status report_check(struct request *request, const struct work_plan *plan,
                         const struct report_text *report, struct error *err);

#endif
