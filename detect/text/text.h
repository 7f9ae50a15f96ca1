/* SPDX-License-Identifier: MIT
 * Lines of text in the map of PP-OCRv6's detector. */
#ifndef BLURD_DETECT_TEXT_TEXT_H
#define BLURD_DETECT_TEXT_TEXT_H

#include "detect/detector.h"

/* Layers by name, TEXT_stem to TEXT_map. */
enum text_layer {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation) TEXT_##name,
#include "detect/text/network.def"
#undef LAYER
    TEXT_LAYERS,
    TEXT_picture = NETWORK_PICTURE,
    TEXT_none = NETWORK_NONE,
};

enum { TEXT_UNIT = 32 };

extern const struct detector detector_text;

#endif
