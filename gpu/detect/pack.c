/* SPDX-License-Identifier: MIT
 * Lane l of a warp hands column g = l / 4 of the weights to a matrix instruction, and of it 8 values that
 * depend on t = l % 4; see gpu/detect/matrix.cuh. */
#include "gpu/detect/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/detect/detect_kernels.h"

enum {
    LANES = KERNEL_THREADS_X,
    QUAD = KERNEL_FACE_QUAD,
    PAIR = KERNEL_FACE_PAIR,
    CHUNK = KERNEL_FACE_CHUNK,
    NECK_EIGHTHS = KERNEL_FACE_NECK / 8,
    LANE_CHANNELS = KERNEL_FACE_NECK / QUAD,
    TAPS = 9,
    SIDE = 3, /* of the 3x3 */
    SUM_LIMIT = 1 << 23,
};

/* ---- weights of one instruction ---- */

/* Weight of a layer, 0 for channels that it does not have. Taps count row by row. */
static int8_t weight_of(const struct network_layer *form, const struct model_layer *layer, int tap,
                        int output, int input) {
    int taps = form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH ? TAPS
               : form->kind == NETWORK_UP                                 ? 4
                                                                          : 1;
    if (output >= form->outputs || input >= form->inputs || tap >= taps) {
        return 0;
    }
    switch (form->kind) {
    case NETWORK_DEPTH:
        return output == input ? layer->weights[tap * form->outputs + output] : 0;
    case NETWORK_UP:
        return layer->weights[(tap * form->outputs + output) * form->inputs + input];
    default:
        break;
    }
    return layer->weights[(output * taps + tap) * form->inputs + input];
}

/* A layer, and what a kernel makes of it at a time. */
struct packing {
    const struct network_layer *form;
    const struct model_layer *layer;
    int first; /* channel of a chunk */
};

/* Where the value of byte `byte` of quad lane `quad` comes from. */
struct origin {
    int tap, input;
};

typedef struct origin origin_of(int index, int quad, int byte, int first);

/* With the weights as columns. */
static void pack_columns(const struct packing *source, int (*output_of)(int index, int column), int index,
                         origin_of *origin, int step, uint8_t *to) {
    for (int lane = 0; lane < LANES; lane++) {
        int output = output_of(index, lane / QUAD);
        for (int byte = 0; byte < PAIR; byte++) {
            struct origin from = origin(step, lane % QUAD, byte, source->first);
            to[lane * PAIR + byte] =
                (uint8_t)weight_of(source->form, source->layer, from.tap, source->first + output, from.input);
        }
    }
}

/* With the weights as rows, of outputs from `first` on: a lane has two of them, whose words alternate. */
static void pack_rows(const struct packing *source, int first, int (*output_of)(int index, int row),
                      int index, origin_of *origin, int step, uint8_t *to) {
    for (int i = 0; i < KERNEL_FACE_ROWS; i++) {
        int lane = i / 16, word = i / 4 % 4;
        int output = first + output_of(index, lane / QUAD + word % 2 * 8);
        struct origin from = origin(step, lane % QUAD, word / 2 * 4 + i % 4, source->first);
        to[i] = (uint8_t)weight_of(source->form, source->layer, from.tap, output, from.input);
    }
}

/* Row of `expand`: the lane that gets them has four channels side by side after two instructions. */
static int expand_output(int index, int row) {
    return 4 * (row % 8) + 2 * index + row / 8;
}

static int project_output(int index, int row) {
    return 16 * index + row;
}

static int plain_output(int index, int column) {
    return 8 * index + column;
}

static int neck_output(int index, int column) {
    return LANE_CHANNELS * (column / 2) + 2 * index + column % 2;
}

static struct origin point_origin(int step, int quad, int byte, int first) {
    (void)first;
    return (struct origin){0, CHUNK * step + PAIR * quad + byte};
}

/* Pixels have 4 bytes. A lane takes two taps, and in the idle byte of the first one a channel of the last
 * tap. */
static struct origin stem_origin(int step, int quad, int byte, int first) {
    (void)step;
    (void)first;
    if (byte == 3 && quad < 3) {
        return (struct origin){TAPS - 1, quad};
    }
    return (struct origin){quad + byte / 4 * 4, byte % 4};
}

/* The order in which a lane has the channels of `depth`. */
static struct origin project_origin(int step, int quad, int byte, int first) {
    (void)step;
    return (struct origin){0, first + 8 * (byte / 2) + 2 * quad + byte % 2};
}

static struct origin smooth_origin(int step, int quad, int byte, int first) {
    (void)first;
    int pair = 4 * step + quad;
    return (struct origin){pair / NECK_EIGHTHS, pair % NECK_EIGHTHS * PAIR + byte};
}

