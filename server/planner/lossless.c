/* SPDX-License-Identifier: MIT */
#include "server/planner/lossless.h"

#include "core/orient.h"

/* Whether a file of another format than JPEG can hold the moved blocks, and does where nothing asks for
 * pixels instead: these are without losses, too. */
static bool can_pack(const struct lossless *request) {
    const struct parameters *parameters = request->parameters;
    return codec_repacks(request->output) && request->picture->codec == CODEC_JPEG &&
           parameters->input.mode != MODE_REDACT && !parameters_select(parameters) &&
           !parameters_search(parameters) && !parameters_follow(parameters);
}

/* Other requests for a JPEG have no use for the parameter, as before there was one. */
static bool is_wanted(const struct lossless *request) {
    bool moves = false;
    for (unsigned i = 0; i < request->chain->count; i++) {
        moves |= filter_get(request->chain->step[i].filter)->moves_blocks;
    }
    return moves && request->parameters->output.lossless &&
           (request->output == CODEC_JPEG || can_pack(request));
}

enum status lossless_refuse(const char *reason, struct error *err) {
    return fail_argument(err, "lossless",
                         "lossless: %.220s; without lossless, the picture is decoded and encoded", reason);
}

static enum status check_file(const struct picture *picture, struct error *err) {
    if (codec_repacks(picture->codec) && !picture->restorable) {
        return lossless_refuse("the file holds no JPEG that could be restored", err);
    }
    return (picture->codec == CODEC_JPEG && !picture->lossless) || picture->restorable
               ? ST_OK
               : lossless_refuse("only a JPEG has blocks that a JPEG can keep, and a lossless one has none",
                                 err);
}

static enum status check_request(const struct lossless *request, struct error *err) {
    const struct parameters *parameters = request->parameters;
    enum status status = check_file(request->picture, err);
    if (status != ST_OK) {
        return status;
    }
    if (parameters->input.mode == MODE_REDACT || parameters_select(parameters)) {
        return lossless_refuse("regions need a new encoding", err);
    }
    if (parameters->output.subsampling != SUBSAMPLING_AUTO || parameters_given(parameters, "quality")) {
        return lossless_refuse("quality and subsampling need a new encoding", err);
    }
    if (parameters_follow(parameters)) {
        return lossless_refuse("where a search decides about the place, blocks may be cut", err);
    }
    for (unsigned i = 0; i < request->chain->count; i++) {
        if (request->picture->restorable && request->chain->step[i].filter == FILTER_CROP) {
            return lossless_refuse("a JPEG is restored as a whole; crop it afterwards", err);
        }
        if (!filter_get(request->chain->step[i].filter)->moves_blocks) {
            return lossless_refuse("of all filters only crop and rotate keep the blocks", err);
        }
    }
    return ST_OK;
}

/* All steps together, in the picture as stored. */
static struct jpeg_turn turn_of(const struct lossless *request) {
    struct jpeg_turn turn = {.width = request->picture->native.width,
                             .height = request->picture->native.height,
                             .orientation = request->orientation};
    for (unsigned i = 0; i < request->chain->count; i++) {
        const struct step *step = &request->chain->step[i];
        if (step->filter == FILTER_CROP) {
            jpeg_turn_crop(&turn, step->crop.x, step->crop.y, step->crop.width, step->crop.height);
        } else {
            turn.orientation = orient_compose(turn.orientation, (uint8_t)step->rotate.orientation);
        }
    }
    return turn;
}

enum status lossless_plan(const struct lossless *request, struct jpeg_turn *turn, struct error *err) {
    struct error cause = {0};
    enum status status = is_wanted(request) ? check_request(request, err) : ST_OK;
    if (status != ST_OK || !is_wanted(request)) {
        return status;
    }
    const struct jpeg_turn wanted = turn_of(request);
    if (!request->picture->restorable &&
        jpeg_turn_check(&request->picture->native, &wanted, &cause) != ST_OK) {
        return lossless_refuse(cause.text, err);
    }
    *turn = wanted;
    return ST_OK;
}
