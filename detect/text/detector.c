/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/text/text.h"

static const struct network_layer layers[TEXT_LAYERS] = {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation)                          \
    {#name, NETWORK_##kind, size, TEXT_##input, TEXT_##addend, inputs, outputs, stride, NETWORK_##activation},
#include "detect/text/network.def"
#undef LAYER
};

static const struct network network = {.layer = layers, .layers = TEXT_LAYERS, .unit = TEXT_UNIT, .cell = 1};

static const char *const classes[] = {"text", NULL};

/* Weights of PP-OCRv6: detect/fetch.sh says from where, with their hash. */
const struct detector detector_text = {
    .name = "text",
    .thing = "text",
    .classes = classes,
    .search = &cpu_search_network,
    .unit = TEXT_UNIT,
    .cell = 1,
    .threshold = 0.6,
    .grid = 16,
    .pixel_ns = TUNED_TEXT_PIXEL_NS,
    .gpu_pixel_ns = TUNED_GPU_TEXT_PIXEL_NS,
    .border = TEXT_BORDER,
    .network = &network,
    .option = "text-model",
    .magic = "blurdtx1",
    .file = "ppocr.text",
    .least = text_least,
    .find = text_find,
    .pixel_least = TEXT_PIXEL_LEAST,
};
