/* SPDX-License-Identifier: MIT */
#include "server/search/detection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/slot.h"
#include "detect/components.h"
#include "filters/argument/region_entry.h"

enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err) {
    struct image_shape shape = detect_shape();
    uint8_t *memory = slot_take(pictures, image_layout(&detection->result, &shape), err);
    uint8_t *found = memory ? slot_take(own, detection_found_bytes(detection), err) : NULL;
    if (!found) {
        return err->status;
    }
    image_place(&detection->result, memory);
    detection->found = (struct detection_found *)(void *)found;
    if (detection->doubtful) {
        detection->doubtful_room =
            (struct region_room *)(void *)slot_take(own, sizeof(struct region_room), err);
    }
    return detection->doubtful && !detection->doubtful_room ? err->status : ST_OK;
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

/* Copies what was found by a detector: an engine may still change the result. A count above the maximum
 * stays, and is refused later. */
static enum status copy_candidates(const struct detection *detection, const struct detection_search *search,
                                   const struct detector *detector, struct error *err) {
    const struct candidates *made = (const struct candidates *)(const void *)detection->result.plane[0].data;
    struct candidates *copy = &detection->found->candidates;
    uint32_t count = *(const volatile uint32_t *)&made->count; /* read once */
    copy->count = count;
    count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
    memcpy(copy->candidate, made->candidate, count * sizeof copy->candidate[0]);
    uint32_t marks = 0;
    for (unsigned id = 0; search->detectors >> id; id++) {
        marks |= search->detectors >> id & 1 ? UINT32_C(1) << detector_get((enum detector_id)id)->output : 0;
    }
    return detector->pixel_least > 0 ? components_select(copy, detector->output, marks, err) : ST_OK;
}

/* What a detector's boxes are made of. */
struct reading {
    const struct detection *detection;
    const struct detection_search *search;
    const struct detector *detector;
    const struct model_weights *weights;
    struct boxes_frame frame;
    double threshold;
};

/* Finds the boxes with a score below the threshold, among which that above it do not count. */
static enum status find_doubtful(const struct reading *of, struct boxes *boxes, struct error *err) {
    struct candidates *candidates = &of->detection->found->candidates;
    enum status status = copy_candidates(of->detection, of->search, of->detector, err);
    status = status == ST_OK ? of->detector->find(of->weights, candidates, &of->frame, boxes, err) : status;
    unsigned kept = 0;
    for (unsigned i = 0; i < boxes->count && status == ST_OK; i++) {
        if (boxes->box[i].score < of->threshold) {
            boxes->box[kept++] = boxes->box[i];
        }
    }
    boxes->count = kept;
    round_boxes(boxes);
    return status;
}

/* Leaves out what a search with that threshold would not have written. */
static void cut_candidates(struct candidates *candidates, int32_t least) {
    const uint32_t count = candidates->count < CANDIDATES_MAX ? candidates->count : CANDIDATES_MAX;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates->candidate[i].sum[0] >= least) {
            candidates->candidate[kept++] = candidates->candidate[i];
        }
    }
    candidates->count = candidates->count > CANDIDATES_MAX ? candidates->count : kept;
}

/* The boxes of one search, without doubtful ones. */
static enum status find_sure(const struct reading *of, struct boxes *boxes, struct error *err) {
    struct candidates *candidates = &of->detection->found->candidates;
    enum status status = copy_candidates(of->detection, of->search, of->detector, err);
    if (status == ST_OK && of->detection->doubtful && of->detector->network && of->search->usual) {
        cut_candidates(candidates, of->detector->least(of->weights, of->threshold));
    }
    status = status == ST_OK ? of->detector->find(of->weights, candidates, &of->frame, boxes, err) : status;
    if (status == ST_OK && of->search->mirrored) {
        boxes_mirror(boxes, of->frame.width);
    }
    if (status == ST_OK) {
        round_boxes(boxes);
    }
    return status;
}

static enum status read_detector(struct detection *detection, const struct detection_search *search,
                                 enum detector_id id, const struct parameters *parameters,
                                 struct model *const *models, struct error *err) {
    struct boxes *kind = &detection->found->boxes[detection_kind(detection, id)];
    struct boxes *boxes = search->further ? &detection->found->boxes[detection_boxes(detection) - 1] : kind;
    const struct detector *detector = detector_get(id);
    struct reading of = {.detection = detection,
                         .search = search,
                         .detector = detector,
                         .frame = search->frame,
                         .threshold = thresholds_get(&parameters->detect.threshold, id)};
    of.frame.conceals = detection_grid(detector, parameters) > 1;
    enum status status = detector->network ? model_read(models[id], &of.weights, err) : ST_OK;
    if (status == ST_OK && detection->doubtful && search->usual) {
        struct boxes *doubtful = kind + detection_kinds(detection);
        status = find_doubtful(&of, search->further ? boxes : doubtful, err);
        status = status == ST_OK && search->further ? boxes_join_better(doubtful, boxes, err) : status;
    }
    status = status == ST_OK ? find_sure(&of, boxes, err) : status;
    return status == ST_OK && search->further
               ? (search->usual ? boxes_join_better : boxes_join)(kind, boxes, err)
               : status;
}

