/* SPDX-License-Identifier: MIT
 * What the functions that launch kernels share during a search. */
#ifndef BLURD_GPU_DETECT_SEARCH_H
#define BLURD_GPU_DETECT_SEARCH_H

#include "gpu/detect/pack.h"
#include "gpu/stream/stream.h"

/* The sizes of the padded picture, and where the outputs of the layers lie. */
struct search {
    struct gpu_stream *stream;
    const struct network *form;
    const struct model_weights *weights;
    CUdeviceptr packed; /* the weights as kernels read them */
    const struct image *source, *target;
    int32_t least; /* first sum of a candidate, or largest byte of one in a map */
    int32_t width, height;
    int32_t border;      /* struct detector */
    bool components;     /* candidates are found in the map; else it is the result */
    CUdeviceptr map;     /* where the last layer writes a map */
    int64_t pitch;       /* bytes between its rows */
    CUdeviceptr labels;  /* memory of gpu_components_bytes */
    CUdeviceptr picture; /* as a tensor, for layers that are a step of their own */
    CUdeviceptr tensor[NETWORK_LAYERS_MAX];
    CUdeviceptr sums[NETWORK_LAYERS_MAX], factors[NETWORK_LAYERS_MAX]; /* of EXCITE layers */
};

/* Lays the tensors that a step leaves to others, and what EXCITE layers need, over the stream's scratch
 * memory: as long as they are read. The first step also clears the sums. ST_BUSY without memory, else
 * ST_DEVICE. */
enum status search_place(struct search *search, const struct pack_layout *layout, bool first,
                         struct error *err);

/* The searched picture, for a kernel. */
struct kernel_picture search_picture(const struct search *search);

#endif
