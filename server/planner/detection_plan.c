/* SPDX-License-Identifier: MIT */
#include "server/planner/detection_plan.h"

#include "core/numbers.h"
#include "core/orient.h"

static uint32_t rounded_up(uint32_t side, uint32_t unit) {
    return min_u32(divide_up(side, unit) * unit, RESIZE_SIDE_MAX / unit * unit);
}

/* A side of the picture that is searched: a multiple of the detector's unit. Networks find more in a picture
 * that is stretched a little than in one with a border. */
static uint32_t searched_side(uint32_t side, uint32_t longest, int most, uint32_t unit) {
    if (most == DETECT_SIZE_FULL || longest <= (uint32_t)most) {
        return rounded_up(side, unit);
    }
    uint32_t fitted = (uint32_t)(((uint64_t)side * (uint32_t)most + longest / 2) / longest);
    return rounded_up(fitted > 0 ? fitted : 1, unit);
}

static void frame_of(struct boxes_frame *frame, const struct detector *detector,
                     const struct image_shape *upright, int size) {
    const uint32_t unit = (uint32_t)detector->unit;
    int most = size == 0 ? DETECT_SIZE_USUAL : size;
    uint32_t longest = upright->width > upright->height ? upright->width : upright->height;
    *frame = (struct boxes_frame){.searched_width = searched_side(upright->width, longest, most, unit),
                                  .searched_height = searched_side(upright->height, longest, most, unit),
                                  .width = upright->width,
                                  .height = upright->height};
}

/* Appends a step; *planar stays true while all take planes as stored. */
static enum status append(struct chain *chain, enum filter_id id, const void *arguments,
                          const struct image_shape *shape, bool *planar, struct error *err) {
    const struct filter *filter = filter_get(id);
    struct image_shape source = chain_result(chain, shape);
    *planar = *planar && filter->planar && filter->planar(arguments, &source);
    return chain_append(chain, filter, arguments, shape, err);
}

/* Every orientation is a turn, perhaps mirrored. */
static enum status append_turn(struct chain *chain, uint8_t orientation, const struct image_shape *shape,
                               bool *planar, struct error *err) {
    for (int angle = ROTATE_0; angle <= ROTATE_270; angle++) {
        for (int flip = ROTATE_UNFLIPPED; flip <= ROTATE_HORIZONTAL; flip++) {
            const struct rotate_arguments turn = {.angle = angle, .flip = flip};
            struct rotate_plan planned;
            filter_rotate.plan(&turn, shape, &planned, err);
            if (planned.orientation == orientation) {
                return append(chain, FILTER_ROTATE, &turn, shape, planar, err);
            }
        }
    }
    return ST_OK;
}

static enum status plan_chain(struct detection *detection, const struct parameters *parameters,
                              const struct image_shape *stored, uint8_t orientation, bool *planar,
                              struct error *err) {
    struct chain *chain = &detection->chain;
    struct boxes_frame *frame = &detection->frame;
    struct image_shape upright = orient_shape(stored, orientation);
    detection->detector = parameters_detector(parameters);
    const struct detector *detector = detector_get(detection->detector);
    frame_of(frame, detector, &upright, parameters->detect.size);
    const struct detect_arguments detect = {.detector = detection->detector,
                                            .threshold = parameters_given(parameters, "detect_threshold")
                                                             ? parameters->detect.threshold
                                                             : detector->threshold};
    const struct resize_arguments resize = {.width = (int)frame->searched_width,
                                            .height = (int)frame->searched_height,
                                            .fit = RESIZE_FILL,
                                            .kernel = RESIZE_LINEAR,
                                            .enlarge = true};
    enum status status = ST_OK;
    if (orient_turns(orientation)) {
        status = append_turn(chain, orientation, stored, planar, err);
    }
    bool same = frame->searched_width == upright.width && frame->searched_height == upright.height;
    if (status == ST_OK && !same) {
        status = append(chain, FILTER_RESIZE, &resize, stored, planar, err);
    }
    return status == ST_OK ? append(chain, FILTER_DETECT, &detect, stored, planar, err) : status;
}

enum status detection_plan(struct detection *detection, const struct parameters *parameters,
                           const struct image_shape *stored, uint8_t orientation, struct error *err) {
    struct error cause = {0};
    bool planar = true;
    *detection = (struct detection){.wanted = parameters_detect(parameters)};
    if (!detection->wanted ||
        plan_chain(detection, parameters, stored, orientation, &planar, &cause) == ST_OK) {
        return ST_OK;
    }
    return fail(err, ST_LIMIT, "%s cannot be searched for: %.200s", detector_get(detection->detector)->name,
                cause.text);
}

bool detection_takes_planes(const struct parameters *parameters, const struct image_shape *planes,
                            uint8_t orientation) {
    struct detection trial = {0};
    struct error ignored;
    bool planar = true;
    return plan_chain(&trial, parameters, planes, orientation, &planar, &ignored) == ST_OK && planar;
}

/* Each part is aligned like a picture. */
size_t detection_bytes(const struct detection *detection) {
    struct image_shape shape = detect_shape();
    struct image image;
    return detection->wanted ? image_layout(&image, &shape) +
                                   bytes_align_up(sizeof(struct detection_found), IMAGE_ALIGNMENT)
                             : 0;
}