enum status detection_read(struct detection *detection, unsigned index, const struct parameters *parameters,
                           struct model *const *models, struct error *err) {
    const struct detection_search *search = &detection->search[index];
    enum status status = ST_OK;
    for (unsigned id = 0; search->detectors >> id && status == ST_OK; id++) {
        if (search->detectors >> id & 1) {
            status = read_detector(detection, search, (enum detector_id)id, parameters, models, err);
        }
    }
    return status;
}

/* Moves the edges outwards onto the grid, those at the right and below no further than to the border. */
static void put_on_grid(double number[4], int grid, const struct boxes_frame *frame) {
    const double side[2] = {frame->width, frame->height};
    for (unsigned i = 0; i < 2 && grid > 1; i++) {
        const double end = fmin(ceil((number[i] + number[i + 2]) / grid) * grid, side[i]);
        number[i] = floor(number[i] / grid) * grid;
        number[i + 2] = end - number[i];
    }
}

enum region_form detection_form(const struct detector *detector, const struct parameters *parameters) {
    const bool given = parameters_given(parameters, "detect_shape");
    const bool ellipse = detector->round && (!given || parameters->detect.shape == DETECT_ELLIPSE);
    return ellipse ? REGION_ELLIPSE : REGION_RECTANGLE;
}

void detection_place(const struct box *box, const struct detector *detector, const struct boxes_frame *frame,
                     const struct parameters *parameters, double number[4]) {
    const double place[4] = {box->x, box->y, box->width, box->height};
    memcpy(number, place, sizeof place);
    region_entry_grow(number, parameters_given(parameters, "detect_margin") ? parameters->detect.margin
                                                                            : detector->margin);
    put_on_grid(number, detection_grid(detector, parameters), frame);
}

static enum status add_boxes(const struct boxes *boxes, const struct detector *detector,
                             const struct boxes_frame *frame, const struct parameters *parameters,
                             struct region_set *set, uint16_t *entry, struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < boxes->count && status == ST_OK; i++) {
        const struct region region = {.form = (uint8_t)detection_form(detector, parameters),
                                      .count = 4,
                                      .source = REGION_FOUND,
                                      .unit = REGION_PX,
                                      .entry = ++*entry};
        double number[4];
        detection_place(&boxes->box[i], detector, frame, parameters, number);
        status = region_keep_cut(&parameters->input.keep, (enum region_unit)parameters->input.region.unit,
                                 frame->width, frame->height, &region, number, set, err);
    }
    return status;
}

/* `first` is the index of the boxes of the first detector. */
static enum status add_all(const struct detection *detection, unsigned first,
                           const struct parameters *parameters, struct region_set *set, struct error *err) {
    enum status status = ST_OK;
    uint16_t entry = 0;
    for (unsigned id = 0; detection->counted >> id && status == ST_OK; id++) {
        if (detection->counted >> id & 1) {
            status = add_boxes(&detection->found->boxes[first + detection_kind(detection, id)],
                               detector_get((enum detector_id)id), &detection->search[0].frame, parameters,
                               set, &entry, err);
        }
    }
    return status;
}

enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err) {
    if (!set->room) {
        region_lend(set, &detection->found->room);
    }
    return add_all(detection, 0, parameters, set, err);
}

enum status detection_add_doubtful(const struct detection *detection, const struct parameters *parameters,
                                   struct region_set *set, struct error *err) {
    region_lend(set, detection->doubtful_room);
    return add_all(detection, detection_kinds(detection), parameters, set, err);
}

const struct box *detection_box(const struct detection *detection, bool doubtful, unsigned entry,
                                const char **class) {
    const unsigned first = doubtful ? detection_kinds(detection) : 0;
    for (unsigned id = 0; detection->counted >> id && entry > 0; id++) {
        if (!(detection->counted >> id & 1)) {
            continue;
        }
        const struct boxes *boxes = &detection->found->boxes[first + detection_kind(detection, id)];
        if (entry <= boxes->count) {
            const struct box *box = &boxes->box[entry - 1];
            *class = detector_get((enum detector_id)id)->classes[box->class];
            return box;
        }
        entry -= boxes->count;
    }
    return NULL;
}

static enum status write_landmarks(const struct box *box, unsigned landmarks, struct buf *body,
                                   struct error *err) {
    enum status status = buf_printf(body, err, ",\"landmarks\":[");
    for (unsigned i = 0; i < landmarks && status == ST_OK; i++) {
        status =
            buf_printf(body, err, "%s[%.2f,%.2f]", i ? "," : "", box->landmarks[i][0], box->landmarks[i][1]);
    }
    return status == ST_OK ? buf_printf(body, err, "]") : status;
}

