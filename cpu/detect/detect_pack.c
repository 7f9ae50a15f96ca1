/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_pack.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/image.h"
#include "core/numbers.h"
#include "cpu/detect/detect_tensors.h"

/* A layer on its way, and where the next arrays go. */
struct detect_packing {
    const struct network_layer *form;
    const struct model_layer *from;
    const struct detect_format *format;
    struct detect_packed *to;
    unsigned half;   /* of a NETWORK_UP layer */
    uint8_t *memory; /* NULL: sizes are computed */
    size_t used;
};

static size_t weight_bytes(const struct detect_format *format) {
    return format->words ? sizeof(int16_t) : sizeof(int8_t);
}

static void *take(struct detect_packing *packing, size_t bytes) {
    uint8_t *taken = packing->memory ? packing->memory + packing->used : NULL;
    packing->used += bytes_align_up(bytes, IMAGE_ALIGNMENT);
    return taken;
}

static void put_weight(const struct detect_format *format, void *weights, size_t place, int value) {
    if (format->words) {
        ((int16_t *)weights)[place] = (int16_t)value;
    } else {
        ((int8_t *)weights)[place] = (int8_t)value;
    }
}

/* Channel of an element of a group (cpu/detect/detect_kernels.h). */
static unsigned channel_of(const struct detect_packed *layer, unsigned vectors, unsigned v, unsigned lane) {
    return layer->half ? 2 * layer->outputs / 3 * v + lane : 4 * vectors * (lane / 4) + 4 * v + lane % 4;
}

/* The channel of the model's layer that makes an output. */
static unsigned output_of(const struct detect_packing *packing, unsigned channel) {
    return channel % (unsigned)packing->form->outputs;
}

/* ---- layers that sum over all inputs ---- */

/* With tiles: equal parts, each of whole units. */
static unsigned segment_bytes(const struct detect_format *format, unsigned inputs) {
    const unsigned parts = format->tiles ? (unsigned)divide_up(inputs, DETECT_PART) : 1;
    return (unsigned)bytes_align_up(inputs, (size_t)4 * parts);
}

static void shape_dense(struct detect_packing *packing) {
    const struct network_layer *form = packing->form;
    struct detect_packed *to = packing->to;
    const bool wide = form->kind == NETWORK_DENSE;
    to->segments = wide ? 3 : 1;
    to->segment = segment_bytes(packing->format, (unsigned)form->inputs * (wide ? 3 : 1));
    to->outputs = (unsigned)form->outputs * (form->kind == NETWORK_UP ? 2 : 1);
    to->vectors = form->kind == NETWORK_HEADS ? DETECT_SUMS / packing->format->lanes
                                              : divide_up(to->outputs, packing->format->lanes);
    to->half = packing->format->halves && 2 * to->outputs == 3 * packing->format->lanes;
    to->groups = form->kind == NETWORK_HEADS ? to->vectors : (to->vectors + DETECT_GROUP - 1) / DETECT_GROUP;
}

/* The weight of an output for byte k of segment s. */
static int dense_weight(const struct detect_packing *packing, unsigned channel, unsigned s, unsigned k) {
    const struct network_layer *form = packing->form;
    const unsigned inputs = (unsigned)form->inputs, outputs = (unsigned)form->outputs;
    const unsigned output = output_of(packing, channel);
    if (form->kind == NETWORK_DENSE) {
        return k < 3 * inputs ? packing->from->weights[(output * 3 + s) * 3 * inputs + k] : 0;
    }
    unsigned block = form->kind == NETWORK_UP ? 2 * packing->half + channel / outputs : 0;
    return k < inputs ? packing->from->weights[(block * outputs + output) * inputs + k] : 0;
}

/* Weights of a vector for the inputs of a unit. */
static void pack_unit(const struct detect_packing *packing, uint8_t *weights, const unsigned channels[],
                      unsigned s, unsigned k) {
    const struct detect_format *format = packing->format;
    for (unsigned lane = 0; lane < format->lanes; lane++) {
        for (unsigned u = 0; u < format->unit; u++) {
            bool real = channels[lane] < packing->to->outputs;
            int value = real ? dense_weight(packing, channels[lane], s, k + u) : 0;
            size_t place = format->split ? u * format->lanes + lane : lane * format->unit + u;
            put_weight(format, weights, place, value);
        }
    }
}