static struct origin up_origin(int step, int quad, int byte, int first) {
    (void)first;
    return (struct origin){step, PAIR * quad + byte};
}

/* ---- blocks ---- */

static enum status check_sums(const struct packing *source, struct error *err) {
    const struct network_layer *form = source->form;
    bool alone = form->kind == NETWORK_DEPTH; /* an output has one input */
    int taps = form->kind == NETWORK_POINT ? 1 : TAPS;
    for (int o = 0; o < form->outputs; o++) {
        int64_t most = source->layer->bias[o], least = most;
        for (int i = 0; i < taps * (alone ? 1 : form->inputs); i++) {
            int weight = weight_of(form, source->layer, i % taps, o, alone ? o : i / taps);
            most += weight > 0 ? 255 * weight : 0;
            least += weight < 0 ? 255 * weight : 0;
        }
        if (most >= SUM_LIMIT || least < INT32_MIN || source->layer->scale[o] < 0x1p-100f ||
            source->layer->scale[o] > 0x1p20f) {
            return fail(err, ST_UNSUPPORTED, "the sums of layer %s of the model are too large for the GPU",
                        form->name);
        }
    }
    return ST_OK;
}

static int32_t bias_of(const struct packing *source, int channel) {
    return channel < source->form->outputs ? source->layer->bias[channel] : 0;
}

static float scale_of(const struct packing *source, int channel) {
    return channel < source->form->outputs ? source->layer->scale[channel] * 0x1p100f : 0;
}

/* The terms of one of `count` lanes. The 16 bytes that these load together lie side by side. */
static void pack_lane_terms(const void *terms, size_t size, int lane, int count, uint8_t *to) {
    for (size_t i = 0; i < size / 16; i++) {
        memcpy(to + (i * (size_t)count + (size_t)lane) * 16, (const uint8_t *)terms + i * 16, 16);
    }
}

static void pack_expand_terms(const struct packing *source, uint8_t *to) {
    for (int row = 0; row < LANES / QUAD; row++) {
        struct face_expand_terms terms;
        for (int i = 0; i < 4; i++) {
            int channel = source->first + 4 * row + i;
            int32_t *start = terms.start[i / 2] + i % 2 * 2;
            start[0] = start[1] = bias_of(source, channel);
            terms.scale[i] = scale_of(source, channel);
        }
        pack_lane_terms(&terms, sizeof terms, row, LANES / QUAD, to);
    }
}

static void pack_depth_terms(const struct packing *source, uint8_t *to) {
    for (int quad = 0; quad < QUAD; quad++) {
        struct face_depth_terms terms;
        for (int i = 0; i < 8; i++) {
            int channel = source->first + 8 * (i / 2) + 2 * quad + i % 2;
            terms.start[i / 2][i % 2] = terms.start[i / 2][2 + i % 2] = bias_of(source, channel);
            terms.scale[i] = scale_of(source, channel);
        }
        pack_lane_terms(&terms, sizeof terms, quad, QUAD, to);
    }
}

/* A lane has of each row of the 3x3 the weights in column t of channels g, g + 8, g + 16 and g + 24. */
static void pack_taps(const struct packing *source, uint8_t *to) {
    for (int i = 0; i < KERNEL_FACE_DEPTH; i++) {
        const int lane = i / 16, row = i / 4 % 4, column = lane % QUAD;
        const int channel = source->first + lane / QUAD + i % 4 * 8;
        to[i] = row < SIDE && column < SIDE
                    ? (uint8_t)weight_of(source->form, source->layer, row * SIDE + column, channel, channel)
                    : 0;
    }
}

static struct packing packing_of(const struct model_weights *weights, int layer, int first) {
    return (struct packing){&weights->network->layer[layer], &weights->layers[layer], first};
}

static void pack_chunk(const struct model_weights *weights, const struct pack_step *step, int chunk,
                       uint8_t *to) {
    const struct network_layer *form = &weights->network->layer[step->first];
    const int first = step->first, steps = pack_steps(form);
    struct packing source = packing_of(weights, first, chunk * CHUNK);
    for (int i = 0; i < 2 * steps; i++) {
        pack_rows(&source, source.first, expand_output, i % 2,
                  step->kind == PACK_STEM ? stem_origin : point_origin, i / 2, to + i * KERNEL_FACE_ROWS);
    }
    to += steps * KERNEL_FACE_STEP;
    pack_expand_terms(&source, to);
    to += KERNEL_FACE_TERMS;
    source = packing_of(weights, first + 1, chunk * CHUNK);
    pack_taps(&source, to);
    to += KERNEL_FACE_DEPTH;
    pack_depth_terms(&source, to);
    to += KERNEL_FACE_TERMS;
    source = packing_of(weights, first + 2, chunk * CHUNK);
    for (int i = 0; i < pack_projections(form + 2); i++) {
        pack_rows(&source, 0, project_output, i, project_origin, 0, to + i * KERNEL_FACE_ROWS);
    }
}