/* Whole pixels. The corners move away from their middle as the edges of the box do: by the margin in percent
 * of the sides. */
static enum status write_polygon(const struct box *box, double margin, struct buf *body, struct error *err) {
    const double by = 1 + 2 * margin / 100;
    enum status status = buf_printf(body, err, ",\"polygon\":[");
    for (unsigned i = 0; i < BOXES_CORNERS && status == ST_OK; i++) {
        double at[2];
        for (unsigned axis = 0; axis < 2; axis++) {
            const double middle = (box->corner[0][axis] + box->corner[2][axis]) / 2;
            at[axis] = nearbyint(middle + by * (box->corner[i][axis] - middle)) + 0.0; /* no -0 */
        }
        status = buf_printf(body, err, "%s[%.0f,%.0f]", i ? "," : "", at[0], at[1]);
    }
    return status == ST_OK ? buf_printf(body, err, "]") : status;
}

/* How boxes are told. */
struct telling {
    double margin;
    int grid;
    const struct boxes_frame *frame;
};

/* The class is left out where all have the same, and landmarks and corners where there are none. Lists of
 * regions call it `label`, too. */
static enum status write_box(const struct box *box, const struct detector *detector,
                             const struct telling *how, bool first, struct buf *body, struct error *err) {
    double number[4] = {box->x, box->y, box->width, box->height};
    region_entry_grow(number, how->margin);
    put_on_grid(number, how->grid, how->frame);
    enum status status =
        buf_printf(body, err, "%s\n{\"x\":%.2f,\"y\":%.2f,\"width\":%.2f,\"height\":%.2f,\"score\":%.4f",
                   first ? "" : ",", number[0], number[1], number[2], number[3], box->score);
    if (status == ST_OK && detector->classes[1]) {
        status = buf_printf(body, err, ",\"label\":\"%s\"", detector->classes[box->class]);
    }
    if (status == ST_OK && detector->landmarks > 0) {
        status = write_landmarks(box, detector->landmarks, body, err);
    }
    if (status == ST_OK && box->turned) {
        status = write_polygon(box, how->margin, body, err);
    }
    return status == ST_OK ? buf_printf(body, err, "}") : status;
}

static enum status write_boxes(const struct boxes *boxes, const struct detector *detector,
                               const struct parameters *parameters, const struct boxes_frame *frame,
                               struct buf *body, struct error *err) {
    const struct telling how = {
        .frame = frame,
        .margin = parameters_given(parameters, "detect_margin") ? parameters->detect.margin : 0,
        .grid = detection_grid(detector, parameters)};
    enum status status = buf_printf(body, err, ",\"%s\":[", detector->name);
    for (unsigned i = 0; i < boxes->count && status == ST_OK; i++) {
        status = write_box(&boxes->box[i], detector, &how, i == 0, body, err);
    }
    return status == ST_OK ? buf_printf(body, err, "]") : status;
}

enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err) {
    enum status status = buf_printf(body, err, "{\"width\":%u,\"height\":%u",
                                    detection->search[0].frame.width, detection->search[0].frame.height);
    for (unsigned id = 0; detection->wanted >> id && status == ST_OK; id++) {
        if (detection->wanted >> id & 1) {
            status = write_boxes(&detection->found->boxes[detection_kind(detection, id)],
                                 detector_get((enum detector_id)id), parameters, &detection->search[0].frame,
                                 body, err);
        }
    }
    return status == ST_OK ? buf_printf(body, err, "}\n") : status;
}

void detection_report(const struct boxes *boxes, int grid, const struct boxes_frame *frame,
                      char text[OUTCOME_REPORT_MAX]) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->box[i];
        double number[4] = {box->x, box->y, box->width, box->height};
        char one[128];
        put_on_grid(number, grid, frame);
        int length = snprintf(one, sizeof one, "%s%.1f,%.1f,%.1f,%.1f,%.3f", i ? "; " : "", number[0],
                              number[1], number[2], number[3], box->score);
        if (length < 0 || used + (size_t)length >= OUTCOME_REPORT_MAX) {
            return;
        }
        snprintf(text + used, OUTCOME_REPORT_MAX - used, "%s", one);
        used += (size_t)length;
    }
}

/* Lists of the boxes for which there is no memory are left out. */
void detection_note(const struct detection *detection, const struct parameters *parameters,
                    struct outcome *outcome) {
    if (parameters->detect.report) {
        outcome->report = calloc(DETECTORS, sizeof *outcome->report);
    }
    for (unsigned id = 0; detection->wanted >> id; id++) {
        if (!(detection->wanted >> id & 1)) {
            continue;
        }
        const struct boxes *boxes = &detection->found->boxes[detection_kind(detection, id)];
        outcome->searched |= UINT32_C(1) << id;
        outcome->found[id] += boxes->count;
        if (outcome->report) {
            detection_report(boxes, detection_grid(detector_get((enum detector_id)id), parameters),
                             &detection->search[0].frame, outcome->report[id]);
        }
    }
}
