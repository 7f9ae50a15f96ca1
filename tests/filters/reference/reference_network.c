/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tensor {
    int width, height, channels;
    uint8_t *value;
};

static void *take_memory(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "no memory for the reference\n");
        exit(2);
    }
    return memory;
}

static const uint8_t *pixel(const struct tensor *tensor, int x, int y) {
    return &tensor->value[((size_t)y * (size_t)tensor->width + (size_t)x) * (size_t)tensor->channels];
}

/* The sum of `count` products. */
static int32_t dot(const int8_t *weights, const uint8_t *values, int count) {
    int32_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += weights[i] * values[i];
    }
    return sum;
}

/* The sum of output channel o at (x, y) without its bias; outside of the input lies `zero`. */
static int32_t windowed(const struct network_layer *form, const int8_t *w, const struct tensor *in, int zero,
                        int x, int y, int o) {
    const int n = form->inputs, size = form->size, channels = form->kind == NETWORK_DENSE ? n : 1;
    int32_t sum = 0;
    for (int tap = 0; tap < size * size; tap++) {
        const int from_x = x * form->stride + tap % size - size / 2;
        const int from_y = y * form->stride + tap / size - size / 2;
        const bool inside = from_x >= 0 && from_y >= 0 && from_x < in->width && from_y < in->height;
        for (int c = 0; c < channels; c++) {
            const bool dense = form->kind == NETWORK_DENSE;
            const int weight = dense ? w[(o * size * size + tap) * n + c] : w[tap * n + o];
            sum += weight * (inside ? pixel(in, from_x, from_y)[dense ? c : o] : zero);
        }
    }
    return sum;
}

static int32_t weighted(const struct network_layer *form, const int8_t *w, const struct tensor *in, int zero,
                        int x, int y, int o) {
    int n = form->inputs;
    if (form->kind == NETWORK_POINT || form->kind == NETWORK_HEADS) {
        return dot(w + o * n, pixel(in, x, y), n);
    }
    if (form->kind == NETWORK_UP) {
        int part = y % 2 * 2 + x % 2;
        return dot(w + (part * form->outputs + o) * n, pixel(in, x / 2, y / 2), n);
    }
    return windowed(form, w, in, zero, x, y, o);
}

/* volatile: every operation is rounded on its own. `t` is the scaled sum. */
static uint8_t finish(const struct network_layer *form, const struct model_layer *layer, float scaled,
                      const uint8_t *addend) {
    volatile float t = scaled;
    if (form->activation == NETWORK_RELU && t < 0) {
        t = 0;
    }
    if (addend) {
        volatile float added = (float)*addend * layer->addend_scale;
        t = t + added;
    }
    t = t + layer->offset;
    float rounded = rintf(t);
    uint8_t byte = (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
    return layer->table ? layer->table[byte] : byte;
}

static float product(float a, float b) {
    volatile float result = a * b;
    return result;
}

static float total(float a, float b) {
    volatile float result = a + b;
    return result;
}

/* The sums of products of `rows` rows of weights, from biases on. */
static void matrix(const float *weights, const float *bias, const float *values, int rows, int columns,
                   float *to) {
    for (int j = 0; j < rows; j++) {
        to[j] = bias[j];
        for (int i = 0; i < columns; i++) {
            to[j] = total(to[j], product(weights[j * columns + i], values[i]));
        }
    }
}

/* The factors of an EXCITE layer. */
static void factors(const struct network_layer *form, const struct model_layer *layer,
                    const struct tensor *in, float *factor) {
    const size_t pixels = (size_t)in->width * (size_t)in->height;
    float mean[NETWORK_CHANNELS_MAX], inner[NETWORK_CHANNELS_MAX];
    for (int c = 0; c < form->inputs; c++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < pixels; i++) {
            sum += in->value[i * (size_t)form->inputs + (size_t)c];
        }
        mean[c] = (float)((double)sum / (double)pixels);
    }
    matrix(layer->reduce, layer->reduce_bias, mean, form->size, form->inputs, inner);
    for (int j = 0; j < form->size; j++) {
        inner[j] = inner[j] > 0 ? inner[j] : 0;
    }
    matrix(layer->expand, layer->expand_bias, inner, form->outputs, form->size, factor);
    for (int o = 0; o < form->outputs; o++) {
        float gate = factor[o] < 0 ? 0 : factor[o] > 1 ? 1 : factor[o];
        factor[o] = product(total(layer->base, gate), layer->ratio);
    }
}

/* What a layer reads. */
struct sources {
    const struct tensor *in, *addend; /* NULL: none */
    int zero;                         /* of the input */
};

/* Channel o of the addend at (x, y) of the output, which may be twice as large. */
static const uint8_t *addend_at(const struct sources *from, const struct tensor *out, int x, int y, int o) {
    if (!from->addend) {
        return NULL;
    }
    const int by = out->width / from->addend->width;
    return pixel(from->addend, x / by, y / by) + o;
}

