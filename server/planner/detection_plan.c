/* SPDX-License-Identifier: MIT */
#include "server/planner/detection_plan.h"

#include <math.h>

#include "core/numbers.h"
#include "core/orient.h"

int detection_grid(const struct detector *detector, const struct parameters *parameters) {
    return parameters_given(parameters, "detect_grid") ? parameters->detect.grid
           : parameters->input.mode == MODE_REDACT     ? detector->grid
                                                       : 1;
}

unsigned detection_boxes(const struct detection *detection) {
    bool further = false;
    for (unsigned i = 0; i < detection->count; i++) {
        further |= detection->search[i].further;
    }
    return detection_kinds(detection) * (1 + detection->doubtful) + further;
}

unsigned detection_kinds(const struct detection *detection) {
    return (unsigned)__builtin_popcount(detection->wanted);
}

unsigned detection_kind(const struct detection *detection, enum detector_id detector) {
    return (unsigned)__builtin_popcount(detection->wanted & ((UINT32_C(1) << detector) - 1));
}

static uint32_t rounded_up(uint32_t side, uint32_t unit) {
    return min_u32(divide_up(side, unit) * unit, RESIZE_SIDE_MAX / unit * unit);
}

/* How a picture is searched: halves of its usual size, how often that is halved, and whether its mirror
 * image. */
struct look {
    uint32_t halves;
    bool mirrored;
    unsigned halvings;
};

/* The searches of detect_effort=high. The mirror image shows some faces that are turned to one side, the
 * smaller copy those that fill the picture, and the larger copy small ones. */
static const struct look further[DETECTION_FURTHER] = {{2, true, 0}, {1, false, 0}, {4, false, 0}};

/* What the usual search missed needs a score that is so much higher, since there are several more chances to
 * be wrong (docs/faces.md has both numbers). */
static const double further_factor = 5.0 / 3, greatest_threshold = 0.95;

/* A side of the picture that is searched: a multiple of the detector's unit. Networks find more in a picture
 * that is stretched a little than in one with a border. */
static uint32_t searched_side(uint32_t side, uint32_t longest, int most, uint32_t unit,
                              const struct look *look) {
    const bool shrinks = most != DETECT_SIZE_FULL && longest > (uint32_t)most;
    const uint64_t part = shrinks ? (uint32_t)most : longest, whole = (uint64_t)longest * 2 << look->halvings;
    const uint32_t fitted = (uint32_t)((side * part * look->halves + whole / 2) / whole);
    return rounded_up(fitted > 0 ? fitted : 1, unit);
}

