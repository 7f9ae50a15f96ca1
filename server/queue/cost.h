/* SPDX-License-Identifier: MIT
 * What a request will cost, predicted from its intent (server/picture/intent.h).
 *
 * The time is a constant and a sum of terms (decoding, filters, encoding), each so many nanoseconds a pixel,
 * sample or byte: the table in cost.c, measured once on one machine. What another machine makes of it is
 * learnt: for each kind of work, the ratio of real to tabled time, as a mean that forgets. Requests of 5 ms
 * and more count alike, of which the last eight or so matter; shorter ones count less, in proportion, so that
 * icons do not decide what is believed of large pictures.
 *
 * What it takes of memory is server/picture/footprint.h. */
#ifndef BLURD_SERVER_QUEUE_COST_H
#define BLURD_SERVER_QUEUE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/message/parameters.h"

struct intent;

/* Kinds of work whose ratios are learnt apart: how it is decoded, what is done, how it is encoded. */
enum { COST_INPUTS = 5, COST_WORKS = FILTER_COUNT + 2, COST_OUTPUTS = 4 };
enum { COST_KINDS = COST_INPUTS * COST_WORKS * COST_OUTPUTS };
enum { COST_DOUBT = 4 }; /* see cost_device_first */

struct cost {
    unsigned kind;                      /* below COST_KINDS */
    int64_t table_ns;                   /* by the table */
    int64_t ns;                         /* by the table and what was learnt */
    int64_t device_table_ns, device_ns; /* the same where a GPU's codecs do all; 0: they do not */
};

/* Zero-initialise. Thread-safe: a lost update is one less to learn from. */
struct cost_model {
    _Atomic float ratio[COST_KINDS]; /* real time / table's; 0: nothing learnt yet */
    _Atomic float device_ratio;
};

/* Whether a GPU's codecs are predicted to be done before the processor. Of what was learnt about them no more
 * than COST_DOUBT times the table counts: one long wait must not keep all pictures away for ever, since then
 * nothing would be learnt any more. */
bool cost_device_first(const struct cost *cost);

struct cost cost_predict(const struct cost_model *model, const struct intent *intent);

/* The work took so long in all. */
void cost_learn(struct cost_model *model, const struct cost *cost, int64_t real_ns);

/* So long by a GPU's codecs. */
void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns);

#endif