static void pack_group(const struct detect_packing *packing, uint8_t *weights, unsigned first,
                       unsigned vectors) {
    const struct detect_format *format = packing->format;
    const size_t unit = (size_t)format->lanes * format->unit * weight_bytes(format);
    for (unsigned v = 0; v < vectors; v++) {
        unsigned channels[16];
        for (unsigned lane = 0; lane < format->lanes; lane++) {
            channels[lane] = first + channel_of(packing->to, vectors, v, lane);
        }
        uint8_t *to = weights + v * unit;
        for (unsigned s = 0; s < packing->to->segments; s++) {
            for (unsigned k = 0; k < packing->to->segment; k += format->unit) {
                pack_unit(packing, to, channels, s, k);
                to += vectors * unit;
            }
        }
    }
}

/* Biases and scales of the vectors of a group. */
static void pack_finish(const struct detect_packing *packing, int32_t *bias, float *scale, unsigned first,
                        unsigned vectors, unsigned lanes) {
    for (unsigned i = 0; i < vectors * lanes; i++) {
        unsigned channel = first + channel_of(packing->to, vectors, i / lanes, i % lanes);
        bool real = channel < packing->to->outputs;
        bias[first + i] = real ? packing->from->bias[output_of(packing, channel)] : 0;
        scale[first + i] = real ? packing->from->scale[output_of(packing, channel)] : 0;
    }
}

static void pack_dense(struct detect_packing *packing) {
    struct detect_packed *to = packing->to;
    const unsigned lanes = packing->format->lanes;
    const size_t inputs = (size_t)to->segments * to->segment;
    const size_t channels = (size_t)to->vectors * lanes;
    uint8_t *weights = take(packing, inputs * channels * weight_bytes(packing->format));
    int32_t *bias = take(packing, channels * sizeof *bias);
    float *scale = take(packing, channels * sizeof *scale);
    for (unsigned g = 0, first = 0; g < to->groups && weights; g++) {
        unsigned vectors = to->vectors / to->groups + (g < to->vectors % to->groups);
        pack_group(packing, weights + first * inputs * weight_bytes(packing->format), first, vectors);
        pack_finish(packing, bias, scale, first, vectors, lanes);
        first += vectors * lanes;
    }
    to->weights = weights;
    to->bias = bias;
    to->scale = scale;
}

/* ---- depthwise layers ---- */

static int depth_weight(const struct detect_packing *packing, unsigned y, unsigned x, unsigned channel) {
    const unsigned size = packing->to->size;
    return y < size && x < size ? packing->from->weights[(y * size + x) * packing->to->outputs + channel] : 0;
}

/* For each column, fours of its taps for each channel, zeros behind the last one, in four vectors. */
static void pack_columns(const struct detect_packing *packing, int8_t *weights, unsigned first,
                         unsigned channels) {
    const unsigned size = packing->to->size, fours = (size + 3) / 4;
    for (unsigned i = 0; i < size * fours * 4 * channels; i++) {
        unsigned x = i / (4 * channels) / fours, y = i / (4 * channels) % fours * 4 + i % 4;
        unsigned lane = i / 4 % (channels / 4), v = i / channels % 4;
        weights[i] = (int8_t)depth_weight(packing, y, x, first + channel_of(packing->to, 4, v, lane));
    }
}

/* Pairs of taps for each channel, in two vectors. */
static void pack_pairs(const struct detect_packing *packing, int16_t *weights, unsigned first) {
    const struct detect_format *format = packing->format;
    const unsigned lanes = format->lanes, size = packing->to->size;
    for (unsigned i = 0; i < (size * size + 1) * format->chunk; i++) {
        unsigned within = i % (2 * lanes), v = i / (2 * lanes) % 2, pair = i / (4 * lanes);
        unsigned lane = format->split ? within % lanes : within / 2;
        unsigned tap = 2 * pair + (format->split ? within / lanes : within % 2);
        weights[i] = (int16_t)depth_weight(packing, tap / size, tap % size,
                                           first + channel_of(packing->to, 2, v, lane));
    }
}

