/* SPDX-License-Identifier: MIT */
#include "gpu/detect/layers/layer_pack.h"

#include <string.h>

#include "gpu/detect/layers/layer_kernels.h"

enum {
    WORD = KERNEL_LAYER_WORD,
    COLUMNS = KERNEL_LAYER_COLUMNS,
    STEP = KERNEL_LAYER_STEP,
    LANES = KERNEL_THREADS_X,
    PAIR = KERNEL_LAYER_PAIR,
};

_Static_assert((int)KERNEL_LAYER_CHANNELS == NETWORK_CHANNELS_MAX &&
                   (int)KERNEL_LAYER_TABLE_BYTES == NETWORK_TABLE_SIZE,
               "kernels have room for what networks have");

/* ---- what there are kernels for ---- */

static bool is_product(const struct network_layer *form) {
    return form->kind == NETWORK_DENSE || form->kind == NETWORK_POINT || form->kind == NETWORK_UP;
}

static bool has_words(const struct network *network, int layer) {
    const struct network_layer *form = &network->layer[layer];
    const bool picture = form->input == NETWORK_PICTURE && form->kind == NETWORK_DENSE;
    const bool map = form->outputs == 1 && is_product(form) && form->addend == NETWORK_NONE &&
                     layer_pack_product(form).kernel == KERNEL_layer_point_1;
    return (picture || form->inputs % WORD == 0) && (map || form->outputs % WORD == 0);
}

bool layer_pack_depth(const struct network_layer *form, enum kernel *kernel) {
    static const struct {
        int size, stride;
        enum kernel kernel;
    } kernels[] = {
#define DEPTH(size, stride) {size, stride, KERNEL_layer_depth_##size##_##stride},
        KERNEL_LAYER_DEPTHS(DEPTH)
#undef DEPTH
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (kernels[i].size == form->size && kernels[i].stride == form->stride) {
            *kernel = kernels[i].kernel;
            return true;
        }
    }
    return false;
}

bool layer_pack_recognise(const struct network *network, int layer, struct pack_step *step) {
    static const enum pack_kind kinds[] = {
        [NETWORK_DENSE] = PACK_PRODUCT, [NETWORK_DEPTH] = PACK_DEPTH, [NETWORK_POINT] = PACK_PRODUCT,
        [NETWORK_UP] = PACK_PRODUCT,    [NETWORK_POOL] = PACK_POOL,   [NETWORK_CONCAT] = PACK_CONCAT,
        [NETWORK_EXCITE] = PACK_EXCITE,
    };
    const struct network_layer *form = &network->layer[layer];
    enum kernel kernel;
    if (form->kind == NETWORK_HEADS || !has_words(network, layer) ||
        (form->kind == NETWORK_DEPTH && !layer_pack_depth(form, &kernel))) {
        return false;
    }
    *step = (struct pack_step){.kind = kinds[form->kind], .first = layer, .last = layer};
    return true;
}

/* The kernel for products of so many columns: one that computes the fewest in vain, and of these the one that
 * reads its inputs least often. */
static int widest(int sixteens) {
    static const int widths[] = {6, 3, 2, 1};
    int best = widths[0];
    for (size_t i = 1; i < sizeof widths / sizeof *widths; i++) {
        if ((sixteens + widths[i] - 1) / widths[i] * widths[i] < (sixteens + best - 1) / best * best) {
            best = widths[i];
        }
    }
    return best;
}

static enum kernel kernel_of(const struct network_layer *form, int width, bool narrow) {
    if (form->kind == NETWORK_DENSE) {
        return narrow ? KERNEL_layer_dense_narrow_2 : KERNEL_layer_dense_2;
    }
    if (narrow) {
        return KERNEL_layer_point_narrow_2;
    }
    return width == 1   ? KERNEL_layer_point_1
           : width == 2 ? KERNEL_layer_point_2
           : width == 3 ? KERNEL_layer_point_3
                        : KERNEL_layer_point_6;
}

struct layer_pack_product layer_pack_product(const struct network_layer *form) {
    struct layer_pack_product product = {
        .columns = form->outputs * (form->kind == NETWORK_UP ? 4 : 1),
        .inputs = form->input == NETWORK_PICTURE ? KERNEL_LAYER_PICTURE : form->inputs,
    };
    const bool narrow = product.inputs % (2 * WORD) != 0;
    const int needed = (product.columns + COLUMNS - 1) / COLUMNS, taps = form->kind == NETWORK_DENSE ? 9 : 1;
    const int width = narrow || form->kind == NETWORK_DENSE ? 2
                      : form->outputs % WORD != 0           ? 1
                                                            : widest(needed);
    product.kernel = kernel_of(form, width, narrow);
    product.parts = (needed + width - 1) / width;
    product.sixteens = product.parts * width;
    product.steps = (taps * product.inputs + STEP - 1) / STEP;
    return product;
}

/* ---- where the weights lie ---- */

static int depth_groups(const struct network_layer *form) {
    return (form->size + 3) / 4;
}

static size_t weights_size(const struct network_layer *form) {
    if (form->kind == NETWORK_DEPTH) {
        return (size_t)form->outputs / WORD * (size_t)(form->size * depth_groups(form)) * WORD * 4;
    }
    const struct layer_pack_product product = layer_pack_product(form);
    return (size_t)product.steps * (size_t)product.sixteens * PAIR;
}

/* How many columns a layer has, rounded up to what a kernel makes at a time. */
static size_t padded_columns(const struct network_layer *form) {
    return form->kind == NETWORK_DEPTH ? (size_t)form->outputs
                                       : (size_t)layer_pack_product(form).sixteens * COLUMNS;
}

