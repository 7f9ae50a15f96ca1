/* SPDX-License-Identifier: MIT
 * Which steps a network has, and where their packed weights lie. */
#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/pack.h"

enum {
    ALIGNMENT = 256,
    QUAD = KERNEL_FACE_QUAD,
    CHUNK = KERNEL_FACE_CHUNK,
    NECK_EIGHTHS = KERNEL_FACE_NECK / 8,
    MOST_GROUPS = 4,
    STEM_OUTPUTS = 16,
};

/* ---- layout ---- */

static size_t take(size_t *size, size_t bytes) {
    size_t at = *size;
    *size = bytes_align_up(at + bytes, ALIGNMENT);
    return at;
}

int pack_steps(const struct network_layer *form) {
    return (form->inputs + CHUNK - 1) / CHUNK;
}

int pack_chunks(const struct network_layer *form) {
    return (form->outputs + CHUNK - 1) / CHUNK;
}

int pack_up_layer(const struct pack_step *step) {
    return step->first < step->last ? step->first : NETWORK_NONE;
}

int pack_projections(const struct network_layer *form) {
    return (form->outputs + 15) / 16;
}

static void place_block(const struct network *network, struct pack_step *step, size_t *size) {
    const struct network_layer *expand = &network->layer[step->first], *project = &network->layer[step->last];
    size_t outputs = (size_t)project->outputs;
    step->chunk_bytes = (size_t)pack_steps(expand) * KERNEL_FACE_STEP + KERNEL_FACE_DEPTH +
                        2 * KERNEL_FACE_TERMS + (size_t)pack_projections(project) * KERNEL_FACE_ROWS;
    /* Groups of warps that have nothing to do read zeros behind the chunks. */
    step->weights = take(size, (size_t)(pack_chunks(expand) + MOST_GROUPS - 1) * step->chunk_bytes);
    step->scales = take(size, outputs * sizeof(float));
    step->biases = take(size, outputs * sizeof(int32_t));
}

static void place_neck(const struct network *network, struct pack_step *step, size_t *size) {
    const size_t steps = (size_t)pack_steps(&network->layer[step->last]);
    step->weights = take(size, steps * NECK_EIGHTHS * KERNEL_FACE_WARP);
    step->terms = take(size, QUAD * sizeof(struct face_neck_terms));
    if (pack_up_layer(step) != NETWORK_NONE) {
        step->up_weights = take(size, (size_t)4 * NECK_EIGHTHS * KERNEL_FACE_WARP);
        step->up_terms = take(size, QUAD * sizeof(struct face_neck_terms));
    }
}

static void place_step(const struct network *network, struct pack_step *step, size_t *size) {
    if (step->kind == PACK_NECK) {
        place_neck(network, step, size);
    } else if (step->kind != PACK_HEADS) {
        place_block(network, step, size);
    } else {
        step->weights = take(size, (size_t)KERNEL_FACE_SMOOTH_STEPS * NECK_EIGHTHS * KERNEL_FACE_WARP);
        step->terms = take(size, QUAD * sizeof(struct face_neck_terms));
        step->head_weights = take(size, (size_t)2 * KERNEL_FACE_WARP);
        step->head_biases = take(size, 16 * sizeof(int32_t));
    }
}

/* ---- patterns ---- */

static const struct pack_division stem_division = {
    .kernel = KERNEL_face_stem,
    .steps = 1,
    .stride = 1,
    .outputs = STEM_OUTPUTS,
    .members = KERNEL_FACE_STEM_MEMBERS,
    .rows = KERNEL_FACE_STEM_ROWS,
    .width = KERNEL_FACE_STEM_WIDTH,
};

static const struct pack_division divisions[] = {
#define DIVISION(steps, stride, outputs, members, rows, width, least)                                        \
    {KERNEL_face_block_##steps##_##stride##_##outputs, steps, stride, outputs, members, rows, width},
    KERNEL_FACE_BLOCKS(DIVISION)
#undef DIVISION
};

/* A block of threads makes all outputs, up to 15 fewer than it could, or exactly half of them. */
static bool makes(const struct pack_division *division, int outputs) {
    return (outputs + 15) / 16 * 16 == division->outputs || outputs == 2 * division->outputs;
}

const struct pack_division *pack_division(const struct network *network, const struct pack_step *step) {
    const struct network_layer *layer = &network->layer[step->first];
    const int steps = pack_steps(layer), stride = layer[1].stride, outputs = layer[2].outputs;
    if (step->kind == PACK_STEM) {
        return stride == 1 && outputs <= STEM_OUTPUTS && layer->outputs <= CHUNK ? &stem_division : NULL;
    }
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
        const struct pack_division *division = &divisions[i];
        if (division->steps == steps && division->stride == stride && makes(division, outputs)) {
            return division;
        }
    }
    return NULL;
}

