/* SPDX-License-Identifier: MIT */
#include "detect/network.h"

size_t network_weights(const struct network_layer *layer) {
    static const uint8_t area[] = {
        [NETWORK_DENSE] = 9, [NETWORK_DEPTH] = 9, [NETWORK_POINT] = 1, [NETWORK_UP] = 4, [NETWORK_HEADS] = 1};
    return (size_t)area[layer->kind] * (size_t)layer->outputs *
           (layer->kind == NETWORK_DEPTH ? 1 : (size_t)layer->inputs);
}
