/* SPDX-License-Identifier: MIT
 * The passes of the network and the tensors that they leave to later passes. A pass runs the layers `first`
 * to `last` row by row, and only the output of the last one is kept. */
#ifndef BLURD_CPU_DETECT_DETECT_TENSORS_H
#define BLURD_CPU_DETECT_DETECT_TENSORS_H

#include "detect/faces/faces.h"

enum {
    DETECT_PASSES = 20,
    DETECT_SHRINK = 4, /* the first pass makes a row of four of the picture */
};

struct detect_pass {
    int first, last; /* layers */
};

extern const struct detect_pass detect_passes[DETECT_PASSES];

/* Size of the output of a layer, and where it lies in the memory of all tensors. */
struct detect_tensor {
    uint32_t width, height;
    size_t stride; /* bytes of a row */
    size_t offset;
};

/* Fills the sizes of all layers, and the offsets of the layers whose output is kept, for a padded picture of
 * this size. Returns the bytes of memory. */
size_t detect_tensors_plan(struct detect_tensor tensors[FACE_LAYERS], uint32_t width, uint32_t height);

#endif
