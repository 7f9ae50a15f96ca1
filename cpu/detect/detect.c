/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_search.h"
#include "cpu/networks.h"
#include "cpu/search.h"

static enum status run(const struct cpu_context *context, const struct detect_plan *plan,
                       const struct image *source, struct candidates *candidates, struct error *err) {
    const struct model_weights *weights = NULL;
    struct detect_search search = {.detector = detector_get(plan->detector),
                                   .source = source,
                                   .width = plan->width,
                                   .height = plan->height,
                                   .candidates = candidates};
    enum status status = cpu_networks_get(context->networks, plan->detector, &weights, &search.network, err);
    if (status != ST_OK) {
        return status;
    }
    search.least = search.detector->least(weights, plan->threshold);
    return detect_search_run(context, &search, err);
}

static struct scratch_need need(const struct detect_plan *plan) {
    return detect_search_need(detector_get(plan->detector), plan->width, plan->height);
}

const struct cpu_search cpu_search_network = {.run = run, .need = need};
