/* SPDX-License-Identifier: MIT */
#include "core/tuned.h"
#include "detect/codes/codes.h"

static const char *const classes[] = {"code", NULL};

const struct detector detector_codes = {
    .name = "codes",
    .thing = "code",
    .classes = classes,
    .search = &cpu_search_codes,
    .unit = 1,
    .cell = 1,
    .threshold = 0.5,
    .margin = 10,
    .grid = 1,
    .pixel_ns = TUNED_CODES_PIXEL_NS,
    .find = codes_find,
    .reads = true,
    .file = "libblurd-zxing.so",
};
