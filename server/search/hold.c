/* SPDX-License-Identifier: MIT */
#include "server/search/hold.h"

#include <stdlib.h>

#include "server/search/detection.h"

_Static_assert((int)FINDS_MAX == (int)REGIONS_MAX, "as many as a picture may have");

/* How many boxes there are of all that counts. */
static uint32_t count_all(const struct detection *detection) {
    uint32_t count = 0;
    for (unsigned id = 0; detection->counted >> id; id++) {
        if (detection->counted >> id & 1) {
            count += detection->found->boxes[detection_kind(detection, (enum detector_id)id)].count;
        }
    }
    return count;
}

/* On a grid, edges are no further outwards than the grid demands, which an ellipse around several would be.
 */
static uint32_t collect(const struct boxes *boxes, enum detector_id id, const struct detection *detection,
                        const struct parameters *parameters, struct track_box *box) {
    const struct detector *detector = detector_get(id);
    const bool round =
        detection_form(detector, parameters) == REGION_ELLIPSE && detection_grid(detector, parameters) == 1;
    for (unsigned i = 0; i < boxes->count; i++) {
        double number[4];
        detection_place(&boxes->box[i], detector, &detection->search[0].frame, parameters, number);
        box[i] = tracks_box(number, id, round);
    }
    return boxes->count;
}

enum status hold_collect(const struct detection *detection, const struct parameters *parameters,
                         struct track_box *box, uint32_t room, uint32_t *count, struct error *err) {
    const uint32_t all = count_all(detection);
    *count = 0;
    if (all > FINDS_MAX) {
        return fail(err, ST_LIMIT, "more than %d places were found in a frame", FINDS_MAX);
    }
    if (all > room) {
        return fail(err, ST_LIMIT, "too many places were found in the frames to remember all of them");
    }
    for (unsigned id = 0; detection->counted >> id; id++) {
        if (detection->counted >> id & 1) {
            const unsigned kind = detection_kind(detection, (enum detector_id)id);
            *count += collect(&detection->found->boxes[kind], (enum detector_id)id, detection, parameters,
                              box + *count);
        }
    }
    return ST_OK;
}

enum status hold_find(const struct detection *detection, const struct parameters *parameters,
                      struct finds **finds, struct error *err) {
    const struct boxes_frame *frame = &detection->search[0].frame;
    const uint32_t room = count_all(detection);
    struct finds *made = malloc(sizeof *made + room * sizeof made->box[0]);
    if (!made) {
        return fail(err, ST_BUSY, "no memory for what was found");
    }
    made->width = frame->width;
    made->height = frame->height;
    enum status status = hold_collect(detection, parameters, made->box, room, &made->count, err);
    free(*finds);
    *finds = made;
    if (status != ST_OK) {
        free(made);
        *finds = NULL;
    }
    return status;
}

enum status hold_add(const struct held *held, const struct parameters *parameters, struct region_set *set,
                     struct error *err) {
    const uint32_t most = set->count < REGIONS_MAX ? REGIONS_MAX - set->count : 0;
    if (held->count == 0) {
        return ST_OK;
    }
    enum status status = tracks_hold(held->tracks, held->box, held->count, most, err);
    if (!set->room) {
        region_lend(set, held->room);
    }
    for (uint32_t i = 0; i < held->tracks->held && status == ST_OK; i++) {
        const struct track_box *box = &held->tracks->box[i];
        const struct region region = {.form = box->round ? REGION_ELLIPSE : REGION_RECTANGLE,
                                      .count = 4,
                                      .source = REGION_FOUND,
                                      .unit = REGION_PX,
                                      .entry = (uint16_t)(i + 1)};
        const double unit = TRACKS_UNIT,
                     number[4] = {box->left / unit, box->top / unit, (box->right - box->left) / unit,
                                  (box->bottom - box->top) / unit};
        status = region_keep_cut(&parameters->input.keep, (enum region_unit)parameters->input.region.unit,
                                 held->width, held->height, &region, number, set, err);
    }
    return status;
}
