/* SPDX-License-Identifier: MIT
 * The file with the weights of a detector. The first byte says which detector's, and whether the checksum is
 * made right again. The rest is changes to a right file: a layer, an array, a place in it and a value. */
#include "detect/detectors.h"

#include <math.h>
#include <string.h>

#include "tests/filters/network_fixture.h"
#include "tests/fuzz/common/fuzz.h"

enum { CHANGES_MAX = 64, VALUE_SIZE = 4 };

static struct network_fixture fixtures[DETECTORS];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (detector_get(i)->network) {
            network_fixture_make(&fixtures[i], detector_get(i));
        }
    }
    return 0;
}

/* The next change: its place in the file; the value that was there goes to `before`. */
static size_t change(const struct network_fixture *fixture, struct bytes *input, uint8_t before[VALUE_SIZE]) {
    const int layers = fixture->detector->network->layers, layer = fuzz_byte(input) % (layers + 2);
    enum model_array array = fuzz_byte(input) % MODEL_ARRAYS;
    size_t offset = 4 * (size_t)fuzz_short(input);
    if (layer < layers) {
        offset += network_fixture_offset(fixture, layer, array);
    } else if (layer > layers) {
        offset = fixture->size - VALUE_SIZE - offset % MODEL_ALIGNMENT;
    }
    offset = offset < fixture->size - VALUE_SIZE ? offset : 0;
    memcpy(before, fixture->file + offset, VALUE_SIZE);
    for (size_t i = 0; i < VALUE_SIZE; i++) {
        fixture->file[offset + i] = fuzz_byte(input);
    }
    return offset;
}

/* The largest t of an output channel, and the largest sum. */
static void require_bounds(const struct network_layer *form, const struct model_layer *layer, int o) {
    size_t each = network_weights(form) / (size_t)form->outputs;
    double sum = fabs((double)layer->bias[o]);
    for (size_t i = 0; i < each; i++) {
        size_t at = (size_t)o * each + i;
        if (form->kind == NETWORK_DEPTH) {
            at = i * (size_t)form->outputs + (size_t)o;
        } else if (form->kind == NETWORK_UP) {
            size_t inputs = (size_t)form->inputs;
            at = (i / inputs * (size_t)form->outputs + (size_t)o) * inputs + i % inputs;
        }
        fuzz_require(layer->weights[at] >= -127, "weights are symmetric");
        sum += fabs((double)layer->weights[at]) * 255;
    }
    double t =
        sum * (double)layer->scale[o] + (double)layer->addend_scale * 255 + fabs((double)layer->offset);
    fuzz_require(layer->scale[o] > 0 && sum <= INT32_MAX && t < 1 << 30, "sums and results fit");
}

static void require_sound(const struct model_weights *weights) {
    for (int i = 0; i < weights->network->layers; i++) {
        const struct network_layer *form = &weights->network->layer[i];
        const struct model_layer *layer = &weights->layers[i];
        for (int o = 0; o < form->outputs && layer->weights; o++) {
            require_bounds(form, layer, o);
        }
        fuzz_require(isfinite(layer->addend_scale) && isfinite(layer->offset) && isfinite(layer->base) &&
                         (form->kind != NETWORK_EXCITE || (isfinite(layer->ratio) && layer->ratio > 0)),
                     "terms are numbers");
    }
}

/* A detector that has a network. */
static const struct network_fixture *choose(unsigned number) {
    number %= DETECTORS;
    return fixtures[number].file ? &fixtures[number] : &fixtures[DETECTOR_FACES];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    size_t offsets[CHANGES_MAX];
    uint8_t before[CHANGES_MAX][VALUE_SIZE];
    int count = 0;
    const uint8_t choice = fuzz_byte(&input);
    const struct network_fixture *fixture = choose(choice >> 1);
    while (input.size > 0 && count < CHANGES_MAX) {
        offsets[count] = change(fixture, &input, before[count]);
        count++;
    }
    if (choice & 1) {
        network_fixture_seal(fixture);
    }
    struct model_weights weights;
    struct error err = {0};
    if (model_parse(fixture->detector, (struct bytes){fixture->file, fixture->size}, &weights, &err) ==
        ST_OK) {
        require_sound(&weights);
    } else {
        fuzz_require(err.status == ST_CORRUPT && err.text[0], "it says what is wrong");
    }
    while (count-- > 0) {
        memcpy(fixture->file + offsets[count], before[count], VALUE_SIZE);
    }
    network_fixture_seal(fixture);
    return 0;
}
