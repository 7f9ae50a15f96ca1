/* SPDX-License-Identifier: MIT */
#include "gpu/detect/detect.h"
#include "gpu/filter.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "detect/faces/faces.h"
#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/pack.h"
#include "gpu/stream/launch.h"

_Static_assert(sizeof(struct candidate) == sizeof(struct kernel_candidate) &&
                   offsetof(struct candidate, sum) == offsetof(struct kernel_candidate, sum) &&
                   offsetof(struct candidates, candidate) == sizeof(uint32_t),
               "kernels write what filters/detect/detect.h says");

/* The packed model in the memory of a device. */
struct gpu_faces {
    struct model *model;
    pthread_mutex_t lock;
    bool ready;
    struct pack_layout layout;
    CUdeviceptr memory;
    const struct model_weights *weights;
};

enum status gpu_detect_open(struct gpu_device *device, struct model *model, struct error *err) {
    struct gpu_faces *faces = calloc(1, sizeof *faces);
    if (!faces) {
        return fail(err, ST_BUSY, "out of memory");
    }
    faces->model = model;
    faces->layout = pack_layout();
    pthread_mutex_init(&faces->lock, NULL);
    device->faces = faces;
    return ST_OK;
}

void gpu_detect_close(struct gpu_device *device) {
    struct gpu_faces *faces = device->faces;
    if (faces) {
        if (faces->memory) {
            device->cuda->cuMemFree(faces->memory);
        }
        pthread_mutex_destroy(&faces->lock);
        free(faces);
        device->faces = NULL;
    }
}

/* ---- the model ---- */

static enum status upload_packed(struct gpu_faces *faces, struct gpu_stream *stream, const uint8_t *packed,
                                 struct error *err) {
    const struct cuda *cuda = stream->device->cuda;
    enum status status = ST_OK;
    if (!faces->memory) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &faces->memory, faces->layout.size);
    }
    if (status == ST_OK) {
        status = gpu_stream_upload(stream, faces->memory, packed, faces->layout.size, err);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, stream->handle) : status;
}

static enum status load(struct gpu_faces *faces, struct gpu_stream *stream, struct error *err) {
    struct error why = {0};
    enum status status = model_read(faces->model, &faces->weights, &why);
    if (status != ST_OK) {
        return fail(err, ST_UNSUPPORTED, "%s", why.text);
    }
    uint8_t *packed = calloc(1, faces->layout.size);
    if (!packed) {
        return fail(err, ST_BUSY, "no memory for the face model");
    }
    status = pack_weights(faces->weights, &faces->layout, packed, err);
    status = status == ST_OK ? upload_packed(faces, stream, packed, err) : status;
    free(packed);
    return status;
}

static enum status get_ready(struct gpu_faces *faces, struct gpu_stream *stream, struct error *err) {
    enum status status = ST_OK;
    if (!faces) {
        return fail(err, ST_UNSUPPORTED, "there is no face model");
    }
    pthread_mutex_lock(&faces->lock);
    if (!faces->ready) {
        status = load(faces, stream, err);
        faces->ready = status == ST_OK;
    }
    pthread_mutex_unlock(&faces->lock);
    return status;
}

/* ---- one search ---- */

enum { SLACK = 256 /* kernels read behind a tensor and ignore it */ };

/* A search: the sizes of the padded picture, and where the outputs of the layers lie. */
struct search {
    struct gpu_stream *stream;
    const struct gpu_faces *faces;
    int32_t width, height;
    CUdeviceptr tensor[FACE_LAYERS];
    size_t size;
};

/* log2 of the reduction of a layer's output against the picture. */
static int scale_of(int layer) {
    int shift = 0;
    for (; layer != NETWORK_PICTURE; layer = detector_faces.network->layer[layer].input) {
        bool up = detector_faces.network->layer[layer].kind == NETWORK_UP;
        shift += detector_faces.network->layer[layer].stride != 2 ? 0 : up ? -1 : 1;
    }
    return shift;
}

/* Only the last layers of blocks and of the neck write tensors. */
static bool is_stored(int layer) {
    if (layer < 3 * PACK_BLOCKS) {
        return layer % 3 == 2;
    }
    return detector_faces.network->layer[layer].kind == NETWORK_POINT;
}

static void lay_out(struct search *search) {
    for (int i = 0; i < FACE_LAYERS; i++) {
        if (is_stored(i)) {
            int shift = scale_of(i);
            size_t pixels = (size_t)(search->width >> shift) * (size_t)(search->height >> shift);
            search->tensor[i] = search->size;
            search->size = bytes_align_up(
                search->size + pixels * (size_t)detector_faces.network->layer[i].outputs + SLACK, SLACK);
        }
    }
}

