/* SPDX-License-Identifier: MIT
 * The network of the face model, arranged for this processor at the first search. */
#ifndef BLURD_CPU_NETWORKS_H
#define BLURD_CPU_NETWORKS_H

#include <pthread.h>

#include "cpu/detect/detect_pack.h"
#include "detect/model.h"

struct cpu_networks {
    const struct detect_kernels *kernels;
    struct model *model;  /* NULL: none */
    pthread_mutex_t lock; /* of the network */
    struct detect_network *network;
};

void cpu_networks_init(struct cpu_networks *networks, const struct detect_kernels *kernels);
void cpu_networks_finish(struct cpu_networks *networks);

/* The weights and the network, which last as long as the model and *networks. ST_UNSUPPORTED without a model,
 * ST_CORRUPT for a bad one, ST_BUSY without memory. Thread-safe. */
enum status cpu_networks_get(struct cpu_networks *networks, const struct model_weights **weights,
                             const struct detect_network **network, struct error *err);

#endif
