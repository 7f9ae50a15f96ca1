/* SPDX-License-Identifier: MIT */
#include "tests/filters/network_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

size_t network_fixture_offset(const struct network_fixture *fixture, int layer, enum network_array array) {
    const struct network *network = fixture->detector->network;
    size_t offset = MODEL_ALIGNMENT;
    for (int i = 0;; i++) {
        size_t outputs = (size_t)network->layer[i].outputs;
        const size_t size[] = {network_weights(&network->layer[i]), outputs * 4, outputs * 4, 8};
        for (int a = 0; a < 4; a++) {
            if (i == layer && a == (int)array) {
                return offset;
            }
            offset += bytes_align_up(size[a], MODEL_ALIGNMENT);
        }
    }
}

void network_fixture_seal(const struct network_fixture *fixture) {
    size_t body = fixture->size - MODEL_ALIGNMENT;
    uint32_t sum = (uint32_t)crc32(0, fixture->file, (unsigned)body);
    memcpy(fixture->file + body, &sum, sizeof sum);
}

static int zero_of(const struct network *network, int layer) {
    return layer == NETWORK_PICTURE || network->layer[layer].relu ? 0 : 128;
}

static void *array_of(const struct network_fixture *fixture, int layer, enum network_array array) {
    return fixture->file + network_fixture_offset(fixture, layer, array);
}

/* Biases so that sums are around 0 for inputs around the middle, scales so that they spread over the outputs.
 */
static void fill_layer(const struct network_fixture *fixture, int index, uint64_t *random) {
    const struct network *network = fixture->detector->network;
    const struct network_layer *form = &network->layer[index];
    int8_t *weights = array_of(fixture, index, NETWORK_ARRAY_WEIGHTS);
    float *scale = array_of(fixture, index, NETWORK_ARRAY_SCALES);
    int32_t *bias = array_of(fixture, index, NETWORK_ARRAY_BIASES);
    float *pair = array_of(fixture, index, NETWORK_ARRAY_PAIR);
    size_t count = network_weights(form), taps = count / (size_t)form->outputs;
    taps = form->kind == NETWORK_UP ? taps / 4 : taps;
    for (size_t i = 0; i < count; i++) {
        weights[i] = (int8_t)((int)(next(random) % 255) - 127);
    }
    for (int o = 0; o < form->outputs; o++) {
        scale[o] = (float)(60 / (sqrt((double)taps) * 7000)) * (1 + (float)(next(random) % 256) / 256);
        bias[o] = (int32_t)(next(random) % 20000) - 8000;
    }
    bool added = form->addend != NETWORK_NONE;
    pair[0] = added ? 0.625f : 0;
    pair[1] = form->kind == NETWORK_HEADS ? 0
                                          : (float)zero_of(network, index) -
                                                (added ? (float)zero_of(network, form->addend) * pair[0] : 0);
}

void network_fixture_make(struct network_fixture *fixture, const struct detector *detector) {
    struct error err = {0};
    uint64_t random = 20;
    fixture->detector = detector;
    fixture->size = model_size(detector->network);
    fixture->file = aligned_alloc(MODEL_ALIGNMENT, fixture->size);
    if (fixture->file) {
        memset(fixture->file, 0, fixture->size);
        memcpy(fixture->file, detector->magic, DETECTOR_MAGIC);
        for (int i = 0; i < detector->network->layers; i++) {
            fill_layer(fixture, i, &random);
        }
        network_fixture_seal(fixture);
    }
    if (!fixture->file || model_parse(detector, (struct bytes){fixture->file, fixture->size},
                                      &fixture->weights, &err) != ST_OK) {
        fprintf(stderr, "the model for tests is wrong: %s\n", err.text);
        exit(2);
    }
}

void network_fixture_free(struct network_fixture *fixture) {
    free(fixture->file);
}

void network_fixture_paint(uint8_t *rgb, size_t size) {
    uint64_t random = 28;
    for (size_t i = 0; i < size; i++) {
        rgb[i] = (uint8_t)next(&random);
    }
}
