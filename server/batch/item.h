/* SPDX-License-Identifier: MIT
 * One picture on its way through a batch. */
#ifndef BLURD_SERVER_BATCH_ITEM_H
#define BLURD_SERVER_BATCH_ITEM_H

#include "server/batch/input/source.h"
#include "server/client/http/transfer.h"

enum item_outcome {
    ITEM_OPEN,    /* not done yet */
    ITEM_DONE,    /* `out` has the answer */
    ITEM_FAILED,  /* result.reason and .detail say why */
    ITEM_SKIPPED, /* it is no picture; the same */
    ITEM_KEPT,    /* an earlier batch has done it */
    ITEM_PASSED,  /* it is copied as it is, and not counted */
};

struct item {
    unsigned long number; /* in the order in which they were taken */
    struct input input;
    struct stat file; /* as it was opened; st_nlink 0: not opened */
    int in, out;      /* the file and the answer; -1: closed */
    enum item_outcome outcome;
    char answer[PATH_MAX]; /* name of the answer */
    struct transfer_result result;
    unsigned tries;
    double ms;
    uint32_t known; /* the state of the file in an earlier batch; 0: none */
    void *more;     /* memory of the kind of batch, freed with the item */
    struct item *next;
};

/* Says why it is not done. */
void item_fail(struct item *item, enum item_outcome outcome, const char *reason, const char *detail);

/* Closes its files and frees it. Accepts NULL. */
void item_destroy(struct item *item);

#endif