static void move(struct search *search, CUdeviceptr memory) {
    for (int i = 0; i < FACE_LAYERS; i++) {
        search->tensor[i] += is_stored(i) ? memory : 0;
    }
}

/* ---- blocks ---- */

/* How a kernel divides a block's work; see KERNEL_FACE_BLOCKS. */
struct division {
    enum kernel kernel;
    int32_t steps, stride, outputs;
    int32_t members, rows, width;
};

static const struct division stem_division = {
    .kernel = KERNEL_face_stem,
    .steps = 1,
    .stride = 1,
    .outputs = 16,
    .members = KERNEL_FACE_STEM_MEMBERS,
    .rows = KERNEL_FACE_STEM_ROWS,
    .width = KERNEL_FACE_STEM_WIDTH,
};

static const struct division divisions[] = {
#define DIVISION(steps, stride, outputs, members, rows, width, least)                                        \
    {KERNEL_face_block_##steps##_##stride##_##outputs, steps, stride, outputs, members, rows, width},
    KERNEL_FACE_BLOCKS(DIVISION)
#undef DIVISION
};

/* The one with the fewest outputs that fits, or, if all have fewer, with the most. */
static const struct division *division_of(int index) {
    int32_t steps = pack_steps(index),
            stride = detector_faces.network->layer[pack_first_layer(index) + 1].stride;
    int32_t outputs = detector_faces.network->layer[pack_first_layer(index) + 2].outputs;
    const struct division *found = NULL;
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
        const struct division *division = &divisions[i];
        bool fits = division->steps == steps && division->stride == stride;
        if (fits && (!found || found->outputs < outputs)) {
            found = division;
        }
    }
    return found;
}

static int32_t ceil_divide(int32_t value, int32_t by) {
    return (value + by - 1) / by;
}

static int32_t tile_pixels(const struct division *division) {
    return division->members * division->rows * KERNEL_FACE_TILE;
}

/* Cuts the result into tiles, and the outputs into parts. Returns the number of blocks of threads. */
static unsigned divide(struct face_block_pass *pass, const struct division *division) {
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
static unsigned shared_memory(const struct division *division, int32_t before) {
    int32_t pixels = tile_pixels(division), height = pixels / division->width;
    int32_t halo_width = (division->width - 1) * division->stride + 3;
    int32_t pairs = halo_width * ((height / 2 - 1) * division->stride + 3);
    int32_t chunks = KERNEL_THREADS_Y / division->members * pairs * KERNEL_FACE_PITCH;
    chunks *= before == 0 && 2 * chunks <= KERNEL_SHARED_MAX ? 2 : 1;
    chunks += before;
    int32_t sums = pixels * (division->outputs + 4) * (int32_t)sizeof(int32_t);
    return (unsigned)(chunks > sums ? chunks : sums);
}

static struct face_block_pass block_pass(const struct search *search, int index) {
    int first = pack_first_layer(index), last = first + 2;
    const struct network_layer *expand = &detector_faces.network->layer[first],
                               *project = &detector_faces.network->layer[last];
    const struct pack_block *packed = &search->faces->layout.block[index];
    const struct model_layer *weights = &search->faces->weights->layers[last];
    CUdeviceptr memory = search->faces->memory;
    int in = scale_of(first), out = scale_of(last);
    return (struct face_block_pass){
        .source = expand->input == NETWORK_PICTURE ? 0 : search->tensor[expand->input],
        .target = search->tensor[last],
        .addend = project->addend == NETWORK_NONE ? 0 : search->tensor[project->addend],
        .weights = memory + packed->chunks,
        .scales = memory + packed->scales,
        .biases = memory + packed->biases,
        .addend_scale = weights->addend_scale * 0x1p100f,
        .offset = weights->offset * 0x1p-49f,
        .width = search->width >> in,
        .height = search->height >> in,
        .out_width = search->width >> out,
        .out_height = search->height >> out,
        .inputs = expand->inputs,
        .outputs = project->outputs,
        .chunks = pack_chunks(index),
        .chunk_bytes = (int32_t)packed->chunk_bytes,
    };
}

static enum status run_block(struct search *search, int index, struct error *err) {
    const struct division *division = division_of(index);
    struct face_block_pass pass = block_pass(search, index);
    unsigned count = divide(&pass, division);
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, shared_memory(division, 0)};
    return gpu_launch(search->stream, division->kernel, &pass, blocks, err);
}

