/* SPDX-License-Identifier: MIT */
#include "server/picture/intent.h"

#include <string.h>

#include "server/message/multipart.h"

enum {
    FORM_HEAD_MAX = 4 << 10, /* bytes of a form that are searched for the beginning of its picture */
    /* An unrecognised picture counts as a sharp JPEG. */
    GUESSED_PIXELS = 8, /* a byte */
    GUESSED_SIDE = 4096,
};

/* In a form the picture follows some fields. A wrong guess only makes the prediction wrong. */
static struct bytes find_picture(struct bytes body, const char *content_type) {
    static const struct {
        const char *bytes;
        size_t offset; /* in the file */
    } magics[] = {{"\xFF\xD8\xFF", 0}, {"\x89PNG\r\n", 0}, {"WEBP", 8}, {"ftyp", 4}};
    size_t head = body.size < FORM_HEAD_MAX ? body.size : FORM_HEAD_MAX;
    size_t first = head;
    for (unsigned i = 0; i < sizeof magics / sizeof *magics && multipart_is(content_type); i++) {
        const uint8_t *found = memmem(body.data, head, magics[i].bytes, strlen(magics[i].bytes));
        size_t at = found ? (size_t)(found - body.data) : 0;
        if (found && at >= magics[i].offset && at - magics[i].offset < first) {
            first = at - magics[i].offset;
        }
    }
    return first < head ? (struct bytes){body.data + first, body.size - first} : body;
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
    intent->header = header ? *header : usual;
    plan->input.size = size;
    plan->parameters = parameters;
    plan->picture = picture_of(&intent->header);
    if (parameters->output.metadata == METADATA_KEEP) {
        plan->picture.metadata.exif.size = size < METADATA_ICC_MAX ? size : METADATA_ICC_MAX;
    }
    plan_decide(plan, accept, &ignored);
}

void intent_make(struct intent *intent, struct bytes body, const char *content_type, const char *accept,
                 const struct parameters *parameters, const struct codec_limits *limits) {
    struct peek header;
    /* A picture with an impossible header is refused early and costs almost nothing. */
    bool known = peek_header(find_picture(body, content_type), &header) &&
                 peek_is_possible(&header, body.size, limits);
    intent_guess(intent, known ? &header : NULL, body.size, accept, parameters);
}

bool intent_suits_device(const struct intent *intent) {
    return intent->known && intent->header.baseline && plan_may_transcode(&intent->plan);
}

bool intent_hands_over(const struct intent *intent) {
    return intent->known && intent->header.progressive && plan_may_transcode(&intent->plan);
}
