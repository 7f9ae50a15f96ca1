/* SPDX-License-Identifier: MIT */
#include "gpu/detect/search.h"

#include "detect/placing.h"
#include "gpu/detect/components.h"
#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/stream/launch.h"

enum { SLACK = 256 /* kernels read behind a tensor and ignore it */ };

static CUdeviceptr *place_of(struct search *search, const struct pack_step *step) {
    return step->kind == PACK_PICTURE ? &search->picture : &search->tensor[step->last];
}

static size_t tensor_bytes(const struct search *search, const struct pack_step *step) {
    const bool picture = step->kind == PACK_PICTURE;
    const int shift = picture ? 0 : network_shift(search->form, step->last);
    const int channels = picture ? KERNEL_LAYER_PICTURE : search->form->layer[step->last].outputs;
    const size_t pixels = (size_t)(search->width >> shift) * (size_t)(search->height >> shift);
    return bytes_align_up(pixels * (size_t)channels + SLACK, SLACK);
}

/* Whether a step reads what a layer, or the picture, has left. */
static bool reads(const struct network *network, const struct pack_step *step, int layer) {
    for (int i = step->first; i <= step->last && step->kind != PACK_PICTURE; i++) {
        if (network->layer[i].input == layer || network->layer[i].addend == layer) {
            return true;
        }
    }
    return false;
}

static unsigned last_reader(const struct network *network, const struct pack_layout *layout, int step) {
    unsigned last = (unsigned)step;
    for (int i = step + 1; i < layout->count; i++) {
        last = reads(network, &layout->step[i], layout->step[step].last) ? (unsigned)i : last;
    }
    return last;
}

/* The tensors of all steps but the last, whose output is the result. Returns the bytes of all. */
static size_t place_tensors(struct search *search, const struct pack_layout *layout) {
    struct placing_piece pieces[PACK_STEPS_MAX];
    const int count = layout->count - 1;
    for (int i = 0; i < count; i++) {
        pieces[i] = (struct placing_piece){.bytes = tensor_bytes(search, &layout->step[i]),
                                           .first = (unsigned)i,
                                           .last = last_reader(search->form, layout, i)};
    }
    const size_t size = placing_fill(pieces, (unsigned)count);
    for (int i = 0; i < count; i++) {
        *place_of(search, &layout->step[i]) = pieces[i].offset;
    }
    return size;
}

/* Behind all tensors; `sums` are side by side. Returns their bytes. */
static size_t place_excite(struct search *search, const struct pack_layout *layout, size_t *size) {
    const size_t begin = *size;
    size_t sums = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < layout->count; i++) {
            const struct pack_step *step = &layout->step[i];
            if (step->kind == PACK_EXCITE) {
                const size_t channels = (size_t)search->form->layer[step->last].inputs;
                CUdeviceptr *place = pass == 0 ? &search->sums[step->last] : &search->factors[step->last];
                *place = *size;
                *size = bytes_align_up(*size + channels * sizeof(uint64_t), SLACK);
            }
        }
        sums = pass == 0 ? *size - begin : sums;
    }
    return sums;
}

/* The map in which components are found, behind all that is there. These are found when tensors are not
 * needed any more, in their memory. Returns its place. */
static size_t place_map(const struct search *search, size_t *size) {
    if (!search->components) {
        return 0;
    }
    const size_t labels = gpu_components_bytes(search->width, search->height);
    const size_t map = *size > labels ? *size : labels;
    *size = bytes_align_up(map + (size_t)search->width * (size_t)search->height, SLACK);
    return map;
}

enum status search_place(struct search *search, const struct pack_layout *layout, bool first,
                         struct error *err) {
    size_t size = place_tensors(search, layout);
    const CUdeviceptr begin = size;
    const size_t sums = place_excite(search, layout, &size);
    CUdeviceptr memory = 0;
    const size_t map = place_map(search, &size);
    enum status status = gpu_stream_scratch(search->stream, size, &memory, err);
    search->labels = memory;
    search->map = search->components ? memory + map : (uint64_t)(uintptr_t)search->target->plane[0].data;
    search->pitch = search->components ? search->width : (int64_t)search->target->plane[0].stride;
    for (int i = 0; i < layout->count; i++) {
        const struct pack_step *step = &layout->step[i];
        *place_of(search, step) += memory;
        if (step->kind == PACK_EXCITE) {
            search->sums[step->last] += memory;
            search->factors[step->last] += memory;
        }
    }
    return status == ST_OK && first && sums > 0
               ? gpu_stream_fill(search->stream, memory + begin, 0, sums, err)
               : status;
}

struct kernel_picture search_picture(const struct search *search) {
    const struct image *source = search->source;
    struct kernel_picture picture = {
        .model = (int32_t)source->model,
        .channels = source->plane[0].channels,
        .depth = source->depth,
    };
    for (unsigned i = 0; i < source->plane_count; i++) {
        picture.plane[i] = gpu_launch_grid(&source->plane[i], EDGE_ZERO);
    }
    if (source->plane_count > 1) {
        picture.shift_x = source->plane[1].shift_x;
        picture.shift_y = source->plane[1].shift_y;
    }
    return picture;
}