static uint8_t pooled(const struct tensor *in, int x, int y, int o) {
    uint8_t most = 0;
    for (int i = 0; i < 4; i++) {
        const int from_x = x + i % 2, from_y = y + i / 2;
        if (from_x < in->width && from_y < in->height && pixel(in, from_x, from_y)[o] > most) {
            most = pixel(in, from_x, from_y)[o];
        }
    }
    return most;
}

static uint8_t joined(const struct network_layer *form, const struct sources *from, const struct tensor *out,
                      int x, int y, int o) {
    const int by = out->width / from->in->width;
    return o < form->inputs ? pixel(from->in, x / by, y / by)[o]
                            : pixel(from->addend, x, y)[o - form->inputs];
}

static struct tensor output_of(const struct network_layer *form, const struct sources *from) {
    const struct tensor *in = form->kind == NETWORK_CONCAT ? from->addend : from->in;
    struct tensor out = {.width = form->kind == NETWORK_UP ? in->width * 2 : in->width / form->stride,
                         .height = form->kind == NETWORK_UP ? in->height * 2 : in->height / form->stride,
                         .channels = form->outputs};
    out.value = take_memory((size_t)out.width * (size_t)out.height, (size_t)out.channels);
    return out;
}

/* An output as the layer has it; of the heads the sum. */
static int32_t value_at(const struct network_layer *form, const struct model_layer *layer,
                        const struct sources *from, const struct tensor *out, const float *factor, int x,
                        int y, int o) {
    switch (form->kind) {
    case NETWORK_POOL:
        return pooled(from->in, x, y, o);
    case NETWORK_CONCAT:
        return joined(form, from, out, x, y, o);
    case NETWORK_EXCITE: {
        const float t = product((float)(pixel(from->in, x, y)[o] - from->zero), factor[o]);
        return finish(form, layer, t, addend_at(from, out, x, y, o));
    }
    default: {
        const int32_t sum = weighted(form, layer->weights, from->in, from->zero, x, y, o) + layer->bias[o];
        return form->kind == NETWORK_HEADS
                   ? sum
                   : finish(form, layer, product((float)sum, layer->scale[o]), addend_at(from, out, x, y, o));
    }
    }
}

/* `result` gets the values of the last layer; NULL for the others. */
static struct tensor run_layer(int index, const struct model_weights *weights, const struct tensor *outputs,
                               const struct tensor *picture, int32_t *result) {
    const struct network_layer *form = &weights->network->layer[index];
    const struct model_layer *layer = &weights->layers[index];
    const struct sources from = {
        .in = form->input == NETWORK_PICTURE ? picture : &outputs[form->input],
        .addend = form->addend == NETWORK_NONE ? NULL : &outputs[form->addend],
        .zero = network_zero(weights->network, form->input),
    };
    struct tensor out = output_of(form, &from);
    float factor[NETWORK_CHANNELS_MAX];
    size_t at = 0;
    if (form->kind == NETWORK_EXCITE) {
        factors(form, layer, from.in, factor);
    }
    for (int y = 0; y < out.height; y++) {
        for (int x = 0; x < out.width; x++) {
            for (int o = 0; o < out.channels; o++, at++) {
                const int32_t value = value_at(form, layer, &from, &out, factor, x, y, o);
                out.value[at] = (uint8_t)value;
                if (result) {
                    result[at] = value;
                }
            }
        }
    }
    return out;
}

static struct tensor picture_of(const uint8_t *rgb, int width, int height) {
    struct tensor picture = {.width = width, .height = height, .channels = 3};
    picture.value = take_memory((size_t)width * (size_t)height, 3);
    for (size_t i = 0; i < (size_t)width * (size_t)height * 3; i++) {
        picture.value[i] = rgb[i];
    }
    return picture;
}

int32_t *reference_network(const struct model_weights *weights, unsigned output, const uint8_t *rgb,
                           int width, int height, uint64_t hashes[]) {
    const struct network *network = weights->network;
    const int cell = network_cell(network, output), result = network->output[output];
    size_t cells = (size_t)(width / cell) * (size_t)(height / cell);
    int32_t *sums = take_memory(cells * (size_t)network->layer[result].outputs, sizeof *sums);
    struct tensor picture = picture_of(rgb, width, height), outputs[NETWORK_LAYERS_MAX];
    bool needed[NETWORK_LAYERS_MAX];
    network_needed(network, UINT32_C(1) << output, needed);
    for (int i = 0; i < network->layers; i++) {
        const bool last = i == result;
        outputs[i] = (struct tensor){0};
        if (!needed[i]) {
            continue;
        }
        outputs[i] = run_layer(i, weights, outputs, &picture, last ? sums : NULL);
        size_t size = (size_t)outputs[i].width * (size_t)outputs[i].height * (size_t)outputs[i].channels;
        if (hashes) {
            hashes[i] = last ? reference_network_hash(sums, size * sizeof *sums)
                             : reference_network_hash(outputs[i].value, size);
        }
    }
    for (int i = 0; i < network->layers; i++) {
        free(outputs[i].value);
    }
    free(picture.value);
    return sums;
}

uint64_t reference_network_hash(const void *data, size_t size) {
    const uint8_t *byte = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}
