/* SPDX-License-Identifier: MIT */
#include "server/picture/detection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/orient.h"
#include "filters/argument/region_entry.h"
#include "server/outcome.h"

static uint32_t rounded_up(uint32_t side) {
    enum { MOST = RESIZE_SIDE_MAX / DETECT_UNIT * DETECT_UNIT };
    uint32_t whole = (side + DETECT_UNIT - 1) / DETECT_UNIT * DETECT_UNIT;
    return whole < MOST ? whole : MOST;
}

/* A side of the picture that the network sees: the network takes multiples of DETECT_UNIT, and finds more in
 * a picture that is stretched a little than in one with a border. */
static uint32_t seen(uint32_t side, uint32_t longest, int most) {
    if (most == DETECT_SIZE_FULL || longest <= (uint32_t)most) {
        return rounded_up(side);
    }
    uint32_t fitted = (uint32_t)(((uint64_t)side * (uint32_t)most + longest / 2) / longest);
    return rounded_up(fitted > 0 ? fitted : 1);
}

static void frame_of(struct faces_frame *frame, const struct image_shape *upright, int size) {
    int most = size == 0 ? DETECT_SIZE_USUAL : size;
    uint32_t longest = upright->width > upright->height ? upright->width : upright->height;
    *frame = (struct faces_frame){.network_width = seen(upright->width, longest, most),
                                  .network_height = seen(upright->height, longest, most),
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
    struct faces_frame *frame = &detection->frame;
    struct image_shape upright = orient_shape(stored, orientation);
    frame_of(frame, &upright, parameters->detect.size);
    const struct detect_arguments detect = {.threshold = parameters->detect.threshold};
    const struct resize_arguments resize = {.width = (int)frame->network_width,
                                            .height = (int)frame->network_height,
                                            .fit = RESIZE_FILL,
                                            .kernel = RESIZE_LINEAR,
                                            .enlarge = true};
    enum status status = ST_OK;
    if (orient_turns(orientation)) {
        status = append_turn(chain, orientation, stored, planar, err);
    }
    bool same = frame->network_width == upright.width && frame->network_height == upright.height;
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
    return fail(err, ST_LIMIT, "faces cannot be searched for: %.200s", cause.text);
}

bool detection_takes_planes(const struct parameters *parameters, const struct image_shape *planes,
                            uint8_t orientation) {
    struct detection trial = {0};
    struct error ignored;
    bool planar = true;
    return plan_chain(&trial, parameters, planes, orientation, &planar, &ignored) == ST_OK && planar;
}

/* The parts of the memory, each aligned like a picture. */
static size_t aligned(size_t size) {
    return (size + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

static size_t result_bytes(void) {
    struct image_shape shape = detect_shape();
    struct image image;
    return aligned(image_layout(&image, &shape));
}

size_t detection_bytes(const struct detection *detection) {
    return detection->wanted
               ? result_bytes() + aligned(sizeof(struct faces)) + aligned(sizeof(struct region_room))
               : 0;
}

void detection_place(struct detection *detection, uint8_t *memory) {
    struct image_shape shape = detect_shape();
    image_layout(&detection->result, &shape);
    image_place(&detection->result, memory);
    memory += result_bytes();
    detection->faces = (struct faces *)(void *)memory;
    memory += aligned(sizeof(struct faces));
    detection->room = (struct region_room *)(void *)memory;
}

/* A hundredth of a pixel is all that is told, so that regions made of an answer are those of the search. */
static double rounded(double place) {
    return nearbyint(place * 100) / 100;
}

static void round_faces(struct faces *faces) {
    for (unsigned i = 0; i < faces->count; i++) {
        struct face *face = &faces->face[i];
        face->x = rounded(face->x);
        face->y = rounded(face->y);
        face->width = fmax(rounded(face->width), 0.01);
        face->height = fmax(rounded(face->height), 0.01);
    }
}

enum status detection_read(struct detection *detection, struct face_model *model, struct error *err) {
    struct face_candidates *candidates = (struct face_candidates *)(void *)detection->result.plane[0].data;
    const struct face_weights *weights;
    enum status status = face_model_weights(model, &weights, err);
    status =
        status == ST_OK ? faces_find(weights, candidates, &detection->frame, detection->faces, err) : status;
    if (status == ST_OK) {
        round_faces(detection->faces);
    }
    return status;
}

enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err) {
    bool ellipse = parameters->detect.shape == DETECT_ELLIPSE;
    enum status status = ST_OK;
    if (!set->room) {
        region_lend(set, detection->room);
    }
    for (unsigned i = 0; i < detection->faces->count && status == ST_OK; i++) {
        const struct face *face = &detection->faces->face[i];
        const struct region region = {.form = ellipse ? REGION_ELLIPSE : REGION_RECTANGLE,
                                      .count = 4,
                                      .source = REGION_FOUND,
                                      .unit = REGION_PX,
                                      .entry = (uint16_t)(i + 1)};
        double number[4] = {face->x, face->y, face->width, face->height};
        region_entry_grow(number, parameters->detect.margin);
        status = region_add(set, &region, number, err);
    }
    return status;
}

static enum status write_face(const struct face *face, double margin, bool first, struct buf *body,
                              struct error *err) {
    double number[4] = {face->x, face->y, face->width, face->height};
    region_entry_grow(number, margin);
    enum status status = buf_printf(
        body, err, "%s\n{\"x\":%.2f,\"y\":%.2f,\"width\":%.2f,\"height\":%.2f,\"score\":%.4f,\"landmarks\":[",
        first ? "" : ",", number[0], number[1], number[2], number[3], face->score);
    for (unsigned i = 0; i < FACE_LANDMARKS && status == ST_OK; i++) {
        status = buf_printf(body, err, "%s[%.2f,%.2f]", i ? "," : "", face->landmarks[i][0],
                            face->landmarks[i][1]);
    }
    return status == ST_OK ? buf_printf(body, err, "]}") : status;
}

enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err) {
    const struct faces *faces = detection->faces;
    double margin = parameters_given(parameters, "detect_margin") ? parameters->detect.margin : 0;
    enum status status = buf_printf(body, err, "{\"width\":%u,\"height\":%u,\"faces\":[",
                                    detection->frame.width, detection->frame.height);
    for (unsigned i = 0; i < faces->count && status == ST_OK; i++) {
        status = write_face(&faces->face[i], margin, i == 0, body, err);
    }
    return status == ST_OK ? buf_printf(body, err, "]}\n") : status;
}

void detection_report(const struct detection *detection, char text[DETECTION_REPORT_MAX]) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < detection->faces->count; i++) {
        const struct face *face = &detection->faces->face[i];
        char one[128];
        int length = snprintf(one, sizeof one, "%s%.1f,%.1f,%.1f,%.1f,%.3f", i ? "; " : "", face->x, face->y,
                              face->width, face->height, face->score);
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
    outcome->faces = detection->faces->count;
    if (parameters->detect.report && outcome->faces > 0) {
        outcome->report = malloc(DETECTION_REPORT_MAX);
    }
    if (outcome->report) {
        detection_report(detection, outcome->report);
    }
}