static enum status run_stem(struct search *search, const struct image *source, struct error *err) {
    struct face_stem_pass pass = {
        .block = block_pass(search, 0),
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
    unsigned count = divide(&pass.block, &stem_division);
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y,
                                shared_memory(&stem_division, KERNEL_FACE_PICTURE_BYTES)};
    return gpu_launch(search->stream, KERNEL_face_stem, &pass, blocks, err);
}

/* ---- neck and heads ---- */

static enum status run_neck(struct search *search, int index, struct error *err) {
    int layer = pack_neck_layer(index), up = pack_up_layer(index);
    const struct network_layer *form = &detector_faces.network->layer[layer];
    const struct pack_neck *packed = &search->faces->layout.neck[index];
    const struct model_layer *weights = &search->faces->weights->layers[layer];
    CUdeviceptr memory = search->faces->memory;
    int shift = up == NETWORK_NONE ? scale_of(layer) : scale_of(layer) + 1;
    struct face_neck_pass pass = {
        .source = search->tensor[form->input],
        .target = search->tensor[layer],
        .low = up == NETWORK_NONE ? 0 : search->tensor[detector_faces.network->layer[up].input],
        .weights = memory + packed->weights,
        .terms = memory + packed->terms,
        .up_weights = memory + packed->up_weights,
        .up_terms = memory + packed->up_terms,
        .addend_scale = weights->addend_scale,
        .offset = weights->offset,
        .inputs = form->inputs,
        .steps = ceil_divide(form->inputs, KERNEL_FACE_CHUNK),
        .width = search->width >> shift,
        .pixels = (search->width >> shift) * (search->height >> shift),
    };
    int32_t count = ceil_divide(pass.pixels, KERNEL_FACE_TILE * KERNEL_THREADS_Y);
    return gpu_launch(search->stream, KERNEL_face_neck, &pass,
                      (struct gpu_blocks){(unsigned)count, KERNEL_THREADS_Y, 0}, err);
}

static enum status run_heads(struct search *search, int32_t least, const struct image *target,
                             struct error *err) {
    enum {
        HALO = (KERNEL_FACE_SMOOTH_WIDTH + 2) * (KERNEL_FACE_SMOOTH_HEIGHT + 2),
        PIXELS = HALO + KERNEL_FACE_SMOOTH_WIDTH * KERNEL_FACE_SMOOTH_HEIGHT,
        SHARED = PIXELS * KERNEL_FACE_NECK + 2 * KERNEL_FACE_PAIR
    };
    const struct pack_layout *layout = &search->faces->layout;
    CUdeviceptr memory = search->faces->memory;
    struct face_heads_pass pass = {
        .source = search->tensor[FACE_neck4],
        .candidates = (uint64_t)(uintptr_t)target->plane[0].data,
        .weights = memory + layout->smooth_weights,
        .terms = memory + layout->smooth_terms,
        .head_weights = memory + layout->head_weights,
        .head_biases = memory + layout->head_biases,
        .width = search->width / FACE_CELL,
        .height = search->height / FACE_CELL,
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

_Static_assert(PACK_BLOCKS + PACK_NECK + 1 == DETECT_STEPS, "a kernel for each, and the heads");

static enum status run_step(struct search *search, int step, const struct detect_plan *plan,
                            const struct image *source, const struct image *target, struct error *err) {
    if (step == 0) {
        return run_stem(search, source, err);
    }
    if (step < PACK_BLOCKS) {
        return run_block(search, step, err);
    }
    if (step < PACK_BLOCKS + PACK_NECK) {
        return run_neck(search, step - PACK_BLOCKS, err);
    }
    return run_heads(search, faces_least(search->faces->weights, plan->threshold), target, err);
}

enum status gpu_detect_steps(struct gpu_stream *stream, const struct detect_plan *plan,
                             const struct image *source, const struct image *target, int first, int end,
                             struct error *err) {
    struct gpu_faces *faces = stream->device->faces;
    if ((uint64_t)plan->width * plan->height > DETECT_PIXELS_MAX) {
        return fail(err, ST_UNSUPPORTED, "the picture is too large for a search for faces on the GPU");
    }
    enum status status = get_ready(faces, stream, err);
    if (status != ST_OK) {
        return status;
    }
    struct search search = {
        .stream = stream, .faces = faces, .width = (int32_t)plan->width, .height = (int32_t)plan->height};
    CUdeviceptr memory = 0;
    lay_out(&search);
    status = gpu_stream_scratch(stream, search.size, &memory, err);
    move(&search, memory);
    for (int i = first; i < end && status == ST_OK; i++) {
        status = run_step(&search, i, plan, source, target, err);
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
    return gpu_detect_steps(stream, plan, source, target, 0, DETECT_STEPS, err);
}

const struct gpu_filter gpu_filter_detect = {.run = run, .finish = sort};
