/* SPDX-License-Identifier: MIT
 * Regions as a list that requests can carry back (filters/argument/region_list.h). A picture that is redacted
 * with the list has the bytes of one that is redacted with what the list was made of: numbers are pixels of
 * the upright picture, with all their digits. */
#ifndef BLURD_SERVER_EVIDENCE_REDACTION_LIST_H
#define BLURD_SERVER_EVIDENCE_REDACTION_LIST_H

#include "server/evidence/digest.h"
#include "server/planner/plan.h"

/* Appends the list of a plan whose searches are done, as a JSON object: the picture's size and digest, and
 * each region with what named it (`region`, `list` or `found`) and, of what was found, score and class.
 * ST_LIMIT or ST_BUSY as buf_append. */
enum status redaction_list_write(const struct work_plan *plan, const struct digest *input, struct buf *body,
                                 struct error *err);

/* The same with the array `doubtful`, which is passed over when the list comes back. */
enum status redaction_list_plan(const struct work_plan *plan, struct buf *body, struct error *err);

/* Checks that the list which came with the request, if one did, is for this picture. ST_ARGUMENT: it has the
 * SHA-256 of another file. */
enum status redaction_list_check(const struct parameters *parameters, struct bytes picture,
                                 struct error *err);

#endif
