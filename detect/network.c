/* SPDX-License-Identifier: MIT */
#include "detect/network.h"

#include <math.h>
#include <string.h>

#include "detect/candidates.h"

static bool has_window(const struct network_layer *form) {
    return form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH;
}

/* Whether a layer multiplies its inputs by 8-bit weights. */
static bool is_weighted(const struct network_layer *form) {
    return has_window(form) || form->kind == NETWORK_POINT || form->kind == NETWORK_UP ||
           form->kind == NETWORK_HEADS;
}

size_t network_weights(const struct network_layer *layer) {
    size_t area = (size_t)layer->size * (size_t)layer->size;
    return !is_weighted(layer)
               ? 0
               : area * (size_t)layer->outputs * (layer->kind == NETWORK_DEPTH ? 1 : (size_t)layer->inputs);
}

static int halvings(const struct network_layer *layer) {
    return layer->stride != 2 ? 0 : layer->kind == NETWORK_UP ? -1 : 1;
}

int network_shift(const struct network *network, int layer) {
    int shift = 0;
    while (layer != NETWORK_PICTURE) {
        const struct network_layer *form = &network->layer[layer];
        shift += halvings(form);
        layer = form->kind == NETWORK_CONCAT ? form->addend : form->input;
    }
    return shift;
}

int network_cell(const struct network *network, unsigned output) {
    return 1 << network_shift(network, network->output[output]);
}

int network_cell_bytes(const struct network *network, unsigned output) {
    const int anchors = network->anchors[output];
    return anchors > 0 ? (anchors + 3) / 4 * 4 + 4 * anchors : 1;
}

void network_needed(const struct network *network, uint32_t outputs, bool needed[NETWORK_LAYERS_MAX]) {
    memset(needed, 0, NETWORK_LAYERS_MAX * sizeof *needed);
    for (int i = 0; i < network->outputs; i++) {
        needed[network->output[i]] = outputs >> i & 1;
    }
    for (int i = network->layers - 1; i >= 0; i--) {
        const struct network_layer *form = &network->layer[i];
        if (needed[i] && form->input >= 0) {
            needed[form->input] = true;
        }
        if (needed[i] && form->addend >= 0) {
            needed[form->addend] = true;
        }
    }
}

int network_zero(const struct network *network, int layer) {
    while (layer != NETWORK_PICTURE &&
           (network->layer[layer].kind == NETWORK_POOL || network->layer[layer].kind == NETWORK_CONCAT)) {
        layer = network->layer[layer].input;
    }
    if (layer == NETWORK_PICTURE || network->layer[layer].activation == NETWORK_RELU) {
        return 0;
    }
    return network->layer[layer].activation == NETWORK_LINEAR ? NETWORK_LINEAR_ZERO : -1;
}

int32_t network_byte(double threshold) {
    if (!(threshold > 0)) {
        return 1;
    }
    const double byte =
        threshold < 1 ? ceil(NETWORK_LINEAR_ZERO + NETWORK_LOGITS * log(threshold / (1 - threshold))) : 256;
    return byte > 255 ? INT32_MAX : byte < 1 ? 1 : (int32_t)byte;
}

double network_probability(int32_t byte) {
    return 1 / (1 + exp((double)(NETWORK_LINEAR_ZERO - byte) / NETWORK_LOGITS));
}

/* ---- checks ---- */

static bool has_right_stride(const struct network_layer *form) {
    return form->kind == NETWORK_UP ? form->stride == 2
                                    : form->stride == 1 || (has_window(form) && form->stride == 2);
}

static bool has_right_size(const struct network_layer *form) {
    switch (form->kind) {
    case NETWORK_DENSE:
        return form->size == 3;
    case NETWORK_DEPTH:
        return form->size % 2 == 1 && form->size >= 3 && form->size <= NETWORK_WINDOW_MAX;
    case NETWORK_UP:
    case NETWORK_POOL:
        return form->size == 2;
    case NETWORK_EXCITE:
        return form->size >= 1 && form->size <= NETWORK_CHANNELS_MAX;
    default:
        return form->size == 1;
    }
}

static int channels_of(const struct network *network, int layer) {
    return layer == NETWORK_PICTURE ? 3 : network->layer[layer].outputs;
}

static bool has_right_channels(const struct network *network, const struct network_layer *form) {
    bool keeps = form->kind == NETWORK_DEPTH || form->kind == NETWORK_POOL || form->kind == NETWORK_EXCITE;
    int made = form->kind == NETWORK_CONCAT ? form->outputs - channels_of(network, form->addend)
               : keeps                      ? form->outputs
                                            : form->inputs;
    return form->inputs == channels_of(network, form->input) && made == form->inputs && form->outputs >= 1 &&
           form->outputs <= NETWORK_CHANNELS_MAX;
}

/* Whether the zero points that a layer needs are known, and layers that compute nothing have no activation.
 */
