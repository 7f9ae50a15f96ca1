/* SPDX-License-Identifier: MIT
 * The steps in which kernels run a network, which are patterns that are recognised in its table of layers,
 * and the weights in the order in which kernels read them (gpu/detect/detect_kernels.h). */
#ifndef BLURD_GPU_DETECT_PACK_H
#define BLURD_GPU_DETECT_PACK_H

#include "detect/model.h"
#include "gpu/cuda/program.h"

/* What runs one after the other. Each is one kernel, EXCITE three. STEM: a 3x3 with stride 2 of the picture,
 * then as in a block. BLOCK: an inverted residual block: 1x1 with ReLU, 3x3 of each channel with ReLU, 1x1,
 * and perhaps an addition. NECK: a 1x1 with ReLU, to which perhaps an enlargement is added. HEADS: a 3x3 with
 * ReLU, and the heads. What is no such pattern is a step for each layer (gpu/detect/layers/). PICTURE: the
 * picture becomes a tensor. PRODUCT: DENSE, POINT and UP. */
enum pack_kind {
    PACK_STEM,
    PACK_BLOCK,
    PACK_NECK,
    PACK_HEADS,
    PACK_PICTURE,
    PACK_PRODUCT,
    PACK_DEPTH,
    PACK_POOL,
    PACK_CONCAT,
    PACK_EXCITE,
};

enum { PACK_STEPS_MAX = NETWORK_LAYERS_MAX + 1 };

/* The layers `first` to `last`, one after the other, and the offsets of their packed weights. */
struct pack_step {
    enum pack_kind kind;
    int first, last; /* PICTURE: NETWORK_PICTURE */
    size_t weights;  /* STEM, BLOCK: chunks; NECK: of the 1x1; HEADS: of the 3x3; PRODUCT, DEPTH */
    size_t terms;    /* NECK, HEADS */
    union {
        struct {
            size_t chunk_bytes;
            size_t scales, biases; /* of the last layer */
            size_t table;
        };
        struct {
            size_t reduce, reduce_bias, expand, expand_bias;
        };
        struct {
            size_t up_weights, up_terms;
        };
        struct {
            size_t head_weights, head_biases;
        };
    };
};

struct pack_layout {
    const struct network *network;
    int count;
    struct pack_step step[PACK_STEPS_MAX];
    size_t size;
};

/* How a kernel divides a block's work; see KERNEL_FACE_BLOCKS. */
struct pack_division {
    enum kernel kernel;
    int32_t steps, stride, outputs;
    int32_t members, rows, width;
};

/* The kernel for the blocks of a STEM or BLOCK, with smaller tiles if there would be few of them; NULL: there
 * is none. */
const struct pack_division *pack_division(const struct network *network, const struct pack_step *step,
                                          bool few);

/* How many times 32 inputs a layer reads, and chunks of 32 channels it makes. */
int pack_steps(const struct network_layer *form);
int pack_chunks(const struct network_layer *form);

/* Matrix instructions of a block's last layer for each chunk. */
int pack_projections(const struct network_layer *form);

/* The layer that a NECK enlarges; NETWORK_NONE: none. */
int pack_up_layer(const struct pack_step *step);

/* Takes memory for an array at the end of *size bytes. Returns its offset. */
size_t pack_take(size_t *size, size_t bytes);

/* Recognises the steps of a network. ST_UNSUPPORTED with a sentence for one that kernels cannot run. */
enum status pack_layout(const struct network *network, struct pack_layout *layout, struct error *err);

/* Fills in the weights of patterns in `memory`, of layout->size bytes, all 0 before; layer_pack_weights()
 * those of the other steps. ST_UNSUPPORTED for sums that are too large for the kernels' way to round them,
 * and for offsets that kernels leave out. */
enum status pack_weights(const struct model_weights *weights, const struct pack_layout *layout,
                         uint8_t *memory, struct error *err);

#endif
