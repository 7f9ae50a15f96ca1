/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/common/plan.h"

#include <stdlib.h>
#include <string.h>

#include "filters/backend.h"

bool fuzz_parameters(struct bytes *input, struct parameters *parameters) {
    unsigned endpoint = fuzz_byte(input) % (FILTER_COUNT + 1);
    if (endpoint == FILTER_DETECT) { /* has no arguments, and needs a model */
        return false;
    }
    char *query = fuzz_text(*input);
    struct error err = {0};
    parameters_init(parameters, endpoint < FILTER_COUNT ? filter_get((enum filter_id)endpoint) : NULL);
    enum status status = parameters_parse(parameters, query, &err);
    status = status == ST_OK ? parameters_check(parameters, &err) : status;
    free(query);
    fuzz_require(status == ST_OK || status == ST_ARGUMENT, "a bad parameter is one");
    fuzz_require(status == ST_OK || (err.status == status && err.text[0]), "a failure is explained");
    fuzz_require(memchr(err.text, '\0', sizeof err.text) && memchr(err.parameter, '\0', sizeof err.parameter),
                 "an explanation ends");
    return status == ST_OK;
}

bool fuzz_takes(const struct parameters *parameters, const struct image_shape *shape) {
    struct chain chain = {0};
    bool all = true;
    for (unsigned i = 0; i < parameters->ops.count && all && shape->model == PIXEL_YCBCR; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        struct image_shape read = chain_result(&chain, shape);
        all = operation->filter->planar && operation->filter->planar(&operation->arguments, &read) &&
              chain_append(&chain, operation->filter, &operation->arguments, shape, NULL) == ST_OK;
    }
    return all;
}

enum status fuzz_plan(const struct parameters *parameters, const struct image_shape *shape,
                      struct chain *chain) {
    struct error err = {0};
    enum status status = ST_OK;
    memset(chain, 0, sizeof *chain);
    for (unsigned i = 0; i < parameters->ops.count && status == ST_OK; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        status = chain_append(chain, operation->filter, &operation->arguments, shape, &err);
    }
    fuzz_require(status == ST_OK || err.text[0], "a failure is explained");
    fuzz_require(status != ST_OK || chain_check(chain, shape, &err) == ST_OK, "a plan passes its own check");
    return status;
}
