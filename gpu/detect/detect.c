/* SPDX-License-Identifier: MIT */
#include "gpu/detect/detect.h"
#include "gpu/filter.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/pack.h"
#include "gpu/stream/launch.h"

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

enum { SLACK = 256 /* kernels read behind a tensor and ignore it */ };

/* A search: the sizes of the padded picture, and where the outputs of the layers lie. */
struct search {
    struct gpu_stream *stream;
    const struct gpu_network *network;
    const struct network *form;
    int32_t width, height;
    CUdeviceptr tensor[NETWORK_LAYERS_MAX];
    size_t size;
};

/* Only the last layers of steps write tensors, and the heads candidates. */
static void lay_out(struct search *search) {
    const struct pack_layout *layout = &search->network->layout;
    for (int i = 0; i + 1 < layout->count; i++) {
        int last = layout->step[i].last, shift = network_shift(search->form, last);
        size_t pixels = (size_t)(search->width >> shift) * (size_t)(search->height >> shift);
        search->tensor[last] = search->size;
        search->size =
            bytes_align_up(search->size + pixels * (size_t)search->form->layer[last].outputs + SLACK, SLACK);
    }
}

static void move(struct search *search, CUdeviceptr memory) {
    const struct pack_layout *layout = &search->network->layout;
    for (int i = 0; i + 1 < layout->count; i++) {
        search->tensor[layout->step[i].last] += memory;
    }
}

/* ---- blocks ---- */

static int32_t ceil_divide(int32_t value, int32_t by) {
    return (value + by - 1) / by;
}

static int32_t tile_pixels(const struct pack_division *division) {
    return division->members * division->rows * KERNEL_FACE_TILE;
}

/* Cuts the result into tiles, and the outputs into parts. Returns the number of blocks of threads. */
static unsigned divide(struct face_block_pass *pass, const struct pack_division *division) {
    int32_t parts = ceil_divide(pass->outputs, division->outputs); /* two at most */
    pass->tiles_x = ceil_divide(pass->out_width, division->width);
    pass->tiles = pass->tiles_x * ceil_divide(pass->out_height, tile_pixels(division) / division->width);
    pass->part = pass->outputs / parts;
    int32_t threads = KERNEL_THREADS_X * KERNEL_THREADS_Y / division->width; /* for each column */
    pass->span = pass->part / 4 / ceil_divide(pass->part / 4, threads);
    pass->span_inverse = ceil_divide(65536, pass->span);
    pass->rows = threads / pass->span;
    return (unsigned)(pass->tiles * parts);
}

/* Bytes of shared memory: `before`, then a chunk or two for each group of warps; later the sums of the tile.
 */
static unsigned shared_memory(const struct pack_division *division, int32_t before) {
    int32_t pixels = tile_pixels(division), height = pixels / division->width;
    int32_t halo_width = (division->width - 1) * division->stride + 3;
    int32_t pairs = halo_width * ((height / 2 - 1) * division->stride + 3);
    int32_t chunks = KERNEL_THREADS_Y / division->members * pairs * KERNEL_FACE_PITCH;
    chunks *= before == 0 && 2 * chunks <= KERNEL_SHARED_MAX ? 2 : 1;
    chunks += before;
    int32_t sums = pixels * (division->outputs + 4) * (int32_t)sizeof(int32_t);
    return (unsigned)(chunks > sums ? chunks : sums);
}

static struct face_block_pass block_pass(const struct search *search, const struct pack_step *step) {
    const struct network_layer *expand = &search->form->layer[step->first],
                               *project = &search->form->layer[step->last];
    const struct model_layer *weights = &search->network->weights->layers[step->last];
    CUdeviceptr memory = search->network->memory;
    int in = network_shift(search->form, step->first), out = network_shift(search->form, step->last);
    return (struct face_block_pass){
        .source = expand->input == NETWORK_PICTURE ? 0 : search->tensor[expand->input],
        .target = search->tensor[step->last],
        .addend = project->addend == NETWORK_NONE ? 0 : search->tensor[project->addend],
        .weights = memory + step->weights,
        .scales = memory + step->scales,
        .biases = memory + step->biases,
        .addend_scale = weights->addend_scale * 0x1p100f,
        .offset = weights->offset * 0x1p-49f,
        .width = search->width >> in,
        .height = search->height >> in,
        .out_width = search->width >> out,
        .out_height = search->height >> out,
        .inputs = expand->inputs,
        .outputs = project->outputs,
        .chunks = pack_chunks(expand),
        .chunk_bytes = (int32_t)step->chunk_bytes,
    };
}

static enum status run_block(struct search *search, const struct pack_step *step, struct error *err) {
    const struct pack_division *division = pack_division(search->form, step);
    struct face_block_pass pass = block_pass(search, step);
    unsigned count = divide(&pass, division);
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, shared_memory(division, 0)};
    return gpu_launch(search->stream, division->kernel, &pass, blocks, err);
}

static enum status run_stem(struct search *search, const struct pack_step *step, const struct image *source,
                            struct error *err) {
    const struct pack_division *division = pack_division(search->form, step);
    struct face_stem_pass pass = {
        .block = block_pass(search, step),
        .model = (int32_t)source->model,
        .channels = source->plane[0].channels,
        .depth = source->depth,
    };
    for (unsigned i = 0; i < source->plane_count; i++) {
        pass.plane[i] = gpu_launch_grid(&source->plane[i], EDGE_ZERO);
    }
    if (source->plane_count > 1) {
        pass.shift_x = source->plane[1].shift_x;
        pass.shift_y = source->plane[1].shift_y;
    }
    unsigned count = divide(&pass.block, division);
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, shared_memory(division, KERNEL_FACE_PICTURE_BYTES)};
    return gpu_launch(search->stream, division->kernel, &pass, blocks, err);
}

