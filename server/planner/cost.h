/* SPDX-License-Identifier: MIT
 * Predicts a request's time from its intent (server/planner/intent.h); footprint.h predicts its memory.
 *
 * The time is a constant plus decoding, filters and encoding, each in nanoseconds a pixel, sample or byte by
 * tables that were measured on one machine: of struct codec, of struct filter and of core/tuned.h. For each
 * kind of work the model learns the ratio of real to tabled time as an exponential moving average of about
 * eight requests. Requests below 5 ms have a proportionally lower weight, so that icons do not distort the
 * predictions for large pictures. */
#ifndef BLURD_SERVER_PLANNER_COST_H
#define BLURD_SERVER_PLANNER_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/message/parameters.h"
#include "server/planner/way.h"

struct intent;

/* Each combination of input, work and output has its own ratio; a part that a GPU does is an input, a work or
 * an output of its own. */
enum { COST_INPUTS = 2 * CODEC_COUNT + 5, COST_WORKS = FILTER_COUNT + 3, COST_OUTPUTS = 2 * CODEC_COUNT + 1 };
enum { COST_KINDS = COST_INPUTS * COST_WORKS * COST_OUTPUTS };
enum { COST_DOUBT = 4 }; /* see cost_device_first */

/* Bytes of the largest file whose scans a GPU reads, and of its coefficients: what the engine has memory for.
 */
enum { COST_READ_MAX = 1 << 20, COST_READ_VALUES_MAX = 40 << 20 };

struct way_cost {
    unsigned kind;    /* below COST_KINDS; of ways that a general worker takes */
    int64_t table_ns; /* by the table, without a search on cores; 0: the way does not fit */
};

struct cost {
    struct way_cost ways[WAY_COUNT]; /* as if a GPU served */
    int64_t search_ns;               /* by the table: of a search on cores; 0: none */
    int64_t device_ns;               /* of WAY_GPU_FILE, by the table and the learnt ratio */
    enum way way;                    /* that a general worker is expected to take: cost_take */
    int64_t ns;                      /* of that way with its search, by the table and the learnt ratios */
};

/* Zero-initialise. Thread-safe; concurrent updates may be lost. */
struct cost_model {
    _Atomic float ratio[COST_KINDS]; /* real time / table_ns; 0: nothing learnt yet */
    _Atomic float device_ratio;      /* the same on a GPU, near the median; 0: nothing learnt yet */
    _Atomic float detect_ratio;      /* of searches, wherever it is done */
};

/* Whether a GPU's codecs are predicted to finish before a general worker. Their predicted time counts as at
 * most COST_DOUBT times the table's: otherwise one long wait could end their use, and with it the learning.
 */
bool cost_device_first(const struct cost *cost);

/* Whether a GPU is faster than the processor at what comes after the coefficients, by the table. */
bool cost_hands_first(const struct cost *cost);

/* Sets way and ns, for a general worker that takes that way. It must fit. */
void cost_take(struct cost *cost, const struct cost_model *model, enum way way);

/* Predicts all ways that fit, and takes the one without a GPU: WAY_BLOCKS where that fits, or else WAY_CPU.
 */
struct cost cost_predict(const struct cost_model *model, const struct intent *intent);

/* A general worker has taken that way. real_ns is the time from beginning to end, search_ns the part of it in
 * which faces were searched for. A way that was not predicted teaches nothing. */
void cost_learn(struct cost_model *model, const struct cost *cost, enum way way, int64_t real_ns,
                int64_t search_ns);

/* A GPU has done all of it: WAY_GPU_FILE, which was predicted. */
void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns);

/* Call it when the processor has done what a GPU could have done. The learnt time of the GPU moves a little
 * towards the table's, because it may be of a time when the GPU had more to do. So a few of many such
 * requests go to the GPU again, and the model learns what the GPU takes now. */
void cost_doubt_device(struct cost_model *model);

#endif
