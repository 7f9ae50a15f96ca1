/* SPDX-License-Identifier: MIT
 * The weights of the network in the order of a level. */
#ifndef BLURD_CPU_DETECT_DETECT_PACK_H
#define BLURD_CPU_DETECT_DETECT_PACK_H

#include "core/status.h"
#include "cpu/detect/detect_kernels.h"
#include "detect/model.h"

/* A NETWORK_UP layer has two, for the upper and the lower rows that it makes of one: for each pixel of the
 * input the channels of two pixels side by side. The other layers have one. */
struct detect_network {
    const struct network *form;
    const struct model_weights *weights;
    const struct detect_kernels *kernels;
    struct detect_packed layer[NETWORK_LAYERS_MAX][2];
    uint8_t *memory;
    size_t size; /* bytes of it */
};

/* Bytes of memory of a network in this format. */
size_t detect_pack_bytes(const struct network *form, const struct detect_format *format);

/* The 8-bit weights are copied, the rest of the model must outlive the network. ST_UNSUPPORTED with a
 * sentence for a network that the kernels cannot run, ST_BUSY without memory. */
enum status detect_pack(const struct model_weights *weights, const struct detect_kernels *kernels,
                        struct detect_network **network, struct error *err);

/* NULL is allowed. */
void detect_pack_free(struct detect_network *network);

#endif
