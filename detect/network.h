/* SPDX-License-Identifier: MIT
 * A neural network as a table of layers, and what the parts of the program that run it agree on.
 * docs/adr/0028-faces-in-eight-bits.md says why in 8 bits.
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
 * operation and never contracted. Padding occurs only where the zero point of the input is 0. The last layer,
 * the heads, ends with acc. */
#ifndef BLURD_DETECT_NETWORK_H
#define BLURD_DETECT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* DENSE: 3x3; DEPTH: 3x3, each channel by itself; POINT: 1x1; UP: transposed 2x2, doubles the size; HEADS:
 * 1x1, whose sums are the result. */
enum network_kind { NETWORK_DENSE, NETWORK_DEPTH, NETWORK_POINT, NETWORK_UP, NETWORK_HEADS };

enum {
    NETWORK_PICTURE = -1, /* as an input: the padded RGB picture */
    NETWORK_NONE = -2,    /* as an addend */
    NETWORK_LAYERS_MAX = 128,
};

struct network_layer {
    const char *name;
    enum network_kind kind;
    int input;           /* index of the layer whose output is read, or NETWORK_PICTURE */
    int addend;          /* index of the layer whose output is added, or NETWORK_NONE */
    int inputs, outputs; /* channels */
    int stride;          /* of DENSE and DEPTH, which pad by one pixel on each side; 2 of UP */
    bool relu;           /* negative values become 0 before the addend is added */
};

struct network {
    const struct network_layer *layer; /* each one reads layers before it; the last one is the heads */
    int layers;
    int unit; /* sides of the network's picture are multiples of it */
    int cell; /* pixels on each side of a cell of the heads */
    int sums; /* of a cell */
};

/* How many weights a layer has. Their order: DENSE [outputs][3][3][inputs], DEPTH [3][3][outputs], POINT and
 * HEADS [outputs][inputs], UP [2][2][outputs][inputs]: output pixel (2y + dy, 2x + dx) is made by [dy][dx].
 */
size_t network_weights(const struct network_layer *layer);

/* How often the sides of the picture are halved in a layer's output. */
int network_shift(const struct network *network, int layer);

/* Whether the table fits together: ST_UNSUPPORTED with a sentence that names the layer that does not.
 * Backends run what it accepts, or refuse it by a sentence of their own. */
enum status network_check(const struct network *network, struct error *err);

#endif
