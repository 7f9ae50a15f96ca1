/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/text/text.h"

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
    .shared_ns = TUNED_TEXT_BODY_PIXEL_NS,
    .gpu_shared_ns = TUNED_GPU_TEXT_BODY_PIXEL_NS,
    .border = TEXT_BORDER,
    .network = &text_network,
    .output = TEXT_OUTPUT_LINES,
    .option = "text-model",
    .magic = "blurdtx2",
    .file = "ppocr.text",
    .least = text_least,
    .find = text_find,
    .pixel_least = TEXT_PIXEL_LEAST,
};
