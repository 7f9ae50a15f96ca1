/* SPDX-License-Identifier: MIT
 * Whether parameters go together. */
#include "server/message/parameters.h"

/* Contradictions between the arguments of a step. Planning finds them, for which any picture will do, unless
 * the filter has a check of its own, because its plan depends on the picture's size. */
static enum status check_operation(const struct operation *operation, struct error *err) {
    static const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 1, .height = 1};
    const struct filter *filter = operation->filter;
    struct chain chain = {0};
    return filter->check ? filter->check(&operation->arguments, err)
                         : chain_append(&chain, filter, &operation->arguments, &shape, err);
}

/* In a pipeline the error names the step, as the filter's arguments are no parameters there. */
static enum status check_operations(const struct parameters *parameters, struct error *err) {
    struct error cause = {0};
    enum status status = ST_OK;
    unsigned i = 0;
    while (i < parameters->ops.count && status == ST_OK) {
        status = check_operation(&parameters->ops.operation[i++], &cause);
    }
    if (status == ST_ARGUMENT && !parameters->filter) {
        return fail_argument(err, "ops", "ops: step %u: %.200s", i, cause.text);
    }
    *err = cause;
    return status;
}

/* Regions before a step that moves pixels, without filters between: only redaction uses them. */
static enum status check_redacted(const struct parameters *parameters, struct error *err) {
    const char *name = parameters->ops.operation[0].filter->name;
    if (parameters->input.mode != MODE_REDACT) {
        return fail_argument(err, "region",
                             "region: %s acts on the whole picture, regions are for filters before it or for "
                             "mode=redact",
                             name);
    }
    return parameters->input.feather > 0
               ? fail_argument(err, "feather", "feather: %s acts on the whole picture, without soft edges",
                               name)
               : ST_OK;
}

/* A mask lies over the picture as it came: filters under it come before the first step that moves pixels. */
static enum status check_mask(const struct parameters *parameters, struct error *err) {
    const struct operation *operation = parameters->ops.operation;
    unsigned count = parameters->ops.count, masked = 0;
    while (masked < count && !operation[masked].filter->moves) {
        masked++;
    }
    if (masked == 0) {
        return check_redacted(parameters, err);
    }
    for (unsigned i = masked; i < count; i++) {
        if (!operation[i].filter->moves) {
            return fail_argument(err, "region",
                                 "region: %s cannot follow %s, as regions lie in the picture as it came",
                                 operation[i].filter->name, operation[masked].filter->name);
        }
    }
    return ST_OK;
}

/* The unit of an own rectangle. It needs no region. */
static bool has_own_unit(const struct parameters *parameters) {
    return parameters->filter && argument_find(parameters->filter->arguments, "unit");
}

enum status parameters_check(const struct parameters *parameters, struct error *err) {
    const struct input_arguments *input = &parameters->input;
    if (parameters->ops.count == 0) {
        return fail_argument(err, "ops", "ops is missing: the steps of the pipeline, as in blur:sigma=8");
    }
    if (input->region.count == 0 && (input->feather > 0 || input->invert)) {
        return fail_argument(err, input->invert ? "invert" : "feather", "%s needs a region",
                             input->invert ? "invert" : "feather");
    }
    if (input->region.count == 0 && input->region.unit != REGION_PX && !has_own_unit(parameters)) {
        return fail_argument(err, "unit", "unit needs a region");
    }
    enum status status = region_check(&input->region, err);
    if (status != ST_OK) {
        return status;
    }
    if (input->mode == MODE_REDACT && parameters->output.metadata == METADATA_KEEP) {
        return fail_argument(err, "metadata", "metadata is keep, but mode=redact drops all metadata");
    }
    status = input->region.count > 0 ? check_mask(parameters, err) : ST_OK;
    return status == ST_OK ? check_operations(parameters, err) : status;
}
