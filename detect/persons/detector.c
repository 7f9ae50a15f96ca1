/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/persons/persons.h"

static const struct network_layer layers[PERSON_LAYERS] = {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation)                          \
    {#name,  NETWORK_##kind, size,   PERSON_##input,      PERSON_##addend,                                   \
     inputs, outputs,        stride, NETWORK_##activation},
#include "detect/persons/network.def"
#undef LAYER
};

static const struct network network = {.layer = layers,
                                       .layers = PERSON_LAYERS,
                                       .unit = PERSON_UNIT,
                                       .outputs = 2,
                                       .output = {PERSON_cells16, PERSON_cells32},
                                       .anchors = {PERSON_FEW_ANCHORS, PERSON_MORE_ANCHORS}};

static const char *const classes[] = {"person", NULL};

/* Weights of SSDLite: detect/fetch.sh says from where, with their hash. */
const struct detector detector_persons = {
    .name = "persons",
    .thing = "person",
    .classes = classes,
    .search = &cpu_search_network,
    .unit = PERSON_UNIT,
    .cell = PERSON_CELL,
    .threshold = 0.3,
    .margin = 10,
    .longest = 1280,
    .halved_from = 160,
    .tries = DETECTOR_TRIES_SIZES,
    .grid = 1,
    .pixel_ns = TUNED_PERSONS_PIXEL_NS,
    .gpu_pixel_ns = TUNED_GPU_PERSONS_PIXEL_NS,
    .network = &network,
    .option = "person-model",
    .magic = "blurdps1",
    .file = "ssdlite.persons",
    .least = persons_least,
    .find = persons_find,
};
