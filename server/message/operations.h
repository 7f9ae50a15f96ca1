/* SPDX-License-Identifier: MIT
 * The steps of a pipeline as text: "blur:sigma=8:edge=wrap|sharpen:amount=0.5". */
#ifndef BLURD_SERVER_MESSAGE_OPERATIONS_H
#define BLURD_SERVER_MESSAGE_OPERATIONS_H

#include "filters/chain.h"

/* One filter with its own arguments. */
struct operation {
    const struct filter *filter;
    union filter_arguments arguments;
};

struct operation_list {
    unsigned count;
    unsigned most; /* steps that may be asked for, at most CHAIN_STEPS_MAX */
    struct operation operation[CHAIN_STEPS_MAX];
};

/* Parses the steps into a struct operation_list. ST_ARGUMENT names the step and the error: an unknown or
 * repeated argument, a value out of range, a filter that makes no picture, or too many steps. */
enum status operations_parse(const struct argument *row, const char *text, void *field, struct error *err);

#endif
