/* SPDX-License-Identifier: MIT
 * The face detector CenterFace as a table of layers (detect/network.def), and what the parts of the program
 * that run it agree on. docs/adr/0028-faces-in-eight-bits.md says why.
 *
 * A tensor is a picture of bytes with the channels of a pixel side by side (NHWC). The byte q stands for the
 * real number (q - zero point) * scale; the zero point is 0 after a layer with a ReLU and 128 after one
 * without. Weights are 8-bit integers with one scale for each output channel. A layer computes
 *
 *     acc = bias[o] + the sum of weight * input over the window, input as 0..255, outside the tensor 0
 *     t = (float)acc * scale[o]
 *     if the layer has a ReLU:    t = max(t, 0)
 *     if it has an addend r:      t = t + (float)r * addend_scale
 *     t = t + offset
 *     output = clamp(rint(t), 0, 255)
 *
 * with the sum in 32-bit integers, and the rest in single precision, rounded to nearest even after each
 * operation and never contracted. Padding occurs only where the zero point of the input is 0. The layer
 * `heads` ends with acc. */
#ifndef BLURD_DETECT_NETWORK_H
#define BLURD_DETECT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum face_kind { FACE_DENSE, FACE_DEPTH, FACE_POINT, FACE_UP, FACE_HEADS };

/* Layers by name, FACE_stem to FACE_heads. */
enum face_layer_name {
#define FACE_LAYER(name, kind, input, addend, inputs, outputs, stride, relu) FACE_##name,
#include "detect/network.def"
#undef FACE_LAYER
    FACE_LAYERS,
    FACE_picture = -1,
    FACE_none = -2
};

enum {
    FACE_MULTIPLE = 32,      /* width and height of the network's picture are multiples of it */
    FACE_CELL = 4,           /* pixels on each side of a cell of the heads */
    FACE_HEADS_COUNT = 15,   /* heat, scales (y, x), offsets (y, x), five landmarks (y, x) */
    FACE_CHANNELS_MAX = 960, /* of any layer */
};

struct face_network_layer {
    const char *name;
    enum face_kind kind;
    int input;  /* index of the layer that is read, or FACE_picture */
    int addend; /* index of the layer that is added, or FACE_none */
    int inputs, outputs;
    int stride;
    bool relu;
};

extern const struct face_network_layer face_network[FACE_LAYERS];

/* How many weights a layer has. Their order: DENSE [outputs][3][3][inputs], DEPTH [3][3][outputs], POINT and
 * HEADS [outputs][inputs], UP [2][2][outputs][inputs]: output pixel (2y + dy, 2x + dx) is made by [dy][dx].
 */
size_t network_weights(const struct face_network_layer *layer);

#endif
