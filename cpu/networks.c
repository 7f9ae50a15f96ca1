/* SPDX-License-Identifier: MIT */
#include "cpu/networks.h"

void cpu_networks_init(struct cpu_networks *networks, const struct detect_kernels *kernels) {
    *networks = (struct cpu_networks){.kernels = kernels};
    pthread_mutex_init(&networks->lock, NULL);
}

void cpu_networks_finish(struct cpu_networks *networks) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        detect_pack_free(networks->network[i]);
    }
    pthread_mutex_destroy(&networks->lock);
}

enum status cpu_networks_get(struct cpu_networks *networks, enum detector_id detector,
                             const struct model_weights **weights, const struct detect_network **network,
                             struct error *err) {
    const enum detector_id key = detector_model(detector);
    struct model *model = networks->model[key];
    struct detect_network **made = &networks->network[key];
    if (!model) {
        return fail(err, ST_UNSUPPORTED, "this build has no %s model", detector_get(detector)->thing);
    }
    enum status status = model_read(model, weights, err);
    if (status != ST_OK) {
        return status;
    }
    pthread_mutex_lock(&networks->lock);
    status = *made ? ST_OK : detect_pack(*weights, networks->kernels, made, err);
    *network = *made;
    pthread_mutex_unlock(&networks->lock);
    return status;
}