static enum status pack_block(const struct model_weights *weights, const struct pack_step *step,
                              uint8_t *memory, struct error *err) {
    int first = step->first;
    const struct packing expand = packing_of(weights, first, 0), depth = packing_of(weights, first + 1, 0);
    enum status status = check_sums(&expand, err);
    status = status == ST_OK ? check_sums(&depth, err) : status;
    if (status != ST_OK) {
        return status;
    }
    for (int i = 0; i < pack_chunks(expand.form); i++) {
        pack_chunk(weights, step, i, memory + step->weights + (size_t)i * step->chunk_bytes);
    }
    const struct model_layer *last = &weights->layers[step->last];
    size_t outputs = (size_t)weights->network->layer[step->last].outputs;
    for (size_t i = 0; i < outputs; i++) {
        const float scale = last->scale[i] * 0x1p-49f;
        memcpy(memory + step->scales + i * sizeof scale, &scale, sizeof scale);
    }
    memcpy(memory + step->biases, last->bias, outputs * sizeof(int32_t));
    return ST_OK;
}

/* ---- neck and heads ---- */

static void pack_neck_layer_at(const struct packing *source, origin_of *origin, int steps, uint8_t *weights,
                               uint8_t *terms) {
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < NECK_EIGHTHS; i++, weights += KERNEL_FACE_WARP) {
            pack_columns(source, neck_output, i, origin, step, weights);
        }
    }
    for (int quad = 0; quad < QUAD; quad++) {
        struct face_neck_terms lane;
        for (int i = 0; i < LANE_CHANNELS; i++) {
            lane.bias[i] = source->layer->bias[LANE_CHANNELS * quad + i];
            lane.scale[i] = source->layer->scale[LANE_CHANNELS * quad + i];
        }
        memcpy(terms + quad * (int)sizeof lane, &lane, sizeof lane);
    }
}

static void pack_neck(const struct model_weights *weights, const struct pack_step *step, uint8_t *memory) {
    const struct packing layer = packing_of(weights, step->last, 0);
    pack_neck_layer_at(&layer, point_origin, pack_steps(layer.form), memory + step->weights,
                       memory + step->terms);
    if (pack_up_layer(step) != NETWORK_NONE) {
        const struct packing up = packing_of(weights, pack_up_layer(step), 0);
        pack_neck_layer_at(&up, up_origin, 4, memory + step->up_weights, memory + step->up_terms);
    }
}

static void pack_heads(const struct model_weights *weights, const struct pack_step *step, uint8_t *memory) {
    const struct packing smooth = packing_of(weights, step->first, 0),
                         heads = packing_of(weights, step->last, 0);
    pack_neck_layer_at(&smooth, smooth_origin, KERNEL_FACE_SMOOTH_STEPS, memory + step->weights,
                       memory + step->terms);
    for (int i = 0; i < 2; i++) {
        pack_columns(&heads, plain_output, i, point_origin, 0,
                     memory + step->head_weights + i * KERNEL_FACE_WARP);
    }
    memcpy(memory + step->head_biases, heads.layer->bias, (size_t)heads.form->outputs * sizeof(int32_t));
}

/* Layers within a step, and the 3x3 before the heads, are rounded without their offset. */
static enum status check_offsets(const struct model_weights *weights, const struct pack_step *step,
                                 struct error *err) {
    for (int i = step->first; i < step->last; i++) {
        if (weights->layers[i].offset != 0) {
            return fail(err, ST_UNSUPPORTED, "layer %s of the model has an offset, which the GPU leaves out",
                        weights->network->layer[i].name);
        }
    }
    return ST_OK;
}

enum status pack_weights(const struct model_weights *weights, const struct pack_layout *layout,
                         uint8_t *memory, struct error *err) {
    enum status status = ST_OK;
    for (int i = 0; i < layout->count && status == ST_OK; i++) {
        const struct pack_step *step = &layout->step[i];
        status = check_offsets(weights, step, err);
        if (status == ST_OK && step->kind == PACK_NECK) {
            pack_neck(weights, step, memory);
        } else if (status == ST_OK && step->kind == PACK_HEADS) {
            pack_heads(weights, step, memory);
        } else if (status == ST_OK && step->kind < PACK_NECK) {
            status = pack_block(weights, step, memory, err);
        }
    }
    return status;
}
