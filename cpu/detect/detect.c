/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_search.h"
#include "cpu/filter.h"
#include "cpu/networks.h"

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct detect_plan *plan = planned;
    const struct detector *detector = detector_get(plan->detector);
    const struct model_weights *weights = NULL;
    struct detect_search search = {.source = source,
                                   .width = plan->width,
                                   .height = plan->height,
                                   .candidates = (void *)plane_row(&target->plane[0], 0)};
    enum status status = cpu_networks_get(context->networks, plan->detector, &weights, &search.network, err);
    if (status != ST_OK) {
        return status;
    }
    search.least = detector->least(weights, plan->threshold);
    return detect_search_run(context, &search, err);
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct detect_plan *plan = planned;
    (void)rows, (void)source;
    return detect_search_need(detector_get(plan->detector)->network, plan->width, plan->height);
}

const struct cpu_filter cpu_filter_detect = {.run = run, .need = need};
