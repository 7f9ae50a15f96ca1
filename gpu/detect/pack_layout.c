/* SPDX-License-Identifier: MIT
 * Which steps a network has, and where their packed weights lie. */
#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/layers/layer_pack.h"
#include "gpu/detect/pack.h"

enum {
    ALIGNMENT = 256,
    QUAD = KERNEL_FACE_QUAD,
    CHUNK = KERNEL_FACE_CHUNK,
    NECK_EIGHTHS = KERNEL_FACE_NECK / 8,
    MOST_GROUPS = 8,
    STEM_OUTPUTS = 16,
};

/* ---- layout ---- */

size_t pack_take(size_t *size, size_t bytes) {
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
    step->weights = pack_take(size, (size_t)(pack_chunks(expand) + MOST_GROUPS - 1) * step->chunk_bytes);
    step->scales = pack_take(size, outputs * sizeof(float));
    step->biases = pack_take(size, outputs * sizeof(int32_t));
}

static void place_neck(const struct network *network, struct pack_step *step, size_t *size) {
    const size_t steps = (size_t)pack_steps(&network->layer[step->last]);
    step->weights = pack_take(size, steps * NECK_EIGHTHS * KERNEL_FACE_WARP);
    step->terms = pack_take(size, QUAD * sizeof(struct face_neck_terms));
    if (pack_up_layer(step) != NETWORK_NONE) {
        step->up_weights = pack_take(size, (size_t)4 * NECK_EIGHTHS * KERNEL_FACE_WARP);
        step->up_terms = pack_take(size, QUAD * sizeof(struct face_neck_terms));
    }
}

static void place_step(const struct network *network, struct pack_step *step, size_t *size) {
    if (step->kind > PACK_HEADS) {
        layer_pack_place(network, step, size);
    } else if (step->kind == PACK_NECK) {
        place_neck(network, step, size);
    } else if (step->kind != PACK_HEADS) {
        place_block(network, step, size);
    } else {
        step->weights = pack_take(size, (size_t)KERNEL_FACE_SMOOTH_STEPS * NECK_EIGHTHS * KERNEL_FACE_WARP);
        step->terms = pack_take(size, QUAD * sizeof(struct face_neck_terms));
        step->head_weights = pack_take(size, (size_t)2 * KERNEL_FACE_WARP);
        step->head_biases = pack_take(size, 16 * sizeof(int32_t));
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
    {KERNEL_face_block_##steps##_##stride##_##outputs##_##members,                                           \
     steps,                                                                                                  \
     stride,                                                                                                 \
     outputs,                                                                                                \
     members,                                                                                                \
     rows,                                                                                                   \
     width},
    KERNEL_FACE_BLOCKS(DIVISION)
#undef DIVISION
};

/* A block of threads makes all outputs, up to 15 fewer than it could, or exactly half of them. */
static bool makes(const struct pack_division *division, int outputs) {
    return (outputs + 15) / 16 * 16 == division->outputs || outputs == 2 * division->outputs;
}

const struct pack_division *pack_division(const struct network *network, const struct pack_step *step,
                                          bool few) {
    const struct pack_division *found = NULL;
    const struct network_layer *layer = &network->layer[step->first];
    const int steps = pack_steps(layer), stride = layer[1].stride, outputs = layer[2].outputs;
    if (step->kind == PACK_STEM) {
        return stride == 1 && outputs <= STEM_OUTPUTS && layer->outputs <= CHUNK ? &stem_division : NULL;
    }
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
        const struct pack_division *division = &divisions[i];
        if (division->steps == steps && division->stride == stride && makes(division, outputs) &&
            (few || !found)) {
            found = division;
        }
    }
    return found;
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
static bool is_pattern(const struct network *network, int first, struct pack_step *step) {
    const struct network_layer *form = &network->layer[first];
    const int left = network->layers - first;
    const bool picture = form->input == NETWORK_PICTURE;
    *step = (struct pack_step){.first = first};
    if (left > 2 && picture && form->stride == 2 && is_block(form, NETWORK_DENSE)) {
        step->kind = PACK_STEM, step->last = first + 2;
    } else if (left > 2 && !picture && is_block(form, NETWORK_POINT)) {
        step->kind = PACK_BLOCK, step->last = first + 2;
    } else if (left > 1 && is_narrow(form, NETWORK_UP) && is_neck(form + 1)) {
        step->kind = PACK_NECK, step->last = first + 1;
    } else if (!picture && is_neck(form) && form->addend == NETWORK_NONE) {
        step->kind = PACK_NECK, step->last = first;
    } else if (left == 2 && is_narrow(form, NETWORK_DENSE) && form->stride == 1 &&
               form[1].kind == NETWORK_HEADS && network_zero(network, form->input) == 0) {
        step->kind = PACK_HEADS, step->last = first + 1;
    } else {
        return false;
    }
    return step->kind > PACK_BLOCK || pack_division(network, step, false);
}

/* Whether what a step makes of `layer`, which is not its last one, is read where it is made, and nowhere
 * else: by the next layer as its input, or of a NECK as its addend. */
static bool stays_within(const struct network *network, const struct pack_step *step, int layer) {
    const bool neck = step->kind == PACK_NECK;
    for (int i = layer + 1; i < network->layers; i++) {
        const struct network_layer *form = &network->layer[i];
        const bool within = i == layer + 1;
        if ((form->input == layer) != (within && !neck) || (form->addend == layer) != (within && neck)) {
            return false;
        }
    }
    return true;
}

/* The step that begins with a layer. */
static bool recognise(const struct network *network, int first, struct pack_step *step) {
    bool pattern = is_pattern(network, first, step);
    for (int i = first; pattern && i < step->last; i++) {
        pattern = stays_within(network, step, i);
    }
    return pattern || layer_pack_recognise(network, first, step);
}

static bool has_picture(const struct pack_layout *layout) {
    for (int i = 0; i < layout->count; i++) {
        if (layout->step[i].kind == PACK_PICTURE) {
            return true;
        }
    }
    return false;
}

/* Adds a step, before the first layer that is one and reads the picture also that of the picture. */
static void add_step(struct pack_layout *layout, struct pack_step step) {
    const struct network *network = layout->network;
    const bool picture = step.kind == PACK_PRODUCT && network->layer[step.first].input == NETWORK_PICTURE;
    if (picture && !has_picture(layout)) {
        layout->step[layout->count++] =
            (struct pack_step){.kind = PACK_PICTURE, .first = NETWORK_PICTURE, .last = NETWORK_PICTURE};
    }
    place_step(network, &step, &layout->size);
    layout->step[layout->count++] = step;
}

enum status pack_layout(const struct network *network, struct pack_layout *layout, struct error *err) {
    enum status status = network_check(network, err);
    *layout = (struct pack_layout){.network = network};
    for (int i = 0; i < network->layers && status == ST_OK;) {
        struct pack_step step;
        if (!recognise(network, i, &step)) {
            return fail(err, ST_UNSUPPORTED, "there is no kernel for layer %s of the network",
                        network->layer[i].name);
        }
        add_step(layout, step);
        i = step.last + 1;
    }
    return status;
}
