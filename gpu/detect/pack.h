/* SPDX-License-Identifier: MIT
 * The weights of the face detector in the order in which kernels read them (gpu/detect/detect_kernels.h). */
#ifndef BLURD_GPU_DETECT_PACK_H
#define BLURD_GPU_DETECT_PACK_H

#include "detect/faces/faces.h"

enum {
    PACK_BLOCKS = 17, /* the stem with the layers that follow it, then the inverted residual blocks */
    PACK_NECK = 4,    /* neck32, neck16, neck8, neck4 */
};

/* Offsets in the packed weights. */
struct pack_block {
    size_t chunks, chunk_bytes;
    size_t scales, biases; /* of the last layer */
};

struct pack_neck {
    size_t weights, terms;
    size_t up_weights, up_terms; /* of the enlargement before it; 0 in neck32 */
};

struct pack_layout {
    struct pack_block block[PACK_BLOCKS];
    struct pack_neck neck[PACK_NECK];
    size_t smooth_weights, smooth_terms;
    size_t head_weights, head_biases;
    size_t size;
};

/* The layers of block i are expand, depth and project, one after the other from this one. */
static inline int pack_first_layer(int block) {
    return 3 * block;
}

/* How many times 32 inputs the first layer of the block reads, and chunks of 32 channels it makes. */
int pack_steps(int block);
int pack_chunks(int block);

/* Layers neck32 to neck4, and what each of them adds; NETWORK_NONE for neck32. */
int pack_neck_layer(int neck);
int pack_up_layer(int neck);

struct pack_layout pack_layout(void);

/* Fills `memory`, of layout->size bytes, all 0 before. ST_UNSUPPORTED for sums that are too large for the
 * kernels' way to round them. */
enum status pack_weights(const struct model_weights *weights, const struct pack_layout *layout,
                         uint8_t *memory, struct error *err);

#endif
