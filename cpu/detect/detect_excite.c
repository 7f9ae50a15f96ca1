/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_excite.h"

#include <string.h>

static void *take(uint8_t *memory, size_t *used, size_t bytes) {
    uint8_t *taken = memory ? memory + *used : NULL;
    *used += bytes_align_up(bytes + DETECT_SLACK, IMAGE_ALIGNMENT);
    return taken;
}

size_t detect_excite_place(struct detect_job *job, uint8_t *memory) {
    size_t used = 0;
    for (int i = 0; i < job->form->layers; i++) {
        const struct network_layer *form = &job->form->layer[i];
        if (form->kind == NETWORK_EXCITE && job->passes.needed[i]) {
            job->channel_sums[form->input] = take(memory, &used, (size_t)form->inputs * sizeof(uint64_t));
            job->factors[i] = take(memory, &used, (size_t)form->outputs * sizeof(float));
        }
    }
    if (memory) {
        memset(memory, 0, used);
    }
    return used;
}

/* Sums of products in the order of detect/network.h. */
static void add_products(const float *weights, const float *bias, const float *values, int rows, int columns,
                         float *to) {
    for (int j = 0; j < rows; j++, weights += columns) {
        to[j] = bias[j];
        for (int i = 0; i < columns; i++) {
            to[j] += weights[i] * values[i];
        }
    }
}

void detect_excite_factors(const struct detect_job *job, int layer) {
    const struct network_layer *form = &job->form->layer[layer];
    const struct model_layer *model = &job->network->weights->layers[layer];
    const struct detect_tensor *input = &job->tensors[form->input];
    const double pixels = (double)input->width * (double)input->height;
    float mean[NETWORK_CHANNELS_MAX], inner[NETWORK_CHANNELS_MAX], *factor = job->factors[layer];
    for (int c = 0; c < form->inputs; c++) {
        mean[c] = (float)((double)job->channel_sums[form->input][c] / pixels);
    }
    add_products(model->reduce, model->reduce_bias, mean, form->size, form->inputs, inner);
    for (int j = 0; j < form->size; j++) {
        inner[j] = inner[j] > 0 ? inner[j] : 0;
    }
    add_products(model->expand, model->expand_bias, inner, form->outputs, form->size, factor);
    for (int o = 0; o < form->outputs; o++) {
        float gate = factor[o] < 0 ? 0 : factor[o] > 1 ? 1 : factor[o];
        factor[o] = (model->base + gate) * model->ratio;
    }
}
