/* SPDX-License-Identifier: MIT
 * The networks of the detectors' models, each arranged for this processor at its first search. */
#ifndef BLURD_CPU_NETWORKS_H
#define BLURD_CPU_NETWORKS_H

#include <pthread.h>

#include "cpu/detect/detect_pack.h"
#include "detect/detectors.h"
#include "detect/model.h"

struct cpu_networks {
    const struct detect_kernels *kernels;
    struct model *model[DETECTORS]; /* under the number of detector_model(); NULL: none */
    pthread_mutex_t lock;           /* of the networks */
    struct detect_network *network[DETECTORS];
};

void cpu_networks_init(struct cpu_networks *networks, const struct detect_kernels *kernels);
void cpu_networks_finish(struct cpu_networks *networks);

/* The weights and the network of a detector, which last as long as the model and *networks. ST_UNSUPPORTED
 * without a model, or for a network that the kernels cannot run, ST_CORRUPT for a bad one, ST_BUSY without
 * memory. Thread-safe. */
enum status cpu_networks_get(struct cpu_networks *networks, enum detector_id detector,
                             const struct model_weights **weights, const struct detect_network **network,
                             struct error *err);

#endif
