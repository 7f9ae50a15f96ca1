/* SPDX-License-Identifier: MIT */
#include "server/picture/detection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"
#include "core/orient.h"
#include "core/slot.h"
#include "filters/argument/region_entry.h"
#include "server/outcome.h"

static uint32_t rounded_up(uint32_t side, uint32_t unit) {
    return min_u32(divide_up(side, unit) * unit, RESIZE_SIDE_MAX / unit * unit);
}

/* A side of the picture that is searched: a multiple of the detector's unit. Networks find more in a picture
 * that is stretched a little than in one with a border. */
static uint32_t seen(uint32_t side, uint32_t longest, int most, uint32_t unit) {
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
    *frame = (struct boxes_frame){.searched_width = seen(upright->width, longest, most, unit),
                                  .searched_height = seen(upright->height, longest, most, unit),
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

static size_t result_bytes(void) {
    struct image_shape shape = detect_shape();
    struct image image;
    return image_layout(&image, &shape);
}

/* Each part is aligned like a picture. */
size_t detection_bytes(const struct detection *detection) {
    return detection->wanted
               ? result_bytes() + bytes_align_up(sizeof(struct detection_found), IMAGE_ALIGNMENT)
               : 0;
}

enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err) {
    struct image_shape shape = detect_shape();
    uint8_t *memory = slot_take(pictures, result_bytes(), err);
    uint8_t *found = memory ? slot_take(own, sizeof *detection->found, err) : NULL;
    if (!found) {
        return err->status;
    }
    image_layout(&detection->result, &shape);
    image_place(&detection->result, memory);
    detection->found = (struct detection_found *)(void *)found;
    return ST_OK;
}

/* A hundredth of a pixel is all that is told, so that regions made of an answer are those of the search. */
static double rounded(double place) {
    return nearbyint(place * 100) / 100;
}

static void round_boxes(struct boxes *boxes) {
    for (unsigned i = 0; i < boxes->count; i++) {
        struct box *box = &boxes->box[i];
        box->x = rounded(box->x);
        box->y = rounded(box->y);
        box->width = fmax(rounded(box->width), 0.01);
        box->height = fmax(rounded(box->height), 0.01);
    }
}

/* An engine may still change the result. A count above the maximum stays, and is refused later. */
static struct candidates *copy_candidates(const struct detection *detection) {
    const struct candidates *made = (const struct candidates *)(const void *)detection->result.plane[0].data;
    struct candidates *copy = &detection->found->candidates;
    uint32_t count = *(const volatile uint32_t *)&made->count; /* read once */
    copy->count = count;
    count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
    memcpy(copy->candidate, made->candidate, count * sizeof copy->candidate[0]);
    return copy;
}

enum status detection_read(struct detection *detection, struct model *const *models, struct error *err) {
    struct boxes *boxes = &detection->found->boxes;
    const struct detector *detector = detector_get(detection->detector);
    const struct model_weights *weights = NULL;
    enum status status = detector->network ? model_read(models[detection->detector], &weights, err) : ST_OK;
    if (status == ST_OK) {
        status = detector->find(weights, copy_candidates(detection), &detection->frame, boxes, err);
    }
    if (status == ST_OK) {
        round_boxes(boxes);
    }
    return status;
}

enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err) {
    bool ellipse = parameters->detect.shape == DETECT_ELLIPSE;
    enum status status = ST_OK;
    if (!set->room) {
        region_lend(set, &detection->found->room);
    }
    for (unsigned i = 0; i < detection->found->boxes.count && status == ST_OK; i++) {
        const struct box *box = &detection->found->boxes.box[i];
        const struct region region = {.form = ellipse ? REGION_ELLIPSE : REGION_RECTANGLE,
                                      .count = 4,
                                      .source = REGION_FOUND,
                                      .unit = REGION_PX,
                                      .entry = (uint16_t)(i + 1)};
        double number[4] = {box->x, box->y, box->width, box->height};
        region_entry_grow(number, parameters->detect.margin);
        status = region_add(set, &region, number, err);
    }
    return status;
}

static enum status write_box(const struct box *box, unsigned landmarks, double margin, bool first,
                             struct buf *body, struct error *err) {
    double number[4] = {box->x, box->y, box->width, box->height};
    region_entry_grow(number, margin);
    enum status status = buf_printf(
        body, err, "%s\n{\"x\":%.2f,\"y\":%.2f,\"width\":%.2f,\"height\":%.2f,\"score\":%.4f,\"landmarks\":[",
        first ? "" : ",", number[0], number[1], number[2], number[3], box->score);
    for (unsigned i = 0; i < landmarks && status == ST_OK; i++) {
        status =
            buf_printf(body, err, "%s[%.2f,%.2f]", i ? "," : "", box->landmarks[i][0], box->landmarks[i][1]);
    }
    return status == ST_OK ? buf_printf(body, err, "]}") : status;
}

enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err) {
    const struct detector *detector = detector_get(detection->detector);
    const struct boxes *boxes = &detection->found->boxes;
    double margin = parameters_given(parameters, "detect_margin") ? parameters->detect.margin : 0;
    enum status status = buf_printf(body, err, "{\"width\":%u,\"height\":%u,\"%s\":[", detection->frame.width,
                                    detection->frame.height, detector->name);
    for (unsigned i = 0; i < boxes->count && status == ST_OK; i++) {
        status = write_box(&boxes->box[i], detector->landmarks, margin, i == 0, body, err);
    }
    return status == ST_OK ? buf_printf(body, err, "]}\n") : status;
}

void detection_report(const struct detection *detection, char text[DETECTION_REPORT_MAX]) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < detection->found->boxes.count; i++) {
        const struct box *box = &detection->found->boxes.box[i];
        char one[128];
        int length = snprintf(one, sizeof one, "%s%.1f,%.1f,%.1f,%.1f,%.3f", i ? "; " : "", box->x, box->y,
                              box->width, box->height, box->score);
        if (length < 0 || used + (size_t)length >= DETECTION_REPORT_MAX) {
            return;
        }
        snprintf(text + used, DETECTION_REPORT_MAX - used, "%s", one);
        used += (size_t)length;
    }
}

/* A list of the boxes that is too large for memory is left out. */
void detection_note(const struct detection *detection, const struct parameters *parameters,
                    struct outcome *outcome) {
    outcome->searched = true;
    outcome->detector = detection->detector;
    outcome->found = detection->found->boxes.count;
    if (parameters->detect.report && outcome->found > 0) {
        outcome->report = malloc(DETECTION_REPORT_MAX);
    }
    if (outcome->report) {
        detection_report(detection, outcome->report);
    }
}
