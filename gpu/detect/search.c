/* SPDX-License-Identifier: MIT */
#include "gpu/detect/search.h"

#include "detect/placing.h"
#include "gpu/detect/components.h"
#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/stream/launch.h"

enum { SLACK = 256 /* kernels read behind a tensor and ignore it */ };

static void want(struct search *search, const struct detector *detector, int32_t least) {
    for (unsigned i = 0; detector_outputs(detector) >> i; i++) {
        if (detector_outputs(detector) >> i & 1) {
            search->output[i] = (struct search_output){.detector = detector,
                                                       .least = least,
                                                       .searched = detector->pixel_least > 0 ||
                                                                   search_has_anchors(search, i)};
        }
    }
}

void search_want(struct search *search, const struct detect_plan *plan, const struct detector *detector) {
    uint32_t outputs = 0;
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (plan->wanted >> i & 1) {
            /* Tests have models of detectors that are in no table. */
            const struct detector *own = detector->network == detector_get((enum detector_id)i)->network
                                             ? detector_get((enum detector_id)i)
                                             : detector;
            want(search, own, own->least(search->weights, plan->threshold[i]));
            outputs |= detector_outputs(own);
        }
    }
    network_needed(search->form, outputs, search->needed);
}

bool search_runs(const struct search *search, const struct pack_step *step) {
    return step->kind == PACK_PICTURE || search->needed[step->last];
}

const struct search_output *search_output_of(const struct search *search, int layer) {
    for (int i = 0; i < search->form->outputs; i++) {
        if (search->form->output[i] == layer) {
            return &search->output[i];
        }
    }
    return NULL;
}

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

static unsigned last_reader(const struct search *search, const struct pack_layout *layout, int step) {
    unsigned last = (unsigned)step;
    for (int i = step + 1; i < layout->count; i++) {
        const struct pack_step *later = &layout->step[i];
        last = search_runs(search, later) && reads(search->form, later, layout->step[step].last) ? (unsigned)i
                                                                                                 : last;
    }
    return last;
}

/* Whether a step leaves a tensor to others. */
static bool leaves_tensor(const struct search *search, const struct pack_step *step) {
    return search_runs(search, step) && !search_output_of(search, step->last);
}

/* The tensors of all steps that run but of those whose output is a result. Returns the bytes of all. */
static size_t place_tensors(struct search *search, const struct pack_layout *layout) {
    struct placing_piece pieces[PACK_STEPS_MAX];
    unsigned count = 0;
    for (int i = 0; i < layout->count; i++) {
        if (leaves_tensor(search, &layout->step[i])) {
            pieces[count++] = (struct placing_piece){.bytes = tensor_bytes(search, &layout->step[i]),
                                                     .first = (unsigned)i,
                                                     .last = last_reader(search, layout, i)};
        }
    }
    const size_t size = placing_fill(pieces, count);
    count = 0;
    for (int i = 0; i < layout->count; i++) {
        if (leaves_tensor(search, &layout->step[i])) {
            *place_of(search, &layout->step[i]) = pieces[count++].offset;
        }
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
            if (step->kind == PACK_EXCITE && search_runs(search, step)) {
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

bool search_has_anchors(const struct search *search, unsigned output) {
    return search->form->anchors[output] > 0;
}

int32_t search_cell(const struct search *search, unsigned output) {
    return network_cell(search->form, output);
}

/* The maps or cells in which candidates are found, behind all that is there. These are found when tensors are
 * not needed any more, in their memory. */
static void place_maps(struct search *search, size_t *size) {
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        if (search->output[i].searched && !search_has_anchors(search, i)) {
            const int32_t cell = search_cell(search, i);
            const size_t labels = gpu_components_bytes(search->width / cell, search->height / cell);
            *size = *size > labels ? *size : labels;
        }
    }
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        struct search_output *output = &search->output[i];
        output->map = (uint64_t)(uintptr_t)search->target->plane[0].data;
        output->pitch = (int64_t)search->target->plane[0].stride;
        if (output->searched) {
            const int32_t cell = search_cell(search, i);
            output->map = *size;
            output->pitch = (int64_t)(search->width / cell) * network_cell_bytes(search->form, i);
            *size = bytes_align_up(*size + (size_t)output->pitch * (size_t)(search->height / cell), SLACK);
        }
    }
}

enum status search_place(struct search *search, const struct pack_layout *layout, bool first,
                         struct error *err) {
    size_t size = place_tensors(search, layout);
    const CUdeviceptr begin = size;
    const size_t sums = place_excite(search, layout, &size);
    CUdeviceptr memory = 0;
    place_maps(search, &size);
    enum status status = gpu_stream_scratch(search->stream, size, &memory, err);
    search->labels = memory;
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        search->output[i].map += search->output[i].searched ? memory : 0;
    }
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
