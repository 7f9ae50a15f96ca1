/* SPDX-License-Identifier: MIT
 * From a query string to the plan that backends get. */
#ifndef BLURD_TESTS_FUZZ_PLAN_H
#define BLURD_TESTS_FUZZ_PLAN_H

#include "server/message/parameters.h"
#include "tests/fuzz/common/fuzz.h"

/* The input's first byte chooses the endpoint, the rest is the query string. Returns whether
 * everything in it is right. */
bool fuzz_parameters(struct bytes *input, struct parameters *parameters);

/* Whether pictures of that shape are given to these filters: planes of YCbCr only where all take them. */
bool fuzz_takes(const struct parameters *parameters, const struct image_shape *shape);

/* Plans the filters of the parameters; ST_OK, or a failure with a sentence. */
enum status fuzz_plan(const struct parameters *parameters, const struct image_shape *shape,
                      struct chain *chain);

#endif