static unsigned chunk_channels(const struct detect_format *format, unsigned left) {
    unsigned channels = format->chunk;
    while (channels > left) {
        channels /= 2;
    }
    return channels;
}

static void pack_depth(struct detect_packing *packing) {
    struct detect_packed *to = packing->to;
    const struct detect_format *format = packing->format;
    to->outputs = (unsigned)packing->form->outputs;
    to->size = (unsigned)packing->form->size;
    const unsigned taps = format->words ? to->size * to->size + 1 : to->size * ((to->size + 3) / 4 * 4);
    uint8_t *weights = take(packing, taps * to->outputs * weight_bytes(format));
    int32_t *bias = take(packing, to->outputs * sizeof *bias);
    float *scale = take(packing, to->outputs * sizeof *scale);
    for (unsigned first = 0, channels; first < to->outputs && weights; first += channels) {
        channels = chunk_channels(format, to->outputs - first);
        uint8_t *chunk = weights + (size_t)taps * first * weight_bytes(format);
        if (format->words) {
            pack_pairs(packing, (int16_t *)(void *)chunk, first);
        } else {
            pack_columns(packing, (int8_t *)chunk, first, channels);
        }
        unsigned vectors = format->words ? 2 : 4;
        pack_finish(packing, bias, scale, first, vectors, channels / vectors);
    }
    to->weights = weights;
    to->bias = bias;
    to->scale = scale;
}

/* ---- the network ---- */

static void pack_layer(struct detect_packing *packing) {
    struct detect_packed *to = packing->to;
    to->relu = packing->form->activation == NETWORK_RELU;
    to->added = packing->form->addend != NETWORK_NONE;
    if (packing->from) {
        to->addend_scale = packing->from->addend_scale;
        to->offset = packing->from->offset;
    }
    to->plain = to->relu && !to->added && to->offset == 0;
    if (packing->form->kind == NETWORK_DEPTH) {
        pack_depth(packing);
    } else if (network_weights(packing->form) > 0) {
        shape_dense(packing);
        pack_dense(packing);
    }
}

/* Lays all arrays over the network's memory (NULL: only counts); returns the bytes. */
static size_t pack_all(const struct model_weights *weights, const struct detect_format *format,
                       struct detect_network *network) {
    struct detect_packing packing = {.format = format, .memory = network->memory};
    for (int i = 0; i < network->form->layers; i++) {
        packing.form = &network->form->layer[i];
        packing.from = weights ? &weights->layers[i] : NULL;
        for (packing.half = 0; packing.half < (packing.form->kind == NETWORK_UP ? 2 : 1); packing.half++) {
            packing.to = &network->layer[i][packing.half];
            pack_layer(&packing);
        }
    }
    return packing.used;
}

size_t detect_pack_bytes(const struct network *form, const struct detect_format *format) {
    struct detect_network network = {.form = form};
    return sizeof network + pack_all(NULL, format, &network);
}

static enum status check(const struct model_weights *weights, struct error *err) {
    const struct network *form = weights->network;
    enum status status = network_check(form, err);
    return status == ST_OK ? detect_tensors_check(form, err) : status;
}

enum status detect_pack(const struct model_weights *weights, const struct detect_kernels *kernels,
                        struct detect_network **network, struct error *err) {
    *network = NULL;
    enum status status = check(weights, err);
    if (status != ST_OK) {
        return status;
    }
    struct detect_network *made = calloc(1, sizeof *made);
    if (made) {
        made->form = weights->network;
        made->weights = weights;
        made->kernels = kernels;
        made->size = pack_all(weights, &kernels->format, made);
        made->memory = aligned_alloc(IMAGE_ALIGNMENT, made->size);
    }
    if (!made || !made->memory) {
        detect_pack_free(made);
        return fail(err, ST_BUSY, "no memory for a model now");
    }
    pack_all(weights, &kernels->format, made);
    *network = made;
    return ST_OK;
}

void detect_pack_free(struct detect_network *network) {
    if (network) {
        free(network->memory);
        free(network);
    }
}