/* ---- neck and heads ---- */

static enum status run_neck(struct search *search, const struct pack_step *step, struct error *err) {
    const int up = pack_up_layer(step);
    const struct network_layer *form = &search->form->layer[step->last];
    const struct model_layer *weights = &search->network->weights->layers[step->last];
    CUdeviceptr memory = search->network->memory;
    int shift = network_shift(search->form, step->last) + (up == NETWORK_NONE ? 0 : 1);
    struct face_neck_pass pass = {
        .source = search->tensor[form->input],
        .target = search->tensor[step->last],
        .low = up == NETWORK_NONE ? 0 : search->tensor[search->form->layer[up].input],
        .weights = memory + step->weights,
        .terms = memory + step->terms,
        .up_weights = memory + step->up_weights,
        .up_terms = memory + step->up_terms,
        .addend_scale = weights->addend_scale,
        .offset = weights->offset,
        .inputs = form->inputs,
        .steps = pack_steps(form),
        .width = search->width >> shift,
        .pixels = (search->width >> shift) * (search->height >> shift),
    };
    int32_t count = ceil_divide(pass.pixels, KERNEL_FACE_TILE * KERNEL_THREADS_Y);
    return gpu_launch(search->stream, KERNEL_face_neck, &pass,
                      (struct gpu_blocks){(unsigned)count, KERNEL_THREADS_Y, 0}, err);
}

static enum status run_heads(struct search *search, const struct pack_step *step, int32_t least,
                             const struct image *target, struct error *err) {
    enum {
        HALO = (KERNEL_FACE_SMOOTH_WIDTH + 2) * (KERNEL_FACE_SMOOTH_HEIGHT + 2),
        PIXELS = HALO + KERNEL_FACE_SMOOTH_WIDTH * KERNEL_FACE_SMOOTH_HEIGHT,
        SHARED = PIXELS * KERNEL_FACE_NECK + 2 * KERNEL_FACE_PAIR
    };
    CUdeviceptr memory = search->network->memory;
    struct face_heads_pass pass = {
        .source = search->tensor[search->form->layer[step->first].input],
        .candidates = (uint64_t)(uintptr_t)target->plane[0].data,
        .weights = memory + step->weights,
        .terms = memory + step->terms,
        .head_weights = memory + step->head_weights,
        .head_biases = memory + step->head_biases,
        .width = search->width / search->form->cell,
        .height = search->height / search->form->cell,
        .least = least,
        .most = CANDIDATES_MAX,
    };
    pass.tiles_x = ceil_divide(pass.width, KERNEL_FACE_SMOOTH_WIDTH);
    int32_t count = pass.tiles_x * ceil_divide(pass.height, KERNEL_FACE_SMOOTH_HEIGHT);
    enum status status = gpu_stream_fill(search->stream, pass.candidates, 0, sizeof(uint32_t), err);
    return status == ST_OK ? gpu_launch(search->stream, KERNEL_face_heads, &pass,
                                        (struct gpu_blocks){(unsigned)count, KERNEL_THREADS_Y, SHARED}, err)
                           : status;
}

static enum status run_step(struct search *search, const struct pack_step *step,
                            const struct detect_plan *plan, const struct image *source,
                            const struct image *target, struct error *err) {
    const struct gpu_network *network = search->network;
    switch (step->kind) {
    case PACK_STEM:
        return run_stem(search, step, source, err);
    case PACK_BLOCK:
        return run_block(search, step, err);
    case PACK_NECK:
        return run_neck(search, step, err);
    case PACK_HEADS:
        break;
    }
    return run_heads(search, step, network->model->detector->least(network->weights, plan->threshold), target,
                     err);
}

enum status gpu_detect_steps(struct gpu_stream *stream, const struct detect_plan *plan,
                             const struct image *source, const struct image *target, int first, int end,
                             struct error *err) {
    struct gpu_device *device = stream->device;
    struct gpu_network *network = device->networks ? &device->networks[plan->detector] : NULL;
    if ((uint64_t)plan->width * plan->height > DETECT_PIXELS_MAX) {
        return fail(err, ST_UNSUPPORTED, "the picture is too large for a search on the GPU");
    }
    enum status status = get_ready(network, stream, err);
    if (status != ST_OK) {
        return status;
    }
    struct search search = {.stream = stream,
                            .network = network,
                            .form = network->layout.network,
                            .width = (int32_t)plan->width,
                            .height = (int32_t)plan->height};
    CUdeviceptr memory = 0;
    lay_out(&search);
    status = gpu_stream_scratch(stream, search.size, &memory, err);
    move(&search, memory);
    for (int i = first; i < end && i < network->layout.count && status == ST_OK; i++) {
        status = run_step(&search, &network->layout.step[i], plan, source, target, err);
    }
    return status;
}

/* ---- afterwards ---- */

static int by_place(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    return one->y != other->y ? (one->y > other->y) - (one->y < other->y)
                              : (one->x > other->x) - (one->x < other->x);
}

static void sort(void *result) {
    struct candidates *candidates = result;
    uint32_t count = candidates->count < CANDIDATES_MAX ? candidates->count : CANDIDATES_MAX;
    qsort(candidates->candidate, count, sizeof candidates->candidate[0], by_place);
}

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return gpu_detect_steps(stream, plan, source, target, 0, NETWORK_LAYERS_MAX, err);
}

const struct gpu_filter gpu_filter_detect = {.run = run, .finish = sort};
