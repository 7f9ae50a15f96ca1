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

static bool is_together(uint32_t wanted) {
    return wanted > 0 && wanted < UINT32_C(1) << DETECTORS &&
           (wanted & ~detectors_beside(detectors_first(wanted))) == 0;
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    const struct detect_arguments *detect = arguments;
    struct detect_plan *made = planned;
    if (detect->wanted == 0 || detect->wanted >> DETECTORS) {
        return fail(err, ST_ARGUMENT, "a search needs a detector");
    }
    const enum detector_id id = detectors_first(detect->wanted);
    const struct detector *first = detector_get(id);
    *made = (struct detect_plan){.wanted = detect->wanted & detectors_beside(id),
                                 .width = padded(first, shape->width),
                                 .height = padded(first, shape->height)};
    for (unsigned i = 0; i < DETECTORS; i++) {
        const double threshold = detect->threshold[i];
        if (!(made->wanted >> i & 1)) {
            continue;
        }
        if (!(threshold >= 0 && threshold <= 1)) {
            return fail(err, ST_ARGUMENT, "the threshold of detection must be from 0 to 1");
        }
        if (!is_possible(detector_get((enum detector_id)i), shape)) {
            return fail(err, ST_ARGUMENT, "the picture is too large for detection");
        }
        made->threshold[i] = threshold;
    }
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
    bool right = is_together(made->wanted);
    for (unsigned i = 0; i < DETECTORS && right; i++) {
        const bool searches = made->wanted >> i & 1;
        right = made->threshold[i] >= 0 && made->threshold[i] <= (searches ? 1 : 0) &&
                (!searches || is_possible(detector_get((enum detector_id)i), shape));
    }
    const struct detector *first = right ? detector_get(detectors_first(made->wanted)) : NULL;
    return right && made->width == padded(first, shape->width) &&
           made->height == padded(first, shape->height);
}

static const struct filter_sample samples[] = {
#define DETECTOR(ID, name, thing, Title)                                                                     \
    {FILTER_SAMPLE_PLANES, &(const struct detect_arguments){.wanted = 1u << DETECTOR_##ID}, false},
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
