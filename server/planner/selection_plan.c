/* SPDX-License-Identifier: MIT */
#include "server/planner/selection_plan.h"

#include "core/numbers.h"
#include "core/orient.h"

/* A list may say how large its picture is. */
static enum status check_list(const struct region_list_about *list, uint32_t width, uint32_t height,
                              struct error *err) {
    bool same = (!list->width || list->width == width) && (!list->height || list->height == height);
    return same ? ST_OK
                : fail_argument(err, "regions",
                                "regions: the list is for a picture of other width or height than %ux%u",
                                width, height);
}

enum status selection_init(struct selection *selection, const struct parameters *parameters,
                           uint8_t orientation, uint32_t width, uint32_t height, struct error *err) {
    bool lies = orientation >= 5; /* width and height are exchanged */
    uint32_t shown_width = lies ? height : width, shown_height = lies ? width : height;
    *selection = (struct selection){.region = parameters->input.region};
    selection->redact = parameters->input.mode == MODE_REDACT;
    selection->wanted = parameters_select(parameters);
    enum status status = check_list(&parameters->input.about, shown_width, shown_height, err);
    if (selection->redact && status == ST_OK) {
        status = region_check_size(&selection->region, shown_width, shown_height, err);
    }
    region_turn(&selection->region, orientation);
    return status;
}

struct image_shape selection_mask_shape(const struct image_shape *picture) {
    return (struct image_shape){
        .model = PIXEL_GRAY, .depth = 8, .width = picture->width, .height = picture->height};
}

/* Large enough for the mask before and after it is turned, and to decode it in. */
size_t selection_mask_bytes(const struct selection *selection, const struct image_shape *stored) {
    struct image image;
    struct image_shape shape = selection_mask_shape(stored);
    const struct image_shape turned = {
        .model = PIXEL_GRAY, .depth = 8, .width = stored->height, .height = stored->width};
    size_t size = max_size(image_layout(&image, &shape), image_layout(&image, &turned)), room = 0;
    if (selection->part.input.data) {
        room = max_size(codec_decode_room(CODEC_PNG, &shape), codec_decode_room(CODEC_PNG, &turned));
    }
    return !selection->wanted && !selection->redact ? 0 : size + room;
}

bool selection_is_soft(const struct selection *selection, const struct parameters *parameters) {
    return selection->wanted && parameters->input.feather > 0;
}

enum status selection_refuse_part(enum status status, const struct error *cause, struct error *err) {
    bool file = status == ST_CORRUPT || status == ST_UNSUPPORTED;
    return file ? fail_argument(err, "mask", "mask: %.200s", cause->text)
                : fail(err, status, "mask: %.200s", cause->text);
}

/* Limits for the picture do not all hold for its mask. */
static struct codec_limits limits_of(const struct codec_limits *limits) {
    return (struct codec_limits){.max_pixels = limits->max_pixels,
                                 .max_side = limits->max_side,
                                 .max_scans = limits->max_scans,
                                 .max_memory = limits->max_memory,
                                 .deadline_ns = limits->deadline_ns};
}

static enum status check_shape(const struct image_shape *shape, uint32_t width, uint32_t height,
                               struct error *err) {
    if (shape->model != PIXEL_GRAY || shape->depth != 8) {
        return fail_argument(err, "mask", "mask: the PNG has %u channels of %u bits, it must have one of 8",
                             image_pixel_channels(shape->model), shape->depth);
    }
    if (shape->width != width || shape->height != height) {
        return fail_argument(err, "mask",
                             "mask: it has %ux%u pixels, it must have %ux%u as the upright picture",
                             shape->width, shape->height, width, height);
    }
    return ST_OK;
}

enum status selection_open_part(struct selection *selection, const struct parameters *parameters,
                                const struct picture *picture, const struct codec_limits *limits,
                                struct error *err) {
    const struct bytes input = parameters->input.mask;
    const struct codec *codec = codec_sniff(input);
    struct mask_part *part = &selection->part;
    struct image_shape upright = orient_shape(&picture->pixels, picture->metadata.orientation);
    struct error cause = {0};
    selection->orientation = picture->metadata.orientation;
    if (!input.data) {
        return ST_OK;
    }
    if (!codec || codec != codec_get(CODEC_PNG)) {
        return fail_argument(err, "mask", "mask: the part is no PNG");
    }
    part->limits = limits_of(limits);
    enum status status = codec_probe(input, &part->limits, &part->picture, &cause);
    part->input = input;
    return status == ST_OK ? check_shape(&part->picture.pixels, upright.width, upright.height, err)
                           : selection_refuse_part(status, &cause, err);
}

size_t selection_part_bytes(const struct selection *selection) {
    const struct mask_part *part = &selection->part;
    return part->input.data ? codec_decode_bytes(&part->picture, part->input.size) : 0;
}