/* Whether a layer is of that form. Kernels read eight bytes of inputs at a time. */
static bool is(const struct network_layer *form, enum network_kind kind, bool relu, bool added) {
    return form->kind == kind && form->activation == (relu ? NETWORK_RELU : NETWORK_LINEAR) &&
           form->size <= 3 && (added || form->addend == NETWORK_NONE) &&
           (form->inputs % 8 == 0 || form->input == NETWORK_PICTURE);
}

static bool is_block(const struct network_layer *form, enum network_kind first) {
    return is(&form[0], first, true, false) && is(&form[1], NETWORK_DEPTH, true, false) &&
           is(&form[2], NETWORK_POINT, false, true) && form[2].outputs % 4 == 0;
}

static bool is_neck(const struct network_layer *form) {
    return is(form, NETWORK_POINT, true, true) && form->outputs == KERNEL_FACE_NECK;
}

static bool is_narrow(const struct network_layer *form, enum network_kind kind) {
    return is(form, kind, true, false) && form->inputs == KERNEL_FACE_NECK &&
           form->outputs == KERNEL_FACE_NECK;
}

/* The layers from `first` on, of which `left` are there. False: they are no pattern. */
static bool recognise(const struct network *network, int first, struct pack_step *step) {
    const struct network_layer *form = &network->layer[first];
    const int left = network->layers - first;
    const bool picture = form->input == NETWORK_PICTURE;
    *step = (struct pack_step){.first = first};
    if (left > 2 && picture && form->stride == 2 && is_block(form, NETWORK_DENSE)) {
        step->kind = PACK_STEM, step->last = first + 2;
    } else if (left > 2 && !picture && is_block(form, NETWORK_POINT)) {
        step->kind = PACK_BLOCK, step->last = first + 2;
    } else if (left > 1 && is_narrow(form, NETWORK_UP) && is_neck(form + 1) && form[1].addend == first) {
        step->kind = PACK_NECK, step->last = first + 1;
    } else if (!picture && is_neck(form) && form->addend == NETWORK_NONE) {
        step->kind = PACK_NECK, step->last = first;
    } else if (left == 2 && is_narrow(form, NETWORK_DENSE) && form->stride == 1) {
        step->kind = PACK_HEADS, step->last = first + 1;
    } else {
        return false;
    }
    return step->kind > PACK_BLOCK || pack_division(network, step);
}

/* Whether a layer within a step reads what no step writes, or something else than the layer before it. */
static bool reads_well(const struct pack_layout *layout, const struct pack_step *step, int layer) {
    const struct network_layer *form = &layout->network->layer[layer];
    const int places[] = {form->input, form->addend};
    const bool chained = step->kind != PACK_NECK && layer > step->first;
    for (int i = 0; i < 2; i++) {
        bool written = places[i] < 0 || (layer > step->first && places[i] == layer - 1);
        for (int j = 0; j < layout->count && !written; j++) {
            written = layout->step[j].last == places[i];
        }
        if (!written) {
            return false;
        }
    }
    return !chained || form->input == layer - 1;
}

enum status pack_layout(const struct network *network, struct pack_layout *layout, struct error *err) {
    enum status status = network_check(network, err);
    *layout = (struct pack_layout){.network = network};
    for (int i = 0; i < network->layers && status == ST_OK; i = layout->step[layout->count++].last + 1) {
        struct pack_step *step = &layout->step[layout->count];
        bool runs = recognise(network, i, step);
        for (int j = i; j <= step->last && runs; j++) {
            runs = reads_well(layout, step, j);
        }
        if (!runs) {
            return fail(err, ST_UNSUPPORTED,
                        "there are no kernels for layer %s of the network and those behind",
                        network->layer[i].name);
        }
        place_step(network, step, &layout->size);
    }
    return status;
}
