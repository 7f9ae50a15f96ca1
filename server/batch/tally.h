/* SPDX-License-Identifier: MIT
 * Counts what a batch has done, and tells people about it on standard error. Under the batch's lock. */
#ifndef BLURD_SERVER_BATCH_TALLY_H
#define BLURD_SERVER_BATCH_TALLY_H

#include <stdint.h>

#include "server/batch/item.h"

enum { TALLY_REASONS = 32 };

struct batch_tally {
    bool quiet, terminal;
    bool dry;         /* nothing is done, only counted */
    bool shown;       /* the terminal's line has the progress */
    int64_t start_ns; /* clock_ns */
    int64_t told_ns;  /* of the last line of progress */
    uint64_t total;   /* files there are; 0: unknown */
    uint64_t done, failed, skipped, kept;
    struct {
        char reason[TRANSFER_REASON_MAX];
        uint64_t count;
    } reasons[TALLY_REASONS]; /* of failed and skipped ones; the last counts all others */
};

void tally_begin(struct batch_tally *tally, bool quiet);

/* Counts an item, and tells of a failure. */
void tally_count(struct batch_tally *tally, const struct item *item);

/* Shows how far it is: on a terminal in one line that is written anew, else in a line each minute. */
void tally_progress(struct batch_tally *tally);

/* Tells what was done, by reasons. */
void tally_end(struct batch_tally *tally);

#endif
