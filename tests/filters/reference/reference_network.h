/* SPDX-License-Identifier: MIT
 * The network of detect/network.h, layer by layer and sum by sum. */
#ifndef BLURD_TESTS_FILTERS_REFERENCE_NETWORK_H
#define BLURD_TESTS_FILTERS_REFERENCE_NETWORK_H

#include "detect/model.h"

/* What the network makes as the result of this index for a picture of `width` x `height` RGB pixels without
 * gaps between rows, both multiples of the network's unit: the sums of the heads, [height / cell][width /
 * cell][sums], or the bytes of a map, without [sums], or of cells. The caller frees them. With `hashes`,
 * FNV-1a of the output of each layer that it needs is written there. */
int32_t *reference_network(const struct model_weights *weights, unsigned output, const uint8_t *rgb,
                           int width, int height, uint64_t hashes[]);

uint64_t reference_network_hash(const void *data, size_t size);

#endif
