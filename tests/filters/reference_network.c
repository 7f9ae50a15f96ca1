/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference_network.h"

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

/* The sum of output channel o at (x, y) without its bias. */
static int32_t weighted(const struct network_layer *form, const int8_t *w, const struct tensor *in, int x,
                        int y, int o) {
    int n = form->inputs;
    if (form->kind == NETWORK_POINT || form->kind == NETWORK_HEADS) {
        return dot(w + o * n, pixel(in, x, y), n);
    }
    if (form->kind == NETWORK_UP) {
        int part = y % 2 * 2 + x % 2;
        return dot(w + (part * form->outputs + o) * n, pixel(in, x / 2, y / 2), n);
    }
    int32_t sum = 0;
    for (int ky = 0; ky < 3; ky++) {
        for (int kx = 0; kx < 3; kx++) {
            int from_x = x * form->stride + kx - 1, from_y = y * form->stride + ky - 1;
            if (from_x < 0 || from_y < 0 || from_x >= in->width || from_y >= in->height) {
                continue;
            }
            int tap = ky * 3 + kx;
            sum += form->kind == NETWORK_DENSE ? dot(w + (o * 9 + tap) * n, pixel(in, from_x, from_y), n)
                                               : dot(w + tap * n + o, pixel(in, from_x, from_y) + o, 1);
        }
    }
    return sum;
}

/* volatile: every operation is rounded on its own. */
static uint8_t finish(const struct network_layer *form, const struct model_layer *layer, int32_t sum, int o,
                      const uint8_t *addend) {
    volatile float t = (float)sum;
    t = t * layer->scale[o];
    if (form->relu && t < 0) {
        t = 0;
    }
    if (addend) {
        volatile float added = (float)*addend * layer->addend_scale;
        t = t + added;
    }
    t = t + layer->offset;
    float rounded = rintf(t);
    return (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

static struct tensor output_of(const struct network_layer *form, const struct tensor *in) {
    struct tensor out = {.width = form->kind == NETWORK_UP ? in->width * 2 : in->width / form->stride,
                         .height = form->kind == NETWORK_UP ? in->height * 2 : in->height / form->stride,
                         .channels = form->outputs};
    out.value = take_memory((size_t)out.width * (size_t)out.height, (size_t)out.channels);
    return out;
}

/* Calls for each sum of the layer in the order of memory; `sums` is NULL for all but the heads. */
static struct tensor run_layer(int index, const struct model_weights *weights, const struct tensor *outputs,
                               const struct tensor *picture, int32_t *sums) {
    const struct network_layer *form = &weights->network->layer[index];
    const struct model_layer *layer = &weights->layers[index];
    const struct tensor *in = form->input == NETWORK_PICTURE ? picture : &outputs[form->input];
    const uint8_t *addend = form->addend == NETWORK_NONE ? NULL : outputs[form->addend].value;
    struct tensor out = output_of(form, in);
    size_t at = 0;
    for (int y = 0; y < out.height; y++) {
        for (int x = 0; x < out.width; x++) {
            for (int o = 0; o < out.channels; o++, at++) {
                int32_t sum = weighted(form, layer->weights, in, x, y, o) + layer->bias[o];
                if (sums) {
                    sums[at] = sum;
                } else {
                    out.value[at] = finish(form, layer, sum, o, addend ? addend + at : NULL);
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

int32_t *reference_network(const struct model_weights *weights, const uint8_t *rgb, int width, int height,
                           uint64_t hashes[]) {
    const struct network *network = weights->network;
    size_t cells = (size_t)(width / network->cell) * (size_t)(height / network->cell);
    int32_t *sums = take_memory(cells * (size_t)network->sums, sizeof *sums);
    struct tensor picture = picture_of(rgb, width, height), outputs[NETWORK_LAYERS_MAX];
    for (int i = 0; i < network->layers; i++) {
        bool last = i + 1 == network->layers;
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