/* With a border, the picture need not be stretched. */
static void frame_of(struct boxes_frame *frame, const struct detector *detector, const struct look *look,
                     const struct image_shape *upright, const struct parameters *parameters) {
    const uint32_t unit = detector->border > 0 ? 1 : (uint32_t)detector->unit;
    int most = parameters_given(parameters, "detect_size") ? parameters->detect.size : detector->longest;
    most = most > 0 ? most : DETECT_SIZE_FULL;
    uint32_t longest = upright->width > upright->height ? upright->width : upright->height;
    *frame =
        (struct boxes_frame){.searched_width = searched_side(upright->width, longest, most, unit, look),
                             .searched_height = searched_side(upright->height, longest, most, unit, look),
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

static struct detect_arguments arguments_of(const struct detection_search *search,
                                            const struct parameters *parameters) {
    struct detect_arguments detect = {.wanted = search->detectors};
    for (unsigned id = 0; id < DETECTORS; id++) {
        const struct detector *detector = detector_get((enum detector_id)id);
        const double asked = thresholds_get(&parameters->detect.threshold, (enum detector_id)id);
        if (search->detectors >> id & 1) {
            detect.threshold[id] =
                !search->usual ? fmin(asked * further_factor, fmax(asked, greatest_threshold))
                : parameters->evidence.plan && detector->network ? asked * DETECTION_DOUBTFUL
                                                                 : asked;
        }
    }
    return detect;
}

/* The mirror image is made of sides that are multiples of the unit, so that planes with fewer samples of
 * colour are mirrored exactly. */
static enum status plan_chain(struct detection_search *search, const struct look *look,
                              const struct parameters *parameters, const struct image_shape *stored,
                              uint8_t orientation, bool *planar, struct error *err) {
    struct chain *chain = &search->chain;
    struct boxes_frame *frame = &search->frame;
    struct image_shape upright = orient_shape(stored, orientation);
    const struct detector *detector = detector_get(detectors_first(search->detectors));
    const struct rotate_arguments mirror = {.angle = ROTATE_0, .flip = ROTATE_HORIZONTAL};
    frame_of(frame, detector, look, &upright, parameters);
    const struct detect_arguments detect = arguments_of(search, parameters);
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
    if (status == ST_OK && search->mirrored) {
        status = append(chain, FILTER_ROTATE, &mirror, stored, planar, err);
    }
    return status == ST_OK ? append(chain, FILTER_DETECT, &detect, stored, planar, err) : status;
}

/* What the searches of a request are planned for. */
struct asked {
    const struct parameters *parameters;
    const struct image_shape *stored;
    uint8_t orientation;
};

/* Adds a search, and plans it. *planar becomes false unless it takes planes as stored. */
static enum status add_search(struct detection *detection, struct detection_search search,
                              const struct look *look, const struct asked *asked, bool *planar,
                              struct error *err) {
    struct detection_search *added = &detection->search[detection->count++];
    *added = search;
    return plan_chain(added, look, asked->parameters, asked->stored, asked->orientation, planar, err);
}

/* The smaller copies of the search that was added last. */
static enum status add_halved(struct detection *detection, enum detector_id id, const struct asked *asked,
                              bool *planar, struct error *err) {
    const uint32_t least = (uint32_t)detector_get(id)->halved_from;
    const struct boxes_frame *frame = &detection->search[detection->count - 1].frame;
    uint32_t longest = max_u32(frame->searched_width, frame->searched_height);
    enum status status = ST_OK;
    for (struct look look = {.halves = 2, .halvings = 1};
         least > 0 && longest >= least && look.halvings <= DETECTION_HALVINGS && status == ST_OK;
         look.halvings++, longest /= 2) {
        status = add_search(
            detection,
            (struct detection_search){.detectors = UINT32_C(1) << id, .further = true, .usual = true}, &look,
            asked, planar, err);
    }
    return status;
}

/* The searches of detect_effort=high. The half of what is halved anyway is no further one. */
static enum status add_further(struct detection *detection, enum detector_id id, const struct asked *asked,
                               bool *planar, struct error *err) {
    const struct detector *detector = detector_get(id);
    enum status status = ST_OK;
    for (unsigned i = 0; i < DETECTION_FURTHER && status == ST_OK; i++) {
        const struct look *look = &further[i];
        if (detector->tries >= (look->mirrored ? DETECTOR_TRIES_ALL : DETECTOR_TRIES_SIZES) &&
            !(detector->halved_from > 0 && look->halves < 2)) {
            status =
                add_search(detection,
                           (struct detection_search){
                               .detectors = UINT32_C(1) << id, .further = true, .mirrored = look->mirrored},
                           look, asked, planar, err);
        }
    }
    return status;
}

/* The searches that begin with a detector: one with all that can be made in the same pass, and the further
 * ones of each. */
static enum status plan_detectors(struct detection *detection, uint32_t together, const struct asked *asked,
                                  bool *planar, struct error *err) {
    static const struct look usual = {.halves = 2};
    enum status status =
        add_search(detection, (struct detection_search){.detectors = together, .usual = true}, &usual, asked,
                   planar, err);
    for (unsigned id = 0; together >> id && status == ST_OK; id++) {
        if (together >> id & 1) {
            status = add_halved(detection, (enum detector_id)id, asked, planar, err);
        }
        if (status == ST_OK && together >> id & 1 && asked->parameters->detect.effort == DETECT_EFFORT_HIGH) {
            status = add_further(detection, (enum detector_id)id, asked, planar, err);
        }
    }
    return status;
}

static enum status plan_searches(struct detection *detection, const struct parameters *parameters,
                                 const struct image_shape *stored, uint8_t orientation, bool *planar,
                                 struct error *err) {
    const struct asked asked = {parameters, stored, orientation};
    struct error cause = {0};
    detection->count = 0;
    detection->wanted = parameters_search(parameters);
    detection->counted = parameters->detect.stage == DETECT_HELD ? 0 : parameters_detect(parameters);
    detection->doubtful = parameters->evidence.plan;
    *planar = true;
    for (unsigned id = 0; detection->wanted >> id; id++) {
        const uint32_t together = detection->wanted & detectors_beside((enum detector_id)id);
        const bool begins = detection->wanted >> id & 1 && detectors_first(together) == id;
        if (begins && plan_detectors(detection, together, &asked, planar, &cause) != ST_OK) {
            return fail(err, ST_LIMIT, "%s cannot be searched for: %.200s",
                        detector_get((enum detector_id)id)->name, cause.text);
        }
    }
    return ST_OK;
}

enum status detection_plan(struct detection *detection, const struct parameters *parameters,
                           const struct image_shape *stored, uint8_t orientation, struct error *err) {
    const struct image_shape upright = orient_shape(stored, orientation);
    bool planar;
    const enum status status = region_keep_check_size(&parameters->input.except, "except",
                                                      (enum region_unit)parameters->input.region.unit,
                                                      upright.width, upright.height, err);
    return status == ST_OK ? plan_searches(detection, parameters, stored, orientation, &planar, err) : status;
}

bool detection_takes_planes(const struct parameters *parameters, const struct image_shape *planes,
                            uint8_t orientation) {
    struct detection trial;
    struct error ignored;
    bool planar;
    return plan_searches(&trial, parameters, planes, orientation, &planar, &ignored) == ST_OK && planar;
}

bool detection_suits_gpu(const struct detection *detection) {
    unsigned i = 0;
    while (detection->wanted >> i &&
           (!(detection->wanted >> i & 1) || detector_get((enum detector_id)i)->gpu_pixel_ns > 0)) {
        i++;
    }
    return detection->wanted >> i == 0;
}

size_t detection_found_bytes(const struct detection *detection) {
    return offsetof(struct detection_found, boxes) + detection_boxes(detection) * sizeof(struct boxes);
}

/* Each part is aligned like a picture. */
size_t detection_bytes(const struct detection *detection) {
    struct image_shape shape = detect_shape();
    struct image image;
    return detection->count
               ? image_layout(&image, &shape) +
                     bytes_align_up(detection_found_bytes(detection), IMAGE_ALIGNMENT) +
                     (detection->doubtful ? bytes_align_up(sizeof(struct region_room), IMAGE_ALIGNMENT) : 0)
               : 0;
}
