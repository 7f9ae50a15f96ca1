/* SPDX-License-Identifier: MIT */
#include "gpu/detect/detect.h"
#include "gpu/detect/anchors.h"
#include "gpu/detect/components.h"
#include "gpu/filter.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/layers/layer_pack.h"
#include "gpu/detect/layers/layers.h"
#include "gpu/detect/patterns.h"

_Static_assert(sizeof(struct candidate) == sizeof(struct kernel_candidate) &&
                   offsetof(struct candidate, sum) == offsetof(struct kernel_candidate, sum) &&
                   offsetof(struct candidates, candidate) == sizeof(uint32_t),
               "kernels write what detect/candidates.h says");

/* A packed model in the memory of a device. */
struct gpu_network {
    struct model *model;
    pthread_mutex_t lock;
    bool ready;
    struct pack_layout layout;
    CUdeviceptr memory;
    const struct model_weights *weights;
};

static enum status make_networks(struct gpu_device *device, struct error *err) {
    device->networks = calloc(DETECTORS, sizeof *device->networks);
    if (!device->networks) {
        return fail(err, ST_BUSY, "out of memory");
    }
    for (unsigned i = 0; i < DETECTORS; i++) {
        pthread_mutex_init(&device->networks[i].lock, NULL);
    }
    return ST_OK;
}

enum status gpu_detect_open(struct gpu_device *device, enum detector_id detector, struct model *model,
                            struct error *err) {
    enum status status = device->networks ? ST_OK : make_networks(device, err);
    if (status == ST_OK) {
        device->networks[detector].model = model;
    }
    return status;
}

void gpu_detect_close(struct gpu_device *device) {
    for (unsigned i = 0; i < DETECTORS && device->networks; i++) {
        struct gpu_network *network = &device->networks[i];
        if (network->memory) {
            device->cuda->cuMemFree(network->memory);
        }
        pthread_mutex_destroy(&network->lock);
    }
    free(device->networks);
    device->networks = NULL;
}

/* ---- the model ---- */

static enum status upload_packed(struct gpu_network *network, struct gpu_stream *stream,
                                 const uint8_t *packed, struct error *err) {
    const struct cuda *cuda = stream->device->cuda;
    enum status status = ST_OK;
    if (!network->memory) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &network->memory, network->layout.size);
    }
    if (status == ST_OK) {
        status = gpu_stream_upload(stream, network->memory, packed, network->layout.size, err);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, stream->handle) : status;
}

static enum status load(struct gpu_network *network, struct gpu_stream *stream, struct error *err) {
    struct error why = {0};
    enum status status = model_read(network->model, &network->weights, &why);
    if (status != ST_OK) {
        return fail(err, ST_UNSUPPORTED, "%s", why.text);
    }
    status = pack_layout(network->weights->network, &network->layout, err);
    if (status != ST_OK) {
        return status;
    }
    uint8_t *packed = calloc(1, network->layout.size);
    if (!packed) {
        return fail(err, ST_BUSY, "no memory for a model");
    }
    status = pack_weights(network->weights, &network->layout, packed, err);
    layer_pack_weights(network->weights, &network->layout, packed);
    status = status == ST_OK ? upload_packed(network, stream, packed, err) : status;
    free(packed);
    return status;
}

static enum status get_ready(struct gpu_network *network, struct gpu_stream *stream, struct error *err) {
    enum status status = ST_OK;
    if (!network || !network->model) {
        return fail(err, ST_UNSUPPORTED, "there is no model");
    }
    pthread_mutex_lock(&network->lock);
    if (!network->ready) {
        status = load(network, stream, err);
        network->ready = status == ST_OK;
    }
    pthread_mutex_unlock(&network->lock);
    return status;
}

/* ---- one search ---- */

static enum status find_anchors(const struct search *search, unsigned output, CUdeviceptr candidates,
                                struct error *err) {
    const int32_t cell = search_cell(search, output);
    const struct gpu_anchors anchors = {.network = search->form,
                                        .output = output,
                                        .cells = search->output[output].map,
                                        .candidates = candidates,
                                        .width = search->width / cell,
                                        .height = search->height / cell,
                                        .least = search->output[output].least};
    return gpu_anchors_find(search->stream, &anchors, err);
}

/* Adds what is found in the maps or cells to no candidates. */
static enum status find_in_maps(const struct search *search, struct error *err) {
    const CUdeviceptr candidates = (uint64_t)(uintptr_t)search->target->plane[0].data;
    enum status status = gpu_stream_fill(search->stream, candidates, 0, sizeof(uint32_t), err);
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX && status == ST_OK; i++) {
        const struct search_output *output = &search->output[i];
        struct components_bounds bounds;
        if (output->detector && search_has_anchors(search, i)) {
            status = find_anchors(search, i, candidates, err);
        } else if (output->detector && components_bounds_of(output->detector, output->least, &bounds)) {
            const int32_t cell = search_cell(search, i);
            const struct gpu_components components = {.map = output->map,
                                                      .memory = search->labels,
                                                      .candidates = candidates,
                                                      .width = search->width / cell,
                                                      .height = search->height / cell};
            status = gpu_components_find(search->stream, &components, bounds, err);
        }
    }
    return status;
}

static bool finds_in_maps(const struct search *search) {
    bool finds = false;
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        finds |= search->output[i].searched;
    }
    return finds;
}

enum status gpu_detect_steps(struct gpu_stream *stream, const struct detect_plan *plan,
                             const struct image *source, const struct image *target, int first, int end,
                             struct error *err) {
    struct gpu_device *device = stream->device;
    struct gpu_network *network =
        device->networks ? &device->networks[detector_model(detectors_first(plan->wanted))] : NULL;
    if ((uint64_t)plan->width * plan->height > DETECT_PIXELS_MAX) {
        return fail(err, ST_UNSUPPORTED, "the picture is too large for a search on the GPU");
    }
    enum status status = get_ready(network, stream, err);
    if (status != ST_OK) {
        return status;
    }
    struct search search = {.stream = stream,
                            .form = network->layout.network,
                            .weights = network->weights,
                            .packed = network->memory,
                            .source = source,
                            .target = target,
                            .width = (int32_t)plan->width,
                            .height = (int32_t)plan->height,
                            .border = network->model->detector->border};
    search_want(&search, plan, network->model->detector);
    status = search_place(&search, &network->layout, first == 0, err);
    for (int i = first; i < end && i < network->layout.count && status == ST_OK; i++) {
        const struct pack_step *step = &network->layout.step[i];
        if (search_runs(&search, step)) {
            status =
                step->kind > PACK_HEADS ? layers_run(&search, step, err) : patterns_run(&search, step, err);
        }
    }
    return status == ST_OK && finds_in_maps(&search) && end >= network->layout.count
               ? find_in_maps(&search, err)
               : status;
}

/* ---- afterwards ---- */

static void sort(void *result) {
    candidates_sort(result);
}

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return gpu_detect_steps(stream, plan, source, target, 0, PACK_STEPS_MAX, err);
}

const struct gpu_filter gpu_filter_detect = {.run = run, .finish = sort};
