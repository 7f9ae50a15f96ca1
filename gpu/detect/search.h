/* SPDX-License-Identifier: MIT
 * What the functions that launch kernels share during a search. */
#ifndef BLURD_GPU_DETECT_SEARCH_H
#define BLURD_GPU_DETECT_SEARCH_H

#include "filters/detect/detect.h"
#include "gpu/detect/pack.h"
#include "gpu/stream/stream.h"

/* An output of the network that a search wants. */
struct search_output {
    const struct detector *detector; /* NULL: nothing */
    int32_t least;                   /* first sum of a candidate, or largest byte of one in a map */
    bool searched;   /* candidates are found in the map or the cells; else a map is the result */
    CUdeviceptr map; /* where the layer writes the map or the cells */
    int64_t pitch;   /* bytes between its rows */
};

/* The sizes of the padded picture, and where the outputs of the layers lie. */
struct search {
    struct gpu_stream *stream;
    const struct network *form;
    const struct model_weights *weights;
    CUdeviceptr packed; /* the weights as kernels read them */
    const struct image *source, *target;
    struct search_output output[NETWORK_OUTPUTS_MAX];
    bool needed[NETWORK_LAYERS_MAX]; /* layers that run */
    int32_t width, height;
    int32_t border;      /* struct detector */
    CUdeviceptr labels;  /* memory of gpu_components_bytes */
    CUdeviceptr picture; /* as a tensor, for layers that are a step of their own */
    CUdeviceptr tensor[NETWORK_LAYERS_MAX];
    CUdeviceptr sums[NETWORK_LAYERS_MAX], factors[NETWORK_LAYERS_MAX]; /* of EXCITE layers */
};

/* Sets the outputs that a plan wants, with the detector of the model and others of its network, and which
 * layers they need. */
void search_want(struct search *search, const struct detect_plan *plan, const struct detector *detector);

/* Whether a step runs. */
bool search_runs(const struct search *search, const struct pack_step *step);

/* The output that a layer makes; NULL: it makes none. */
const struct search_output *search_output_of(const struct search *search, int layer);

/* Whether candidates of an output are anchors, and no components. */
bool search_has_anchors(const struct search *search, unsigned output);

/* Pixels of the padded picture on each side of a cell of an output. */
int32_t search_cell(const struct search *search, unsigned output);

/* Lays the tensors that a step leaves to others, and what EXCITE layers need, over the stream's scratch
 * memory: as long as they are read. The first step also clears the sums. ST_BUSY without memory, else
 * ST_DEVICE. */
enum status search_place(struct search *search, const struct pack_layout *layout, bool first,
                         struct error *err);

/* The searched picture, for a kernel. */
struct kernel_picture search_picture(const struct search *search);

#endif
