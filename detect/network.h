/* SPDX-License-Identifier: MIT
 * A neural network as a table of layers, and what the parts of the program that run it agree on.
 * docs/adr/0028-faces-in-eight-bits.md says why in 8 bits.
 *
 * A tensor is a picture of bytes with the channels of a pixel side by side (NHWC). The byte q stands for the
 * real number (q - zero point) * scale; network_zero() has the zero point. Weights are 8-bit integers with
 * one scale for each output channel. A layer with weights computes
 *
 *     acc = bias[o] + the sum of weight * input over the window
 *     t = (float)acc * scale[o]
 *     t = max(t, 0)                       with NETWORK_RELU
 *     t = t + (float)r * addend_scale     with an addend r
 *     t = t + offset
 *     output = clamp(rint(t), 0, 255)
 *     output = table[output]              with NETWORK_TABLE
 *
 * Inputs are 0 to 255; outside the tensor they are its zero point. The sum has 32 bits; the rest is single
 * precision, rounded to nearest even after each operation and never contracted. The heads end with acc.
 *
 * POOL is the largest of the bytes at (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1) that lie inside.
 *
 * CONCAT has the channels of the input, then those of the addend. Of an input of half the size, each pixel is
 * repeated in a square of four.
 *
 * EXCITE is squeeze and excitation (Hu, Shen, Sun, CVPR 2018): each channel is multiplied by a factor that
 * follows from the means of all channels.
 *
 *     mean[c] = (float)((double)(the sum of channel c of the input) / (its number of pixels))
 *     inner[j] = max(0, (... (reduce_bias[j] + reduce[j][0] * mean[0]) + reduce[j][1] * mean[1]) + ...)
 *     gate[o] = the same with expand_bias[o], expand[o][j] and inner[j], then limited to 0..1
 *     factor[o] = (base + gate[o]) * ratio
 *     t = (float)(input - its zero point) * factor[o]
 *
 * From t on it goes on as above; an addend may have half the size, and is repeated like an input of CONCAT.
 * The sum of a channel is an integer, and all that follows is rounded after each operation, in this order. */
#ifndef BLURD_DETECT_NETWORK_H
#define BLURD_DETECT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* DENSE: a window over all channels; DEPTH: over each channel by itself; POINT: 1x1; UP: transposed 2x2,
 * doubles the size; POOL, CONCAT, EXCITE: as above; HEADS: 1x1, whose sums are the result. */
enum network_kind {
    NETWORK_DENSE,
    NETWORK_DEPTH,
    NETWORK_POINT,
    NETWORK_UP,
    NETWORK_POOL,
    NETWORK_CONCAT,
    NETWORK_EXCITE,
    NETWORK_HEADS,
};

enum network_activation { NETWORK_LINEAR, NETWORK_RELU, NETWORK_TABLE };

enum {
    NETWORK_PICTURE = -1, /* as an input: the padded RGB picture */
    NETWORK_NONE = -2,    /* as an addend */
    NETWORK_LAYERS_MAX = 128,
    NETWORK_WINDOW_MAX = 7,
    NETWORK_CHANNELS_MAX = 1024,
    NETWORK_LINEAR_ZERO = 128, /* zero point of what may be negative */
    NETWORK_LOGITS = 16,       /* steps of a byte of a map or a score (detect/convert.py, MAP_SCALE) */
    NETWORK_TABLE_SIZE = 256,
    NETWORK_OUTPUTS_MAX = 2,
};

struct network_layer {
    const char *name;
    enum network_kind kind;
    int size;   /* sides of the window: 3 of DENSE, 3 or 7 of DEPTH; EXCITE: channels of its hidden layer */
    int input;  /* index of the layer whose output is read, or NETWORK_PICTURE */
    int addend; /* index of the layer whose output is added or, by CONCAT, appended; or NETWORK_NONE */
    int inputs, outputs; /* channels */
    int stride;          /* of DENSE and DEPTH, whose first window has its centre at (0, 0); 2 of UP */
    enum network_activation activation;
};

struct network {
    const struct network_layer *layer; /* each one reads layers before it */
    int layers;
    int unit; /* sides of the network's picture are multiples of it */
    int sums; /* of a cell, which the heads make; 0: results are maps, a byte for each cell, or have anchors
               */
    /* Indices of the layers that make the results, which no layer reads: the heads, or a map for each
     * detector that the network has. A search runs the layers that the results that it wants depend on. */
    int outputs;
    int output[NETWORK_OUTPUTS_MAX];
    /* Of a cell of a result; 0: it is a map. The cell has a byte for the score of each anchor, filled up to a
     * multiple of four, then four for the place of each (detect/anchors.h). */
    int anchors[NETWORK_OUTPUTS_MAX];
};

/* How many 8-bit weights a layer has; 0 of POOL, CONCAT and EXCITE. Their order: DENSE
 * [outputs][size][size][inputs], DEPTH [size][size][outputs], POINT and HEADS [outputs][inputs], UP
 * [2][2][outputs][inputs]: output pixel (2y + dy, 2x + dx) is made by [dy][dx]. */
size_t network_weights(const struct network_layer *layer);

/* How often the sides of the picture are halved in a layer's output. */
int network_shift(const struct network *network, int layer);

/* Pixels on each side of a cell of a result, by the index of the output. */
int network_cell(const struct network *network, unsigned output);

/* Bytes of a cell of a result that is no sums, by the index of the output. */
int network_cell_bytes(const struct network *network, unsigned output);

/* Marks the layers that results depend on: those of the outputs whose bits are set. */
void network_needed(const struct network *network, uint32_t outputs, bool needed[NETWORK_LAYERS_MAX]);

/* The byte that stands for 0 in a layer's output, or in the picture; -1 after an activation table, which only
 * the model's maker knows. */
int network_zero(const struct network *network, int layer);

/* The smallest byte above 0 of a map or a score whose probability is at least the threshold; INT32_MAX when
 * none is. */
int32_t network_byte(double threshold);

/* The probability that such a byte stands for. */
double network_probability(int32_t byte);

/* Whether the table fits together: ST_UNSUPPORTED with a sentence that names the layer that does not.
 * Backends run what it accepts, or refuse it by a sentence of their own. */
enum status network_check(const struct network *network, struct error *err);

#endif
