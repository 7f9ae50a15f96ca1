/* SPDX-License-Identifier: MIT
 * Steps of one layer: which of them there are kernels for, and their weights in the order in which those read
 * them. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_PACK_H
#define BLURD_GPU_DETECT_LAYERS_LAYER_PACK_H

#include "gpu/detect/pack.h"

/* How a kernel for products divides the columns of a layer: those of UP are four times its outputs. */
struct layer_pack_product {
    enum kernel kernel;
    int columns;
    int sixteens; /* groups of 16 columns; the last one may be padded */
    int parts;    /* of them, a block of threads each */
    int inputs;   /* channels as the kernel reads them */
    int steps;    /* of 32 values */
};

/* Whether there is a kernel for a layer; fills in the step's kind. */
bool layer_pack_recognise(const struct network *network, int layer, struct pack_step *step);

/* Of a step of the kind PACK_PRODUCT. */
struct layer_pack_product layer_pack_product(const struct network_layer *form);

/* Places the weights of such a step, at the end of *size bytes, which grow. */
void layer_pack_place(const struct network *network, struct pack_step *step, size_t *size);

/* Fills in the weights of all such steps in `memory`, of layout->size bytes, all 0 before. */
void layer_pack_weights(const struct model_weights *weights, const struct pack_layout *layout,
                        uint8_t *memory);

/* The kernel of a DEPTH layer. False: there is none for its size and stride. */
bool layer_pack_depth(const struct network_layer *form, enum kernel *kernel);

#endif
