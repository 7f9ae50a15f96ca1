/* SPDX-License-Identifier: MIT
 * Whether parameters go together. */
#include "server/message/parameters.h"

uint32_t parameters_detect(const struct parameters *parameters) {
    const struct filter *filter = parameters->filter;
    return filter && filter->answer == ANSWER_BOXES ? parameters->ops.operation[0].arguments.detect.wanted
                                                    : parameters->detect.wanted;
}

/* 1 + the number of the detector whose finds decide what the operation keeps; 0: none. */
static unsigned followed(const struct operation *operation) {
    const struct filter_window *window = operation->filter->window;
    return window ? window->follows(&operation->arguments) : 0;
}

uint32_t parameters_follow(const struct parameters *parameters) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const unsigned number = followed(&parameters->ops.operation[i]);
        bits |= number ? UINT32_C(1) << (number - 1) : 0;
    }
    return bits;
}

uint32_t parameters_search(const struct parameters *parameters) {
    const enum detection_stage stage = parameters->detect.stage;
    return (stage == DETECT_HELD ? 0 : parameters_detect(parameters)) |
           (stage == DETECT_FINDS ? 0 : parameters_follow(parameters));
}

uint32_t parameters_look(const struct parameters *parameters) {
    const struct operation *first = &parameters->ops.operation[0];
    if (parameters->input.fill.tiles) {
        return FILL_TILE_SIDE;
    }
    return first->filter->redacts ? first->filter->redacts(&first->arguments) : 0;
}

bool parameters_select(const struct parameters *parameters) {
    const struct input_arguments *input = &parameters->input;
    return input->region.count > 0 || input->listed || input->mask.data || parameters->detect.wanted;
}

enum filter_answer parameters_answer(const struct parameters *parameters) {
    const bool boxes = parameters->evidence.plan || parameters->detect.stage == DETECT_FINDS;
    return boxes ? ANSWER_BOXES : parameters->filter ? parameters->filter->answer : ANSWER_PICTURE;
}

bool parameters_clear_transparent(const struct parameters *parameters) {
    return parameters_detect(parameters) || parameters->input.about.clear_transparent;
}

bool parameters_require(const struct parameters *parameters) {
    if (parameters->detect.stage == DETECT_FINDS) {
        return false; /* what is found in frames beside it counts, too */
    }
    return parameters_given(parameters, "require")
               ? parameters->input.require
               : parameters->input.mode == MODE_REDACT && !parameters->evidence.plan &&
                     !parameters->input.series;
}

const char *parameters_selector(const struct parameters *parameters) {
    const struct input_arguments *input = &parameters->input;
    return parameters->detect.wanted ? "detect"
           : input->listed           ? "regions"
           : input->mask.data        ? "mask"
                                     : "region";
}

/* The first parameter of the regions whose value is not that of its row in the table; NULL: none. */
static const char *place_parameter(const struct detection_arguments *detect) {
    return detect->grid != 1                       ? "detect_grid"
           : detect->hold != DETECT_HOLD_USUAL     ? "detect_hold"
           : detect->margin != DETECT_MARGIN_USUAL ? "detect_margin"
           : detect->shape != DETECT_ELLIPSE       ? "detect_shape"
                                                   : NULL;
}

/* And of the search. */
static const char *search_parameter(const struct detection_arguments *detect) {
    return detect->effort != DETECT_EFFORT_NORMAL                    ? "detect_effort"
           : detect->report                                          ? "detect_report"
           : detect->size != 0                                       ? "detect_size"
           : detect->threshold.named || detect->threshold.others > 0 ? "detect_threshold"
                                                                     : NULL;
}

/* The parameter that makes a filter follow a search. */
static const char *follow_parameter(const struct parameters *parameters) {
    return parameters->filter ? "gravity" : "ops";
}

/* The upright picture is searched, as it came. */
static enum status check_follow(const struct parameters *parameters, struct error *err) {
    const char *name = follow_parameter(parameters), *moved = NULL;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        const unsigned number = followed(operation);
        const char *found = number ? detector_get((enum detector_id)(number - 1))->name : "";
        if (number && moved) {
            return fail_argument(
                err, name,
                "%s: step %u: gravity=%s cannot follow %s, as %s are found in the picture as "
                "it came",
                name, i + 1, found, moved, found);
        }
        if (number && !parameters->input.autorotate) {
            return fail_argument(err, name,
                                 "%s: gravity=%s needs autorotate, as %s are found in the upright picture",
                                 name, found, found);
        }
        moved = operation->filter->moves ? operation->filter->name : moved;
    }
    return ST_OK;
}

/* High effort is for a detector that tries more. */
static enum status check_effort(const struct parameters *parameters, uint32_t wanted, struct error *err) {
    bool tries = parameters->detect.effort == DETECT_EFFORT_NORMAL;
    for (unsigned id = 0; wanted >> id; id++) {
        tries = tries || ((wanted >> id & 1) && detector_get((enum detector_id)id)->tries);
    }
    return tries ? ST_OK
                 : fail_argument(err, "detect_effort",
                                 "detect_effort=high is for faces, plates and persons, which detect lacks");
}

/* A threshold is for a detector that searches. */
static enum status check_threshold(const struct parameters *parameters, uint32_t wanted, struct error *err) {
    const uint32_t idle = parameters->detect.threshold.named & ~wanted;
    return !idle ? ST_OK
                 : fail_argument(err, "detect_threshold",
                                 "detect_threshold has a number for %s, which detect lacks",
                                 detector_get(detectors_first(idle))->name);
}

