/* SPDX-License-Identifier: MIT
 * Predicts a request's time from its intent (server/planner/intent.h); footprint.h predicts its memory.
 *
 * The time is a constant plus decoding, filters and encoding, each in nanoseconds a pixel, sample or byte by
 * tables that were measured on one machine: of struct codec, of struct filter and of core/tuned.h. A PNG with
 * few bytes for its samples is taken for a screenshot or a drawing, whose encoding depends on its bytes, and
 * filters count for what regions of the request cover. For each
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

/* Bytes of the largest file whose scans a GPU reads, and of its coefficients: what the engine has memory for.
 */
enum { COST_READ_MAX = 1 << 20, COST_READ_VALUES_MAX = 40 << 20 };

struct way_cost {
    unsigned kind;    /* below COST_KINDS; of ways that a general worker takes */
    int64_t table_ns; /* by the table, without a search on cores; 0: the request cannot take the way now */
    int64_t ns;       /* by the table and the learnt ratios, with the search; 0 as table_ns */
};

struct cost {
    struct way_cost ways[WAY_COUNT];
    int64_t search_ns; /* by the table: of a search on cores; 0: none */
    enum way general;  /* that a general worker is expected to take */
    enum way way;      /* the same, or WAY_GPU_FILE: a GPU is expected to finish before a general worker */
};

/* Zero-initialise. Thread-safe; concurrent updates may be lost. */
struct cost_model {
    _Atomic float ratio[COST_KINDS]; /* real time / table_ns; 0: nothing learnt yet */
    _Atomic float device_ratio;      /* the same on a GPU, near the median; 0: nothing learnt yet */
    _Atomic float detect_ratio;      /* of searches, wherever it is done */
};

/* Predicts the ways that the request can take with this GPU (NULL: there is none) as it is now, and chooses
 * among them; with prefers_gpu the GPU's codecs come first, whatever is predicted. Thread-safe. */
struct cost cost_predict(const struct cost_model *model, const struct intent *intent, struct backend *gpu,
                         bool prefers_gpu);

/* A general worker has taken that way. real_ns is the time from beginning to end, search_ns the part of it in
 * which the picture was searched. A way that was not predicted teaches nothing. */
void cost_learn(struct cost_model *model, const struct cost *cost, enum way way, int64_t real_ns,
                int64_t search_ns);

/* A GPU has done all of it: WAY_GPU_FILE, which was predicted. */
void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns);

/* Call it when the processor has done what a GPU could have done. The learnt time of the GPU moves a little
 * towards the table's, because it may be of a time when the GPU had more to do. So a few of many such
 * requests go to the GPU again, and the model learns what the GPU takes now. */
void cost_doubt_device(struct cost_model *model);

#endif
