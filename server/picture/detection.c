/* SPDX-License-Identifier: MIT */
#include "server/picture/detection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/slot.h"
#include "filters/argument/region_entry.h"
#include "server/outcome.h"

enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err) {
    struct image_shape shape = detect_shape();
    uint8_t *memory = slot_take(pictures, image_layout(&detection->result, &shape), err);
    uint8_t *found = memory ? slot_take(own, sizeof *detection->found, err) : NULL;
    if (!found) {
        return err->status;
    }
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
