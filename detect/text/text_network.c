/* SPDX-License-Identifier: MIT */
#include "detect/text/text_network.h"

_Static_assert((int)TEXT_stem == 0, "the layers of text come first");

static const struct network_layer layers[TEXT_LAYERS] = {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation)                          \
    {#name, NETWORK_##kind, size, TEXT_##input, TEXT_##addend, inputs, outputs, stride, NETWORK_##activation},
#include "detect/text/network.def"
/* then the head */
#include "detect/plates/network.def"
#undef LAYER
};

const struct network text_network = {
    .layer = layers,
    .layers = TEXT_LAYERS,
    .unit = TEXT_UNIT,
    .outputs = TEXT_OUTPUTS,
    .output = {[TEXT_OUTPUT_LINES] = TEXT_map, [TEXT_OUTPUT_PLATES] = TEXT_LAYERS - 1},
};