static void place_excite(const struct network_layer *form, struct pack_step *step, size_t *size) {
    step->reduce = pack_take(size, model_array_bytes(form, MODEL_REDUCE));
    step->reduce_bias = pack_take(size, model_array_bytes(form, MODEL_REDUCE_BIAS));
    step->expand = pack_take(size, model_array_bytes(form, MODEL_EXPAND));
    step->expand_bias = pack_take(size, model_array_bytes(form, MODEL_EXPAND_BIAS));
}

void layer_pack_place(const struct network *network, struct pack_step *step, size_t *size) {
    const struct network_layer *form = &network->layer[step->last];
    if (step->kind == PACK_EXCITE) {
        place_excite(form, step, size);
    } else if (step->kind == PACK_PRODUCT || step->kind == PACK_DEPTH) {
        step->weights = pack_take(size, weights_size(form));
        step->scales = pack_take(size, padded_columns(form) * sizeof(float));
        step->biases = pack_take(size, padded_columns(form) * sizeof(int32_t));
        step->table = pack_take(size, model_array_bytes(form, MODEL_TABLE));
    }
}

/* ---- the weights ---- */

/* Weight of a column for the value at a place of what its window has; 0 of what does not exist. */
static int8_t product_weight(const struct network_layer *form, const struct layer_pack_product *product,
                             const int8_t *weights, int column, int place) {
    const int taps = form->kind == NETWORK_DENSE ? 9 : 1;
    const int tap = place / product->inputs, input = place % product->inputs;
    return column < product->columns && tap < taps && input < form->inputs
               ? weights[(column * taps + tap) * form->inputs + input]
               : 0;
}

/* Column of an instruction: lane (g, t) gets the sums of columns 2t and 2t + 1 of both instructions, which
 * are a word. */
static int product_column(int instruction, int column) {
    return column / 2 * WORD + instruction * 2 + column % 2;
}

static void fill_product(const struct network_layer *form, const int8_t *weights, uint8_t *to) {
    const struct layer_pack_product product = layer_pack_product(form);
    for (int i = 0; i < product.steps * product.sixteens * PAIR; i++) {
        const int pair = i / PAIR, lane = i / (PAIR / LANES) % LANES, byte = i % (PAIR / LANES);
        const int first = pair % product.sixteens * COLUMNS;
        const int column = first + product_column(byte / 8, lane / 4);
        const int place = pair / product.sixteens * STEP + lane % 4 * 8 + byte % 8;
        to[i] = (uint8_t)product_weight(form, &product, weights, column, place);
    }
}

/* For each row and four columns of the window, and each word: of its channels four weights each. */
static void fill_depth(const struct network_layer *form, const int8_t *weights, uint8_t *to) {
    const int groups = depth_groups(form), words = form->outputs / WORD;
    for (int i = 0; i < (int)weights_size(form); i++) {
        const int place = i / (4 * WORD), channel = place % words * WORD + i / 4 % WORD;
        const int row = place / words / groups, column = place / words % groups * 4 + i % 4;
        const int tap = row * form->size + column;
        to[i] = column < form->size ? (uint8_t)weights[tap * form->outputs + channel] : 0;
    }
}

/* Scales and biases of columns; those of UP are its outputs four times. */
static void fill_terms(const struct network_layer *form, const struct model_layer *layer, uint8_t *scales,
                       uint8_t *biases) {
    const int columns = form->outputs * (form->kind == NETWORK_UP ? 4 : 1);
    for (int i = 0; i < columns; i++) {
        const int output = i % form->outputs;
        memcpy(scales + (size_t)i * sizeof(float), &layer->scale[output], sizeof(float));
        memcpy(biases + (size_t)i * sizeof(int32_t), &layer->bias[output], sizeof(int32_t));
    }
}

/* Threads side by side make sums side by side. */
static void fill_transposed(const float *matrix, int rows, int columns, uint8_t *to) {
    for (int i = 0; i < rows * columns; i++) {
        memcpy(to + (size_t)i * sizeof *matrix, &matrix[i % rows * columns + i / rows], sizeof *matrix);
    }
}

static void fill_step(const struct model_weights *weights, const struct pack_step *step, uint8_t *memory) {
    const struct network_layer *form = &weights->network->layer[step->last];
    const struct model_layer *layer = &weights->layers[step->last];
    if (step->kind == PACK_EXCITE) {
        fill_transposed(layer->reduce, form->size, form->inputs, memory + step->reduce);
        memcpy(memory + step->reduce_bias, layer->reduce_bias, model_array_bytes(form, MODEL_REDUCE_BIAS));
        fill_transposed(layer->expand, form->outputs, form->size, memory + step->expand);
        memcpy(memory + step->expand_bias, layer->expand_bias, model_array_bytes(form, MODEL_EXPAND_BIAS));
        return;
    }
    if (step->kind == PACK_DEPTH) {
        fill_depth(form, layer->weights, memory + step->weights);
    } else if (step->kind == PACK_PRODUCT) {
        fill_product(form, layer->weights, memory + step->weights);
    } else {
        return;
    }
    fill_terms(form, layer, memory + step->scales, memory + step->biases);
    if (layer->table) {
        memcpy(memory + step->table, layer->table, NETWORK_TABLE_SIZE);
    }
}

void layer_pack_weights(const struct model_weights *weights, const struct pack_layout *layout,
                        uint8_t *memory) {
    for (int i = 0; i < layout->count; i++) {
        if (layout->step[i].kind > PACK_PICTURE) {
            fill_step(weights, &layout->step[i], memory);
        }
    }
}
