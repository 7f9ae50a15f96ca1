/* SPDX-License-Identifier: MIT
 * The network that finds text and number plates: one table, one model file, a map for each. */
#ifndef BLURD_DETECT_TEXT_TEXT_NETWORK_H
#define BLURD_DETECT_TEXT_TEXT_NETWORK_H

#include "detect/network.h"

/* Layers by name, TEXT_stem to TEXT_plates_map: those of the head that finds plates stand behind the others.
 */
enum text_layer {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation) TEXT_##name,
#include "detect/text/network.def"
/* then the head */
#include "detect/plates/network.def"
#undef LAYER
    TEXT_LAYERS,
    TEXT_picture = NETWORK_PICTURE,
    TEXT_none = NETWORK_NONE,
};

/* Outputs of the network. */
enum { TEXT_OUTPUT_LINES, TEXT_OUTPUT_PLATES, TEXT_OUTPUTS };

enum {
    TEXT_UNIT = 32,
    TEXT_BORDER = 16, /* words and plates that the picture's edge cuts are found as their mirrored whole */
};

extern const struct network text_network;

#endif