static enum status check_detection(const struct parameters *parameters, struct error *err) {
    const uint32_t wanted = parameters_search(parameters);
    const uint32_t impossible = wanted & ~parameters->detect.possible;
    const char *name = parameters_detect(parameters) ? NULL : place_parameter(&parameters->detect);
    name = !name && !wanted ? search_parameter(&parameters->detect) : name;
    if (name) {
        return fail_argument(err, name, "%s needs detect", name);
    }
    if (!impossible) {
        enum status status = check_effort(parameters, wanted, err);
        return status == ST_OK ? check_threshold(parameters, wanted, err) : status;
    }
    const struct detector *detector = detector_get((enum detector_id)__builtin_ctz(impossible));
    name = impossible & parameters_detect(parameters) ? "detect" : follow_parameter(parameters);
    if (!detector->network) {
        return fail_argument(
            err, name, "%s: this server cannot find %s, as it lacks %s (docs/%s.md tells how to get it)",
            name, detector->name, detector->file, detector->name);
    }
    return fail_argument(err, name,
                         "%s: this server cannot find %s, as it has no model "
                         "(--%s; docs/%s.md#the-model-file tells how to get one)",
                         name, detector->name, detector->option, detector->name);
}

/* The unit of an own rectangle. It needs no region. */
static bool has_own_unit(const struct parameters *parameters) {
    return parameters->filter && argument_find(parameters->filter->arguments, "unit");
}

static enum status check_kept(const struct parameters *parameters, struct error *err) {
    const struct input_arguments *input = &parameters->input;
    const enum region_unit unit = (enum region_unit)input->region.unit;
    if ((input->keep.count > 0 || input->except.count > 0) && !parameters_detect(parameters)) {
        const char *name = input->except.count > 0 ? "except" : "keep";
        return fail_argument(err, name, "%s needs detect, as it is about what is found", name);
    }
    enum status status = region_check(&input->region, err);
    status = status == ST_OK ? region_keep_check(&input->keep, "keep", unit, err) : status;
    return status == ST_OK ? region_keep_check(&input->except, "except", unit, err) : status;
}

/* Without a region, all is filtered. */
static enum status check_selection(const struct parameters *parameters, struct error *err) {
    const struct input_arguments *input = &parameters->input;
    if (!parameters_select(parameters) && (input->feather > 0 || input->invert)) {
        return fail_argument(err, input->invert ? "invert" : "feather", "%s needs a region",
                             input->invert ? "invert" : "feather");
    }
    if (input->require && !parameters_select(parameters)) {
        return fail_argument(err, "require", "require needs a region, a list, a mask or detect");
    }
    if (input->region.count == 0 && !region_keep_has_given(&input->keep) && input->except.count == 0 &&
        input->region.unit != REGION_PX && !has_own_unit(parameters)) {
        return fail_argument(err, "unit", "unit needs a region");
    }
    return check_kept(parameters, err);
}

/* Contradictions between the arguments of a step. Planning finds them, for which any picture will do, unless
 * the filter has a check of its own, because its plan depends on the picture's size. */
static enum status check_operation(const struct operation *operation, struct error *err) {
    static const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 1, .height = 1};
    const struct filter *filter = operation->filter;
    struct chain chain = {0};
    return filter->check ? filter->check(&operation->arguments, err)
                         : chain_append(&chain, filter, &operation->arguments, &shape, err);
}

static enum status check_evidence(const struct parameters *parameters, struct error *err) {
    if (parameters->evidence.plan && parameters->evidence.report) {
        return fail_argument(err, "report",
                             "report: a plan hides nothing, so that there is nothing to report");
    }
    if (parameters->evidence.report && !parameters->evidence.possible) {
        return fail_argument(err, "report",
                             "report: this server signs no reports, as it has no key (--report-key; "
                             "docs/api/evidence.md#a-proof tells how to make one)");
    }
    if (parameters->evidence.plan && !parameters_detect(parameters)) {
        return fail_argument(err, "plan", "plan needs detect: without a search there is nothing to review");
    }
    return ST_OK;
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
    const char *name = parameters->ops.operation[0].filter->name, *what = parameters_selector(parameters);
    if (parameters->input.mode != MODE_REDACT) {
        return fail_argument(err, what,
                             "%s: %s acts on the whole picture, regions are for filters before it or for "
                             "mode=redact",
                             what, name);
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
            const char *what = parameters_selector(parameters);
            return fail_argument(err, what,
                                 "%s: %s cannot follow %s, as regions lie in the picture as it came", what,
                                 operation[i].filter->name, operation[masked].filter->name);
        }
    }
    return ST_OK;
}

enum status parameters_check(const struct parameters *parameters, struct error *err) {
    const struct input_arguments *input = &parameters->input;
    if (parameters->ops.count == 0) {
        return fail_argument(err, "ops", "ops is missing: the steps of the pipeline, as in blur:sigma=8");
    }
    enum status status = check_selection(parameters, err);
    status = status == ST_OK ? check_detection(parameters, err) : status;
    status = status == ST_OK ? check_follow(parameters, err) : status;
    if (status != ST_OK) {
        return status;
    }
    if (parameters->filter && parameters->filter->conceals && !parameters_select(parameters)) {
        return fail_argument(err, "region",
                             "nothing says what has to go: detect, such as detect=faces,text, a region, or a "
                             "form's part regions or mask");
    }
    if (input->mode != MODE_REDACT && (input->fill.kind != FILL_MEAN || input->fill.tiles)) {
        return fail_argument(err, "fill", "fill needs mode=redact");
    }
    if (input->mode == MODE_REDACT && parameters->output.metadata == METADATA_KEEP) {
        return fail_argument(err, "metadata", "metadata is keep, but redaction drops all metadata");
    }
    status = check_evidence(parameters, err);
    status = status == ST_OK && parameters_select(parameters) ? check_mask(parameters, err) : status;
    return status == ST_OK ? check_operations(parameters, err) : status;
}
