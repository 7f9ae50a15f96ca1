/* SPDX-License-Identifier: MIT */
#include "server/planner/intent.h"

#include "core/numbers.h"
#include "server/message/multipart.h"

enum {
    FORM_HEAD_MAX = 4 << 10, /* bytes of a form that are searched for the beginning of its picture */
    /* An unrecognised picture counts as a sharp JPEG. */
    GUESSED_PIXELS = 8, /* a byte */
    GUESSED_SIDE = 4096,
};

/* In a form the picture follows some fields. A wrong guess only makes the prediction wrong. */
static struct bytes find_picture(struct bytes body) {
    size_t head = body.size < FORM_HEAD_MAX ? body.size : FORM_HEAD_MAX, at = 0;
    while (at < head && !codec_has_signature((struct bytes){body.data + at, body.size - at})) {
        at++;
    }
    return at < head ? (struct bytes){body.data + at, body.size - at} : body;
}

static uint8_t shift_of(unsigned factor) {
    return factor >= 4 ? 2 : factor >= 2 ? 1 : 0;
}

/* Gives usual files the shapes that codec_probe will find. */
static struct picture picture_of(const struct peek *header) {
    static const enum pixel_model models[] = {PIXEL_GRAY, PIXEL_GRAY, PIXEL_GRAY_ALPHA, PIXEL_RGB,
                                              PIXEL_RGBA};
    bool jpeg = header->codec == CODEC_JPEG;
    struct picture picture = {
        .codec = header->codec,
        .progressive = header->progressive,
        .patchable = jpeg,
        .metadata.orientation = 1,
        .pixels = {.model = jpeg && header->channels > 1 ? PIXEL_RGB : models[header->channels],
                   .depth = header->depth,
                   .width = header->width,
                   .height = header->height}};
    picture.native = picture.pixels;
    if (header->sampling) {
        picture.native.model = PIXEL_YCBCR;
        picture.native.chroma_shift_x = shift_of(header->sampling >> 4);
        picture.native.chroma_shift_y = shift_of(header->sampling & 15);
    }
    return picture;
}

void intent_guess(struct intent *intent, const struct peek *header, size_t size, const char *accept,
                  const struct parameters *parameters) {
    const struct peek usual = {.codec = CODEC_JPEG,
                               .channels = 3,
                               .depth = 8,
                               .width = GUESSED_SIDE,
                               .height = (uint32_t)(size * GUESSED_PIXELS / GUESSED_SIDE + 1)};
    struct work_plan *plan = &intent->plan;
    struct error ignored; /* a region off the picture: the plan is complete by then */
    intent->known = header;
    intent->frames = 1;
    intent->header = header ? *header : usual;
    plan->input.size = size;
    plan->parameters = parameters;
    plan->picture = picture_of(&intent->header);
    if (parameters->output.metadata == METADATA_KEEP) {
        plan->picture.metadata.exif.size = size < METADATA_ICC_MAX ? size : METADATA_ICC_MAX;
    }
    plan_decide(plan, accept, &ignored);
}

static uint32_t frames_of(enum codec_id codec, struct bytes picture, const struct parameters *parameters) {
    const struct frame_range *range = &parameters->input.frames;
    uint32_t most = UINT32_MAX;
    if (parameters_given(parameters, "page")) {
        most = 1;
    } else if (parameters_given(parameters, "frames")) {
        most = range->last - range->first + 1;
    }
    return most == 1 || !frames_reads(codec) ? 1 : min_u32(frames_estimate(codec, picture), most);
}

void intent_make(struct intent *intent, struct bytes body, const char *content_type, const char *accept,
                 const struct parameters *parameters, const struct codec_limits *limits) {
    struct peek header;
    /* A picture with an impossible header is refused early and costs almost nothing. */
    intent->plan.limits.libjpeg = limits->libjpeg;
    const struct bytes picture = multipart_is(content_type) ? find_picture(body) : body;
    bool known = peek_header(picture, &header) && peek_is_possible(&header, body.size, limits);
    intent_guess(intent, known ? &header : NULL, body.size, accept, parameters);
    intent->frames = known ? frames_of(header.codec, picture, parameters) : 1;
}
