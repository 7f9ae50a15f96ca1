/* SPDX-License-Identifier: MIT */
#include "server/picture/mask_part.h"

#include <string.h>

#include "cpu/orient.h"

/* Adds the part's name to a codec's error. What is wrong with the file is the fault of the parameter. */
static enum status refuse(enum status status, const struct error *cause, struct error *err) {
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

enum status mask_part_open(struct mask_part *part, struct bytes input, uint32_t width, uint32_t height,
                           const struct codec_limits *limits, struct error *err) {
    const struct codec *codec = codec_sniff(input);
    struct codec_limits own = limits_of(limits);
    struct error cause = {0};
    if (!input.data) {
        return ST_OK;
    }
    if (!codec || codec != codec_get(CODEC_PNG)) {
        return fail_argument(err, "mask", "mask: the part is no PNG");
    }
    enum status status = codec_probe(input, &own, &part->picture, &cause);
    part->input = input;
    return status == ST_OK ? check_shape(&part->picture.pixels, width, height, err)
                           : refuse(status, &cause, err);
}

size_t mask_part_bytes(const struct mask_part *part) {
    return part->input.data ? codec_decode_bytes(&part->picture, part->input.size) : 0;
}

/* The orientation that turns an upright picture as the stored one lies. */
static uint8_t inverse(uint8_t orientation) {
    return orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
}

enum status mask_part_read(const struct mask_part *part, uint8_t orientation,
                           const struct codec_limits *limits, const struct image *mask, uint8_t *spare,
                           struct error *err) {
    struct codec_limits own = limits_of(limits);
    struct error cause = {0};
    struct image upright = *mask;
    if (orient_turns(orientation)) {
        image_layout(&upright, &part->picture.pixels);
        image_place(&upright, spare);
    }
    enum status status = codec_decode(part->input, &part->picture, &own, &upright, &cause);
    if (status != ST_OK) {
        return refuse(status, &cause, err);
    }
    return orient_turns(orientation)
               ? orient_image(&upright, inverse(orientation), mask, limits->deadline_ns, err)
               : ST_OK;
}

void mask_part_finish(struct mask_part *part) {
    codec_picture_finish(&part->picture);
}
