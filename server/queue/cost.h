/* SPDX-License-Identifier: MIT
 * Predicts a request's time from its intent (server/picture/intent.h); footprint.h predicts its memory.
 *
 * The time is a constant plus decoding, filters and encoding, each in nanoseconds a pixel, sample or byte by
 * tables that were measured on one machine: of struct codec, of struct filter and of core/tuned.h. For each
 * kind of work the model learns the ratio of real to tabled time as an exponential moving average of about
 * eight requests. Requests below 5 ms have a proportionally lower weight, so that icons do not distort the
 * predictions for large pictures. */
#ifndef BLURD_SERVER_QUEUE_COST_H
#define BLURD_SERVER_QUEUE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/message/parameters.h"

struct intent;

/* Each combination of input, work and output has its own ratio. */
enum { COST_INPUTS = 2 * CODEC_COUNT + 3, COST_WORKS = FILTER_COUNT + 2, COST_OUTPUTS = 2 * CODEC_COUNT };
enum { COST_KINDS = COST_INPUTS * COST_WORKS * COST_OUTPUTS };
enum { COST_DOUBT = 4 }; /* see cost_device_first */

/* Bytes of the largest file whose scans a GPU reads, and of its coefficients: what the engine has memory for.
 */
enum { COST_READ_MAX = 1 << 20, COST_READ_VALUES_MAX = 40 << 20 };

struct cost {
    unsigned kind;                      /* below COST_KINDS */
    int64_t table_ns;                   /* by the table */
    int64_t detect_table_ns;            /* of the search for faces, which is no part of table_ns; 0: none */
    int64_t ns;                         /* of both, by the table and the learnt ratios */
    int64_t device_table_ns, device_ns; /* the same on a GPU; 0: its codecs cannot do it */
    /* Of a JPEG that a worker decodes to coefficients and a GPU does the rest of; 0: none. */
    unsigned handed_kind;
    int64_t handed_table_ns;
    int64_t read_ns; /* the same file on a GPU that also reads its scans; 0: it does not */
    bool handed;     /* it goes that way, and the first members say how long it takes */
};

/* Zero-initialise. Thread-safe; concurrent updates may be lost. */
struct cost_model {
    _Atomic float ratio[COST_KINDS]; /* real time / table_ns; 0: nothing learnt yet */
    _Atomic float device_ratio;      /* the same on a GPU, near the median; 0: nothing learnt yet */
    _Atomic float detect_ratio;      /* of the search for faces, wherever it is done */
};

/* Whether a GPU's codecs are predicted to finish before the processor. Their predicted time counts as at most
 * COST_DOUBT times the table's: otherwise one long wait could end their use, and with it the learning. */
bool cost_device_first(const struct cost *cost);

/* Whether a GPU is faster than the processor at what comes after the coefficients, by the table. */
bool cost_hands_first(const struct cost *cost);

/* Lets the coefficients go to a GPU. */
void cost_hand_over(struct cost *cost, const struct cost_model *model);

struct cost cost_predict(const struct cost_model *model, const struct intent *intent);

/* real_ns is the time from beginning to end on a worker, without the search for faces. */
void cost_learn(struct cost_model *model, const struct cost *cost, int64_t real_ns);

void cost_learn_detection(struct cost_model *model, const struct cost *cost, int64_t real_ns);

void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns);

/* Call it when the processor has done what a GPU could have done. The learnt time of the GPU moves a little
 * towards the table's, because it may be of a time when the GPU had more to do. So a few of many such
 * requests go to the GPU again, and the model learns what the GPU takes now. */
void cost_doubt_device(struct cost_model *model);

#endif
