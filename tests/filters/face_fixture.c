/* SPDX-License-Identifier: MIT */
#include "tests/filters/face_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

size_t face_fixture_offset(int layer, enum face_array array) {
    size_t offset = FACE_MODEL_ALIGNMENT;
    for (int i = 0;; i++) {
        size_t outputs = (size_t)face_network[i].outputs;
        const size_t size[] = {network_weights(&face_network[i]), outputs * 4, outputs * 4, 8};
        for (int a = 0; a < 4; a++) {
            if (i == layer && a == (int)array) {
                return offset;
            }
            offset += bytes_align_up(size[a], FACE_MODEL_ALIGNMENT);
        }
    }
}

void face_fixture_seal(uint8_t *file) {
    size_t body = face_weights_size() - FACE_MODEL_ALIGNMENT;
    uint32_t sum = (uint32_t)crc32(0, file, (unsigned)body);
    memcpy(file + body, &sum, sizeof sum);
}

static int zero_of(int layer) {
    return layer == FACE_picture || face_network[layer].relu ? 0 : 128;
}

/* Biases so that sums are around 0 for inputs around the middle, scales so that they spread over the outputs.
 */
static void fill_layer(int index, uint8_t *file, uint64_t *random) {
    const struct face_network_layer *form = &face_network[index];
    int8_t *weights = (int8_t *)file + face_fixture_offset(index, FACE_ARRAY_WEIGHTS);
    float *scale = (void *)(file + face_fixture_offset(index, FACE_ARRAY_SCALES));
    int32_t *bias = (void *)(file + face_fixture_offset(index, FACE_ARRAY_BIASES));
    float *pair = (void *)(file + face_fixture_offset(index, FACE_ARRAY_PAIR));
    size_t count = network_weights(form), taps = count / (size_t)form->outputs;
    taps = form->kind == FACE_UP ? taps / 4 : taps;
    for (size_t i = 0; i < count; i++) {
        weights[i] = (int8_t)((int)(next(random) % 255) - 127);
    }
    for (int o = 0; o < form->outputs; o++) {
        scale[o] = (float)(60 / (sqrt((double)taps) * 7000)) * (1 + (float)(next(random) % 256) / 256);
        bias[o] = (int32_t)(next(random) % 20000) - 8000;
    }
    bool added = form->addend != FACE_none;
    pair[0] = added ? 0.625f : 0;
    pair[1] = form->kind == FACE_HEADS
                  ? 0
                  : (float)zero_of(index) - (added ? (float)zero_of(form->addend) * pair[0] : 0);
}

void face_fixture_make(struct face_fixture *fixture) {
    struct error err = {0};
    size_t size = face_weights_size();
    uint64_t random = 20;
    fixture->file = aligned_alloc(FACE_MODEL_ALIGNMENT, size);
    if (fixture->file) {
        memset(fixture->file, 0, size);
        memcpy(fixture->file, "blurdfc1", 8);
        for (int i = 0; i < FACE_LAYERS; i++) {
            fill_layer(i, fixture->file, &random);
        }
        face_fixture_seal(fixture->file);
    }
    if (!fixture->file ||
        face_weights_parse((struct bytes){fixture->file, size}, &fixture->weights, &err) != ST_OK) {
        fprintf(stderr, "the model for tests is wrong: %s\n", err.text);
        exit(2);
    }
}

void face_fixture_free(struct face_fixture *fixture) {
    free(fixture->file);
}

void face_fixture_paint(uint8_t *rgb, size_t size) {
    uint64_t random = 28;
    for (size_t i = 0; i < size; i++) {
        rgb[i] = (uint8_t)next(&random);
    }
}