static bool has_right_zero(const struct network *network, const struct network_layer *form) {
    const int zero = network_zero(network, form->input);
    switch (form->kind) {
    case NETWORK_DENSE:
    case NETWORK_DEPTH:
        return zero >= 0;
    case NETWORK_POOL:
        return form->activation == NETWORK_LINEAR;
    case NETWORK_CONCAT:
        return form->activation == NETWORK_LINEAR && zero >= 0 && zero == network_zero(network, form->addend);
    case NETWORK_EXCITE:
        return form->activation == NETWORK_LINEAR && zero >= 0;
    default:
        return true;
    }
}

static enum status check_input(const struct network *network, int layer, struct error *err) {
    const struct network_layer *form = &network->layer[layer];
    const bool appends = form->kind == NETWORK_CONCAT;
    if (form->input < NETWORK_PICTURE || form->input >= layer ||
        (appends && (form->addend < 0 || form->addend >= layer))) {
        return fail(err, ST_UNSUPPORTED, "layer %s reads no layer before it", form->name);
    }
    if (!has_right_channels(network, form)) {
        return fail(err, ST_UNSUPPORTED, "layer %s does not have the channels of its input", form->name);
    }
    if (!has_right_stride(form) || !has_right_size(form)) {
        return fail(err, ST_UNSUPPORTED, "layer %s has a wrong stride or size", form->name);
    }
    if (!has_right_zero(network, form)) {
        return fail(err, ST_UNSUPPORTED, "layer %s reads what has no zero, or another one", form->name);
    }
    int shift = network_shift(network, layer);
    return shift >= 0 && shift < 16 && network->unit % (1 << shift) == 0
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "layer %s does not halve all sides evenly", form->name);
}

/* The input that is enlarged has the sides of the other, or half of them. */
static bool fits_size(int shift, int other) {
    return shift == other || shift == other + 1;
}

static enum status check_addend(const struct network *network, int layer, struct error *err) {
    const struct network_layer *form = &network->layer[layer];
    const int shift = network_shift(network, layer);
    bool fits = true;
    if (form->kind == NETWORK_CONCAT) {
        fits = form->input >= 0 && fits_size(network_shift(network, form->input), shift);
    } else if (form->addend != NETWORK_NONE) {
        bool adds = form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH ||
                    form->kind == NETWORK_POINT || form->kind == NETWORK_EXCITE;
        fits = adds && form->addend >= 0 && form->addend < layer &&
               network->layer[form->addend].outputs == form->outputs &&
               (form->kind == NETWORK_EXCITE ? fits_size(network_shift(network, form->addend), shift)
                                             : network_shift(network, form->addend) == shift);
    }
    return fits ? ST_OK : fail(err, ST_UNSUPPORTED, "layer %s adds what does not fit", form->name);
}

/* The index of the output that a layer makes; the number of outputs: it makes none. */
static int output_of(const struct network *network, int layer) {
    int i = 0;
    while (i < network->outputs && network->output[i] != layer) {
        i++;
    }
    return i;
}

static bool is_read(const struct network *network, int layer) {
    for (int i = layer + 1; i < network->layers; i++) {
        if (network->layer[i].input == layer || network->layer[i].addend == layer) {
            return true;
        }
    }
    return false;
}

/* Heads have one result, maps have one channel. */
static enum status check_results(const struct network *network, struct error *err) {
    const bool map = network->sums == 0;
    if (network->sums > CANDIDATES_SUMS || network->outputs < 1 ||
        network->outputs > (map ? NETWORK_OUTPUTS_MAX : 1)) {
        return fail(err, ST_UNSUPPORTED, "a network has not %d results with %d sums", network->outputs,
                    network->sums);
    }
    for (int i = 0; i < network->layers; i++) {
        const struct network_layer *form = &network->layer[i];
        const int output = output_of(network, i);
        const bool result = output < network->outputs;
        const int channels = !result ? form->outputs
                             : map   ? network_cell_bytes(network, (unsigned)output)
                                     : network->sums;
        if ((result && is_read(network, i)) || (form->kind == NETWORK_HEADS) != (result && !map) ||
            form->outputs != channels) {
            return fail(err, ST_UNSUPPORTED,
                        "layer %s is in the wrong place, or has not the %d channels of a result", form->name,
                        channels);
        }
    }
    return ST_OK;
}

enum status network_check(const struct network *network, struct error *err) {
    if (network->layers < 2 || network->layers > NETWORK_LAYERS_MAX || network->unit < 1) {
        return fail(err, ST_UNSUPPORTED, "a network has 2 to %d layers", NETWORK_LAYERS_MAX);
    }
    enum status status = ST_OK;
    for (int i = 0; i < network->layers && status == ST_OK; i++) {
        status = check_input(network, i, err);
        status = status == ST_OK ? check_addend(network, i, err) : status;
    }
    return status == ST_OK ? check_results(network, err) : status;
}
