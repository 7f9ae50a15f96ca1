/* SPDX-License-Identifier: MIT */
#include "server/picture/selection.h"

#include <stdio.h>
#include <string.h>

#include "core/numbers.h"
#include "cpu/mask/redact.h"
#include "cpu/orient.h"
#include "server/outcome.h"

enum status selection_count(const struct selection *selection, const struct parameters *parameters,
                            struct outcome *outcome, struct error *err) {
    outcome->regions = max_u32(outcome->regions, selection->region.count);
    outcome->counted = selection->wanted && (parameters->input.listed || parameters_detect(parameters));
    const bool spared = parameters->input.keep.count > 0 || parameters->input.except.count > 0;
    bool none = selection->wanted && selection->region.count == 0 && !selection->part.input.data;
    const uint32_t searched = parameters_detect(parameters);
    if (!none || selection->lenient || !parameters_require(parameters)) {
        return ST_OK;
    }
    const char *what = parameters_selector(parameters);
    if (!searched || searched & (searched - 1) || spared) {
        return fail_naming(err, ST_NOTHING, what, "no region: %s",
                           !searched ? "the list is empty"
                           : spared  ? "nothing was found but what keep or except leaves out"
                                     : "nothing was found");
    }
    const struct detector *detector = detector_get((enum detector_id)__builtin_ctz(searched));
    return fail_naming(err, ST_NOTHING, what, "no region: no %s was found", detector->thing);
}

enum status selection_take_memory(struct selection *selection, struct slot *slot,
                                  const struct image_shape *stored, struct error *err) {
    size_t size = selection_mask_bytes(selection, stored);
    struct image_shape shape = selection_mask_shape(stored);
    struct image *const images[] = {&selection->mask, &selection->spare};
    for (unsigned i = 0; i < 2 && size > 0; i++) {
        uint8_t *memory = slot_take(slot, size, err);
        if (!memory) {
            return err->status;
        }
        image_layout(images[i], &shape);
        image_place(images[i], memory);
    }
    return ST_OK;
}

/* Every pixel of a JPEG's block influences the whole block, so redaction takes whole blocks of brightness and
 * colour. Interpolation of reduced colour also carries it into the next pixel. Other formats also predict
 * blocks from the pixels beside them. */
struct mask_grid selection_blocks(const struct picture *picture, bool interpolated) {
    enum { PREDICTED = 16 };
    const struct image_shape *shape = &picture->native;
    enum codec_reach reach = codec_get(picture->codec)->reach;
    if (reach == REACH_PIXEL || picture->exact) {
        return (struct mask_grid){0};
    }
    if (reach == REACH_BEFORE) {
        return (struct mask_grid){PREDICTED, PREDICTED, .margin_x = PREDICTED, .margin_y = PREDICTED};
    }
    if (shape->model == PIXEL_GRAY) {
        return (struct mask_grid){.width = 8, .height = 8};
    }
    if (shape->model == PIXEL_RGB) {
        /* The sampling is unknown. MCUs have 1 to 4 blocks an axis, and 96 is a multiple of each size. */
        return (struct mask_grid){
            .width = 96, .height = 96, .margin_x = interpolated, .margin_y = interpolated};
    }
    return (struct mask_grid){.width = 8u << shape->chroma_shift_x,
                              .height = 8u << shape->chroma_shift_y,
                              .margin_x = interpolated && shape->chroma_shift_x > 0,
                              .margin_y = interpolated && shape->chroma_shift_y > 0};
}

/* The parameter of the error is that of the region's source. */
static enum status refuse_off(const struct selection *selection, uint32_t width, uint32_t height,
                              struct error *err) {
    const struct region_set *set = &selection->region;
    for (uint32_t i = 0; i < set->count; i++) {
        if (selection->report.place[i] == MASK_OFF) {
            char name[REGION_NAME_MAX];
            return fail_argument(err, region_parameter(set, i),
                                 "%s lies off the picture (stored as %ux%u); mode=redact refuses that",
                                 region_name(set, i, name), width, height);
        }
    }
    return ST_OK;
}

static enum status refuse_none(const struct selection *selection, const struct parameters *parameters,
                               struct error *err) {
    bool inverted = parameters->input.invert;
    return fail_naming(err, ST_NOTHING, inverted ? "invert" : parameters_selector(parameters),
                       "no pixel is covered: %s",
                       inverted                     ? "the regions are everywhere, and invert leaves the rest"
                       : selection->part.input.data ? "the mask is 0 everywhere"
                                                    : "the regions have no pixel of the picture");
}

enum status selection_check(struct selection *selection, const struct parameters *parameters,
                            const struct image_shape *stored, struct error *err) {
    enum status status = ST_OK;
    if (selection->redact) {
        status = refuse_off(selection, stored->width, stored->height, err);
    }
    selection->none = selection->wanted && selection->report.covered == 0;
    return status == ST_OK && selection->none && !selection->lenient && parameters_require(parameters)
               ? refuse_none(selection, parameters, err)
               : status;
}

/* The orientation that turns an upright picture as the stored one lies. */
static uint8_t inverse(uint8_t orientation) {
    return orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
}

enum status selection_read_part(const struct selection *selection, struct error *err) {
    const struct mask_part *part = &selection->part;
    bool turns = orient_turns(selection->orientation);
    struct image upright = selection->mask;
    struct error cause = {0};
    if (turns) {
        image_layout(&upright, &part->picture.pixels);
        image_place(&upright, selection->spare.plane[0].data);
    }
    upright.room = codec_decode_room(part->picture.codec, &part->picture.pixels);
    enum status status = codec_decode(part->input, &part->picture, &part->limits, &upright, &cause);
    if (status != ST_OK) {
        return selection_refuse_part(status, &cause, err);
    }
    return turns ? orient_image(&upright, inverse(selection->orientation), &selection->mask,
                                selection->deadline_ns, err)
                 : ST_OK;
}

