/* SPDX-License-Identifier: MIT
 * What a worker does with a request that the queue hands to it. The request is the worker's from then on, and
 * the event thread's again when its connection is resumed. */
#ifndef BLURD_SERVER_WORK_H
#define BLURD_SERVER_WORK_H

#include <stdint.h>

#include "core/status.h"
#include "server/queue/admission.h"

struct request;
struct worker;

/* Does the work of the request whose member the job is, and resumes its connection. Called by a worker. */
void work_run(struct job *job, struct worker *worker);

/* Answers with the refusal instead. A frame of a series is given back as it is, to be submitted again. */
void work_refuse(struct job *job, enum refusal refusal);

/* Called with the status of the work. Of a request that ran out of time, but did not compute for a tenth of
 * it or more, others had the rest: it is refused with ST_BUSY, since it may succeed later. Else as it was. */
enum status work_judge_late(struct request *request, enum status status);

/* Updates the cost model with the time that a worker of that role took for the request; of ROLE_LARGE, whose
 * priority is lower, with the time that it computed. */
void work_learn(struct request *request, enum role role, int64_t real_ns);

#endif
