/* SPDX-License-Identifier: MIT */
#include "gpu/detect/patterns.h"

#include "detect/candidates.h"
#include "gpu/detect/detect_kernels.h"
#include "gpu/stream/launch.h"

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
    chunks *= before == 0 && 2 * chunks + KERNEL_FACE_DUMMY <= KERNEL_SHARED_MAX ? 2 : 1;
    chunks += before > 0 ? before : KERNEL_FACE_DUMMY;
    int32_t sums = pixels * (division->outputs + 4) * (int32_t)sizeof(int32_t);
    return (unsigned)(chunks > sums ? chunks : sums);
}

static struct face_block_pass block_pass(const struct search *search, const struct pack_step *step) {
    const struct network_layer *expand = &search->form->layer[step->first],
                               *project = &search->form->layer[step->last];
    const struct model_layer *weights = &search->weights->layers[step->last];
    CUdeviceptr memory = search->packed;
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

static enum status run_block(const struct search *search, const struct pack_step *step, struct error *err) {
    const struct pack_division *division = pack_division(search->form, step, false);
    struct face_block_pass pass = block_pass(search, step);
    unsigned count = divide(&pass, division);
    if (pass.tiles < search->stream->device->processors / 2) {
        division = pack_division(search->form, step, true);
        count = divide(&pass, division);
    }
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, shared_memory(division, 0)};
    return gpu_launch(search->stream, division->kernel, &pass, blocks, err);
}

static enum status run_stem(const struct search *search, const struct pack_step *step, struct error *err) {
    const struct pack_division *division = pack_division(search->form, step, false);
    struct face_stem_pass pass = {.block = block_pass(search, step), .picture = search_picture(search)};
    unsigned count = divide(&pass.block, division);
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, shared_memory(division, KERNEL_FACE_PICTURE_BYTES)};
    return gpu_launch(search->stream, division->kernel, &pass, blocks, err);
}

/* ---- neck and heads ---- */

static enum status run_neck(const struct search *search, const struct pack_step *step, struct error *err) {
    const int up = pack_up_layer(step);
    const struct network_layer *form = &search->form->layer[step->last];
    const struct model_layer *weights = &search->weights->layers[step->last];
    CUdeviceptr memory = search->packed;
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
    const int32_t warps = ceil_divide(pass.pixels, KERNEL_FACE_TILE) * (pass.low ? 4 : 1);
    const int32_t count = ceil_divide(warps, KERNEL_THREADS_Y);
    return gpu_launch(search->stream, KERNEL_face_neck, &pass,
                      (struct gpu_blocks){(unsigned)count, KERNEL_THREADS_Y, 0}, err);
}

static enum status run_heads(const struct search *search, const struct pack_step *step, struct error *err) {
    enum {
        HALO = (KERNEL_FACE_SMOOTH_WIDTH + 2) * (KERNEL_FACE_SMOOTH_HEIGHT + 2),
        PIXELS = HALO + KERNEL_FACE_SMOOTH_WIDTH * KERNEL_FACE_SMOOTH_HEIGHT,
        SHARED = PIXELS * KERNEL_FACE_NECK + 2 * KERNEL_FACE_PAIR
    };
    CUdeviceptr memory = search->packed;
    struct face_heads_pass pass = {
        .source = search->tensor[search->form->layer[step->first].input],
        .candidates = (uint64_t)(uintptr_t)search->target->plane[0].data,
        .weights = memory + step->weights,
        .terms = memory + step->terms,
        .head_weights = memory + step->head_weights,
        .head_biases = memory + step->head_biases,
        .width = search->width / search_cell(search, 0),
        .height = search->height / search_cell(search, 0),
        .least = search->output[0].least,
        .most = CANDIDATES_MAX,
    };
    pass.tiles_x = ceil_divide(pass.width, KERNEL_FACE_SMOOTH_WIDTH);
    int32_t count = pass.tiles_x * ceil_divide(pass.height, KERNEL_FACE_SMOOTH_HEIGHT);
    enum status status = gpu_stream_fill(search->stream, pass.candidates, 0, sizeof(uint32_t), err);
    return status == ST_OK ? gpu_launch(search->stream, KERNEL_face_heads, &pass,
                                        (struct gpu_blocks){(unsigned)count, KERNEL_THREADS_Y, SHARED}, err)
                           : status;
}

enum status patterns_run(const struct search *search, const struct pack_step *step, struct error *err) {
    switch (step->kind) {
    case PACK_STEM:
        return run_stem(search, step, err);
    case PACK_BLOCK:
        return run_block(search, step, err);
    case PACK_NECK:
        return run_neck(search, step, err);
    default:
        break;
    }
    return run_heads(search, step, err);
}