static enum status draw_mask(struct selection *selection, const struct mask_options *options,
                             struct error *err) {
    enum status status = options->over ? selection_read_part(selection, err) : ST_OK;
    return status == ST_OK ? mask_draw(&selection->mask, &selection->region, options, &selection->report, err)
                           : status;
}

/* With a mask in the form all that is covered is one region; if nothing is, nothing has to be done. */
static enum status redact(struct selection *selection, const struct parameters *parameters,
                          const struct mask_options *options, const struct image *stored, struct error *err) {
    const struct redact_options how = {
        .fill = parameters->input.fill,
        .invert = options->invert,
        .drawn = options->over ? &selection->mask : NULL,
        .grid = options->grid,
        .deadline_ns = selection->deadline_ns,
        .block = parameters_look(parameters),
    };
    return selection->none ? ST_OK : redact_image(stored, &selection->region, &how, &selection->spare, err);
}

enum status selection_draw(struct selection *selection, const struct parameters *parameters,
                           const struct picture *picture, const struct image *stored, struct error *err) {
    const struct mask_options options = {
        .invert = parameters->input.invert,
        .outward = selection->redact,
        .over = selection->part.input.data,
        .grid = selection_blocks(picture, selection->interpolated),
        .deadline_ns = selection->deadline_ns,
    };
    const struct image_shape shape = image_shape(stored);
    enum status status = ST_OK;
    if (selection->wanted) {
        status = draw_mask(selection, &options, err);
    }
    status = status == ST_OK ? selection_check(selection, parameters, &shape, err) : status;
    if (status != ST_OK || !selection->redact) {
        return status;
    }
    if (parameters_clear_transparent(parameters)) {
        redact_faint(stored);
    }
    return redact(selection, parameters, &options, stored, err);
}

void selection_restart(struct selection *selection, const struct image_shape *stored) {
    const struct image_shape shape = selection_mask_shape(stored);
    struct image *const images[] = {&selection->mask, &selection->spare};
    for (unsigned i = 0; i < 2 && selection_mask_bytes(selection, stored) > 0; i++) {
        uint8_t *memory = images[i]->plane[0].data;
        image_layout(images[i], &shape);
        image_place(images[i], memory);
    }
}

static void swap(struct selection *selection) {
    struct image mask = selection->mask;
    selection->mask = selection->spare;
    selection->spare = mask;
}

enum status selection_turn(struct selection *selection, uint8_t orientation, struct error *err) {
    if (!selection->wanted || orientation == 1) {
        return ST_OK;
    }
    struct image_shape stored = image_shape(&selection->mask);
    struct image_shape upright = orient_shape(&stored, orientation);
    uint8_t *memory = selection->spare.plane[0].data;
    image_layout(&selection->spare, &upright);
    image_place(&selection->spare, memory);
    enum status status =
        orient_image(&selection->mask, orientation, &selection->spare, selection->deadline_ns, err);
    swap(selection);
    memory = selection->spare.plane[0].data;
    image_layout(&selection->spare, &upright);
    image_place(&selection->spare, memory);
    return status;
}

/* Untouched pixels may be copied from the file, so redacted pixels must not become untouched. */
static void keep_touched(const struct image *soft, const struct image *hard) {
    for (uint32_t y = 0; y < hard->height; y++) {
        uint8_t *row = plane_row(&soft->plane[0], y);
        const uint8_t *redacted = plane_row(&hard->plane[0], y);
        for (uint32_t x = 0; x < hard->width; x++) {
            row[x] |= redacted[x] && !row[x];
        }
    }
}

enum status selection_feather(struct selection *selection, const struct mask_feathering *how,
                              struct error *err) {
    enum status status = mask_feather(how, &selection->mask, &selection->spare, &selection->report, err);
    if (selection->redact && status == ST_OK) {
        keep_touched(&selection->spare, &selection->mask);
    }
    swap(selection);
    return status;
}

static void note_places(const struct selection *selection, char *text, size_t size) {
    unsigned cut = 0, off = 0, first = 0;
    for (uint32_t i = selection->region.count; i-- > 0;) {
        enum mask_place place = selection->report.place[i];
        if (region_get(&selection->region, i)->source == REGION_FOUND) { /* margins reach beyond the border */
            continue;
        }
        cut += place == MASK_CUT;
        off += place == MASK_OFF;
        first = place == MASK_WHOLE ? first : i + 1;
    }
    snprintf(text, size, "%s",
             selection->none && !selection->lenient ? "no pixel is covered: nothing is filtered or hidden"
                                                    : "");
    if (cut + off > 0) {
        snprintf(
            text, size,
            "regions outside the picture, which have no effect: %u of %u; cut by its border: %u; the first "
            "is region %u",
            off, selection->region.count, cut, first);
    }
}

void selection_notice(const struct selection *selection, char *text, size_t size) {
    note_places(selection, text, size);
    size_t used = strlen(text);
    if (selection->redact && selection->wanted && selection->spread && !selection->none) {
        snprintf(text + used, size - used, "%s%s", used ? "; " : "",
                 "the lossy coding of the input may have left traces of what is hidden in pixels around it");
    }
}
