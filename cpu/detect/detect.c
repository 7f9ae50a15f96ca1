/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_search.h"
#include "cpu/networks.h"
#include "cpu/search.h"

/* `weights` may be NULL, where only sizes are wanted. */
static void fill_outputs(const struct detect_plan *plan, const struct model_weights *weights,
                         struct detect_wanted output[NETWORK_OUTPUTS_MAX]) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (plan->wanted >> i & 1) {
            const struct detector *detector = detector_get((enum detector_id)i);
            const struct detect_wanted wanted = {
                .detector = detector, .least = weights ? detector->least(weights, plan->threshold[i]) : 0};
            for (unsigned k = 0; detector_outputs(detector) >> k; k++) {
                if (detector_outputs(detector) >> k & 1) {
                    output[k] = wanted;
                }
            }
        }
    }
}

static enum status run(const struct cpu_context *context, const struct detect_plan *plan,
                       const struct image *source, struct candidates *candidates, struct error *err) {
    const struct model_weights *weights = NULL;
    struct detect_search search = {
        .source = source, .width = plan->width, .height = plan->height, .candidates = candidates};
    enum status status =
        cpu_networks_get(context->networks, detectors_first(plan->wanted), &weights, &search.network, err);
    if (status != ST_OK) {
        return status;
    }
    fill_outputs(plan, weights, search.output);
    return detect_search_run(context, &search, err);
}

static struct scratch_need need(const struct detect_plan *plan) {
    struct detect_wanted output[NETWORK_OUTPUTS_MAX] = {0};
    fill_outputs(plan, NULL, output);
    return detect_search_need(output, plan->width, plan->height);
}

const struct cpu_search cpu_search_network = {.run = run, .need = need};
