/* SPDX-License-Identifier: MIT */
#include "cpu/networks.h"

void cpu_networks_init(struct cpu_networks *networks, const struct detect_kernels *kernels) {
    *networks = (struct cpu_networks){.kernels = kernels};
    pthread_mutex_init(&networks->lock, NULL);
}

void cpu_networks_finish(struct cpu_networks *networks) {
    detect_pack_free(networks->network);
    pthread_mutex_destroy(&networks->lock);
}

enum status cpu_networks_get(struct cpu_networks *networks, const struct model_weights **weights,
                             const struct detect_network **network, struct error *err) {
    if (!networks->model) {
        return fail(err, ST_UNSUPPORTED, "this build has no face model");
    }
    enum status status = model_read(networks->model, weights, err);
    if (status != ST_OK) {
        return status;
    }
    pthread_mutex_lock(&networks->lock);
    status = networks->network ? ST_OK : detect_pack(*weights, networks->kernels, &networks->network, err);
    *network = networks->network;
    pthread_mutex_unlock(&networks->lock);
    return status;
}
