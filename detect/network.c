/* SPDX-License-Identifier: MIT */
#include "detect/network.h"

#include "detect/candidates.h"

size_t network_weights(const struct network_layer *layer) {
    static const uint8_t area[] = {
        [NETWORK_DENSE] = 9, [NETWORK_DEPTH] = 9, [NETWORK_POINT] = 1, [NETWORK_UP] = 4, [NETWORK_HEADS] = 1};
    return (size_t)area[layer->kind] * (size_t)layer->outputs *
           (layer->kind == NETWORK_DEPTH ? 1 : (size_t)layer->inputs);
}

static int halvings(const struct network_layer *layer) {
    return layer->stride != 2 ? 0 : layer->kind == NETWORK_UP ? -1 : 1;
}

int network_shift(const struct network *network, int layer) {
    int shift = 0;
    for (; layer != NETWORK_PICTURE; layer = network->layer[layer].input) {
        shift += halvings(&network->layer[layer]);
    }
    return shift;
}

static bool has_right_stride(const struct network_layer *form) {
    bool window = form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH;
    return form->kind == NETWORK_UP ? form->stride == 2 : form->stride == 1 || (window && form->stride == 2);
}

/* Whether 0 stands for 0 in what a window reads beyond the edges. */
static bool pads_well(const struct network *network, const struct network_layer *form) {
    bool window = form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH;
    return !window || form->input == NETWORK_PICTURE || network->layer[form->input].relu;
}

static enum status check_input(const struct network *network, int layer, struct error *err) {
    const struct network_layer *form = &network->layer[layer];
    if (form->input < NETWORK_PICTURE || form->input >= layer) {
        return fail(err, ST_UNSUPPORTED, "layer %s reads no layer before it", form->name);
    }
    int channels = form->input == NETWORK_PICTURE ? 3 : network->layer[form->input].outputs;
    if (form->inputs != channels || form->outputs < 1 ||
        (form->kind == NETWORK_DEPTH && form->outputs != form->inputs)) {
        return fail(err, ST_UNSUPPORTED, "layer %s does not have the channels of its input", form->name);
    }
    if (!has_right_stride(form) || !pads_well(network, form)) {
        return fail(err, ST_UNSUPPORTED, "layer %s has a wrong stride, or pads what has no zero", form->name);
    }
    int shift = network_shift(network, layer);
    return shift >= 0 && shift < 16 && network->unit % (1 << shift) == 0
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "layer %s does not halve all sides evenly", form->name);
}

static enum status check_addend(const struct network *network, int layer, struct error *err) {
    const struct network_layer *form = &network->layer[layer];
    if (form->addend == NETWORK_NONE) {
        return ST_OK;
    }
    bool fits = form->addend >= 0 && form->addend < layer && form->kind != NETWORK_UP &&
                form->kind != NETWORK_HEADS && network->layer[form->addend].outputs == form->outputs &&
                network_shift(network, form->addend) == network_shift(network, layer);
    return fits ? ST_OK : fail(err, ST_UNSUPPORTED, "layer %s adds what does not fit", form->name);
}

static enum status check_heads(const struct network *network, struct error *err) {
    const int last = network->layers - 1;
    for (int i = 0; i < network->layers; i++) {
        if ((network->layer[i].kind == NETWORK_HEADS) != (i == last)) {
            return fail(err, ST_UNSUPPORTED, "the last layer of a network, and no other, are the heads");
        }
    }
    bool fits = network->layer[last].outputs == network->sums && network->sums <= CANDIDATES_SUMS &&
                network->cell == 1 << network_shift(network, last);
    return fits ? ST_OK
                : fail(err, ST_UNSUPPORTED, "cells of %d pixels with %d sums are not what the heads make",
                       network->cell, network->sums);
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
    return status == ST_OK ? check_heads(network, err) : status;
}
