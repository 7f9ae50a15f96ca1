/* SPDX-License-Identifier: MIT */
#include "detect/network.h"

const struct face_network_layer face_network[FACE_LAYERS] = {
#define FACE_LAYER(name, kind, input, addend, inputs, outputs, stride, relu)                                 \
    {#name, FACE_##kind, FACE_##input, FACE_##addend, inputs, outputs, stride, relu},
#include "detect/network.def"
#undef FACE_LAYER
};

size_t network_weights(const struct face_network_layer *layer) {
    static const uint8_t area[] = {
        [FACE_DENSE] = 9, [FACE_DEPTH] = 9, [FACE_POINT] = 1, [FACE_UP] = 4, [FACE_HEADS] = 1};
    return (size_t)area[layer->kind] * (size_t)layer->outputs *
           (layer->kind == FACE_DEPTH ? 1 : (size_t)layer->inputs);
}
