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

size_t network_fixture_offset(const struct network_fixture *fixture, int layer, enum model_array array) {
    const struct network *network = fixture->detector->network;
    size_t offset = MODEL_ALIGNMENT;
    for (int i = 0; i <= layer; i++) {
        for (int a = 0; a < (i == layer ? (int)array : MODEL_ARRAYS); a++) {
            offset +=
                bytes_align_up(model_array_bytes(&network->layer[i], (enum model_array)a), MODEL_ALIGNMENT);
        }
    }
    return offset;
}

void network_fixture_seal(const struct network_fixture *fixture) {
    size_t body = fixture->size - MODEL_ALIGNMENT;
    uint32_t sum = (uint32_t)crc32(0, fixture->file, (unsigned)body);
    memcpy(fixture->file + body, &sum, sizeof sum);
}

/* What stands for 0 in a layer's output; after a table, some byte. */
static float zero_of(const struct network *network, int layer) {
    const int zero = network_zero(network, layer);
    return zero >= 0 ? (float)zero : 100;
}

static void *array_of(const struct network_fixture *fixture, int layer, enum model_array array) {
    return fixture->file + network_fixture_offset(fixture, layer, array);
}

static float unit(uint64_t *random) {
    return (float)(next(random) % 256) / 256;
}

/* Biases so that sums are around 0 for inputs around the middle, scales so that they spread over the outputs.
 */
static void fill_weighted(const struct network_fixture *fixture, int index, uint64_t *random) {
    const struct network_layer *form = &fixture->detector->network->layer[index];
    int8_t *weights = array_of(fixture, index, MODEL_WEIGHTS);
    float *scale = array_of(fixture, index, MODEL_SCALES);
    int32_t *bias = array_of(fixture, index, MODEL_BIASES);
    size_t count = network_weights(form), taps = count / (size_t)form->outputs;
    taps = form->kind == NETWORK_UP ? taps / 4 : taps;
    for (size_t i = 0; i < count; i++) {
        weights[i] = (int8_t)((int)(next(random) % 255) - 127);
    }
    for (int o = 0; o < form->outputs; o++) {
        scale[o] = (float)(60 / (sqrt((double)taps) * 7000)) * (1 + unit(random));
        bias[o] = (int32_t)(next(random) % 20000) - 8000;
    }
}

static void fill_floats(const struct network_fixture *fixture, int index, enum model_array array, float most,
                        uint64_t *random) {
    float *value = array_of(fixture, index, array);
    const size_t bytes = model_array_bytes(&fixture->detector->network->layer[index], array);
    for (size_t i = 0; i < bytes / sizeof *value; i++) {
        value[i] = (2 * unit(random) - 1) * most;
    }
}

/* Gates so that some are 0, some 1, and most between. */
static void fill_excite(const struct network_fixture *fixture, int index, uint64_t *random) {
    fill_floats(fixture, index, MODEL_REDUCE, 0.02f, random);
    fill_floats(fixture, index, MODEL_REDUCE_BIAS, 0.5f, random);
    fill_floats(fixture, index, MODEL_EXPAND, 0.5f, random);
    fill_floats(fixture, index, MODEL_EXPAND_BIAS, 1, random);
    float *terms = array_of(fixture, index, MODEL_TERMS);
    terms[2] = 1.375f, terms[3] = index % 2 ? 0 : 1;
}

static void fill_layer(const struct network_fixture *fixture, int index, uint64_t *random) {
    const struct network *network = fixture->detector->network;
    const struct network_layer *form = &network->layer[index];
    if (network_weights(form) > 0) {
        fill_weighted(fixture, index, random);
    } else if (form->kind == NETWORK_EXCITE) {
        fill_excite(fixture, index, random);
    }
    if (model_array_bytes(form, MODEL_TABLE) > 0) {
        uint8_t *table = array_of(fixture, index, MODEL_TABLE);
        for (int i = 0; i < NETWORK_TABLE_SIZE; i++) {
            table[i] = (uint8_t)next(random);
        }
    }
    if (model_array_bytes(form, MODEL_TERMS) > 0 && form->kind != NETWORK_HEADS) {
        float *terms = array_of(fixture, index, MODEL_TERMS);
        bool added = form->addend != NETWORK_NONE;
        terms[0] = added ? 0.625f : 0;
        terms[1] = zero_of(network, index) - (added ? zero_of(network, form->addend) * terms[0] : 0);
    }
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
