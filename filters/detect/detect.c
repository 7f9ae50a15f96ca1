/* SPDX-License-Identifier: MIT */
#include "filters/detect/detect.h"

#include "core/numbers.h"

static const struct argument detect_table[] = {
    {.name = "detect",
     .type = ARGUMENT_SET,
     .offset = offsetof(struct detect_arguments, wanted),
     .initial = 1,
     .choices = detector_choices,
     .help = "What to find: a name, or several separated by commas, such as `faces`."},
    {0},
};

/* 16 bits, since such planes are not padded to whole MCUs. */
struct image_shape detect_shape(void) {
    return (struct image_shape){
        .model = PIXEL_GRAY, .depth = 16, .width = sizeof(struct candidates) / sizeof(uint16_t), .height = 1};
}

static uint32_t padded(const struct detector *detector, uint32_t side) {
    const uint32_t unit = (uint32_t)detector->unit;
    return divide_up(side + 2 * (uint32_t)detector->border, unit) * unit;
}

/* Cells have coordinates of 16 bits. */
static bool is_possible(const struct detector *detector, const struct image_shape *shape) {
    const uint32_t most =
        (uint32_t)detector->cell * (UINT16_MAX + 1) - (uint32_t)(detector->unit + 2 * detector->border);
    return shape->width <= most && shape->height <= most;
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    const struct detect_arguments *detect = arguments;
    const struct detector *detector = detector_get(detect->detector);
    struct detect_plan *made = planned;
    if (!(detect->threshold >= 0 && detect->threshold <= 1)) {
        return fail(err, ST_ARGUMENT, "the threshold of detection must be from 0 to 1");
    }
    if (!is_possible(detector, shape)) {
        return fail(err, ST_ARGUMENT, "the picture is too large for detection");
    }
    *made = (struct detect_plan){.threshold = detect->threshold,
                                 .detector = detect->detector,
                                 .width = padded(detector, shape->width),
                                 .height = padded(detector, shape->height)};
    return ST_OK;
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    (void)arguments;
    (void)shape;
    return true;
}

static void result(const void *planned, struct image_shape *shape) {
    (void)planned;
    *shape = detect_shape();
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct detect_plan *made = planned;
    if (made->detector >= DETECTORS) {
        return false;
    }
    const struct detector *detector = detector_get(made->detector);
    return made->threshold >= 0 && made->threshold <= 1 && is_possible(detector, shape) &&
           made->width == padded(detector, shape->width) && made->height == padded(detector, shape->height);
}

static const struct filter_sample samples[] = {
#define DETECTOR(ID, name, thing, Title)                                                                     \
    {FILTER_SAMPLE_PLANES, &(const struct detect_arguments){.detector = DETECTOR_##ID}, false},
#include "detect/detectors.def"
#undef DETECTOR
    {.arguments = NULL},
};

const struct filter filter_detect = {
    .name = "detect",
    .help = "Finds faces, or what `detect` names.",
    .arguments = detect_table,
    .plan = plan,
    .planar = planar,
    .result = result,
    .answer = ANSWER_BOXES,
    .moves = true,
    .valid = valid,
    .samples = samples,
};
