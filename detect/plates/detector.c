/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/plates/plates.h"
#include "detect/text/text_network.h"

static const char *const classes[] = {"plate", NULL};

/* A head behind the network of text, in the same model file. */
const struct detector detector_plates = {
    .name = "plates",
    .thing = "plate",
    .classes = classes,
    .search = &cpu_search_network,
    .unit = TEXT_UNIT,
    .cell = PLATES_CELL,
    .threshold = 0.5,
    .margin = 20,
    .tries = DETECTOR_TRIES_SIZES,
    .grid = 8,
    .pixel_ns = TUNED_PLATES_PIXEL_NS,
    .gpu_pixel_ns = TUNED_GPU_PLATES_PIXEL_NS,
    .shared_ns = TUNED_TEXT_BODY_PIXEL_NS,
    .gpu_shared_ns = TUNED_GPU_TEXT_BODY_PIXEL_NS,
    .border = TEXT_BORDER,
    .network = &text_network,
    .output = TEXT_OUTPUT_PLATES,
    .option = "text-model",
    .magic = "blurdtx2",
    .file = "ppocr.text",
    .least = plates_least,
    .find = plates_find,
    .pixel_least = PLATES_PIXEL_LEAST,
};
