/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/faces/faces.h"

static const struct network_layer layers[FACE_LAYERS] = {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation)                          \
    {#name, NETWORK_##kind, size, FACE_##input, FACE_##addend, inputs, outputs, stride, NETWORK_##activation},
#include "detect/faces/network.def"
#undef LAYER
};

static const struct network network = {.layer = layers,
                                       .layers = FACE_LAYERS,
                                       .unit = FACE_UNIT,
                                       .sums = FACE_SUMS,
                                       .outputs = 1,
                                       .output = {FACE_heads}};

static const char *const classes[] = {"face", NULL};

/* Weights of CenterFace: detect/fetch.sh says from where, with its hash. */
const struct detector detector_faces = {
    .name = "faces",
    .thing = "face",
    .classes = classes,
    .landmarks = FACE_LANDMARKS,
    .search = &cpu_search_network,
    .unit = FACE_UNIT,
    .cell = FACE_CELL,
    .threshold = 0.3,
    .margin = 20,
    .longest = 1920,
    .round = true,
    .tries = DETECTOR_TRIES_ALL,
    .grid = 1,
    .pixel_ns = TUNED_FACES_PIXEL_NS,
    .gpu_pixel_ns = TUNED_GPU_FACES_PIXEL_NS,
    .network = &network,
    .option = "face-model",
    .magic = "blurdfc1",
    .file = "centerface.face",
    .least = faces_least,
    .find = faces_find,
};
