/* SPDX-License-Identifier: MIT */
#include "server/picture/envelope.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "codecs/codec.h"
#include "codecs/other_formats.h"
#include "server/evidence/verification.h"
#include "server/message/multipart.h"
#include "server/message/query.h"
#include "server/request.h"
#include "server/route.h"

/* The parts of a form that are neither fields nor checked by themselves. */
struct form {
    struct bytes picture, regions, mask;
};

static enum status take_once(struct bytes *kept, const struct part *part, struct error *err) {
    if (kept->data) {
        return fail_argument(err, part->name, "%s is there more than once", part->name);
    }
    *kept = part->data;
    return ST_OK;
}

static enum status take_field(struct request *request, const struct part *part, struct error *err) {
    char value[QUERY_VALUE_MAX + 1];
    bool fits = part->data.size < sizeof value && !memchr(part->data.data, '\0', part->data.size);
    if (!fits && !parameters_know(&request->parameters, part->name)) {
        return fail_argument(
            err, part->name,
            "unknown parameter; the part of a picture needs a file name or a Content-Type like "
            "image/jpeg");
    }
    if (!fits) {
        return fail_argument(err, part->name, "the value is too long or contains a zero byte");
    }
    memcpy(value, part->data.data, part->data.size);
    value[part->data.size] = '\0';
    return parameters_set(&request->parameters, part->name, value, err);
}

/* A part with a file name or a picture's type is the picture, unless it has a parameter's name, as with
 * -F kernel=@matrix.json. */
static enum status take_part(struct request *request, const struct part *part, struct form *form,
                             struct error *err) {
    if (part->is_unfilled) {
        return ST_OK; /* browsers send a field for a file so when none was chosen */
    }
    if (strcmp(part->name, "regions") == 0) {
        return take_once(&form->regions, part, err);
    }
    if (strcmp(part->name, "mask") == 0) {
        return take_once(&form->mask, part, err);
    }
    if (!(part->is_file || part->is_binary) || parameters_know(&request->parameters, part->name)) {
        return take_field(request, part, err);
    }
    if (form->picture.data) {
        return fail_argument(err, part->name, "the body holds more than one file");
    }
    form->picture = part->data;
    return ST_OK;
}

/* The list takes memory of the body's slot, of a fixed size. It comes last, behind the regions in fields. */
static enum status take_regions(struct request *request, struct bytes list, struct error *err) {
    struct input_arguments *input = &request->parameters.input;
    struct region_room *room = NULL;
    if (!list.data) {
        return ST_OK;
    }
    room = (struct region_room *)(void *)slot_take(request->slot, sizeof *room, err);
    if (!room) {
        return err->status;
    }
    input->listed = true;
    region_lend(&input->region, room);
    enum status status = region_list_parse(&input->region, &input->keep, list, &input->about, err);
    input->invert = input->invert || input->about.invert;
    return status;
}

enum status envelope_open(struct request *request, struct error *err) {
    struct bytes body = {request->slot->memory, request->body_size};
    if (request->picture.data) {
        return ST_OK;
    }
    if (request->route->verifies) {
        return verification_open(request, err);
    }
    if (!multipart_is(request->content_type)) {
        request->picture = body;
        return ST_OK;
    }
    struct multipart multipart;
    struct part part;
    struct form form = {0};
    bool found = true;
    enum status status = multipart_begin(&multipart, request->content_type, body, err);
    while (status == ST_OK && found) {
        status = multipart_next(&multipart, &part, &found, err);
        if (found) {
            status = take_part(request, &part, &form, err);
        }
    }
    if (status == ST_OK && !form.picture.data) {
        return fail(err, ST_CORRUPT, "the multipart body holds no file part");
    }
    request->parameters.input.mask = form.mask;
    status = status == ST_OK ? take_regions(request, form.regions, err) : status;
    status = status == ST_OK ? parameters_check(&request->parameters, err) : status;
    request->picture = status == ST_OK ? form.picture : (struct bytes){0};
    return status;
}

/* A PNG begins with line ends, so that its first bytes tell that they were taken out. */
static bool is_known(struct bytes body) {
    static const char png[] = "\x89PNG\x1A";
    const bool was_png = body.size >= sizeof png - 1 && memcmp(body.data, png, sizeof png - 1) == 0;
    return codec_sniff(body) || (other_formats_name(body) && !was_png);
}

static bool has_line_end_or_zero(struct bytes body) {
    return memchr(body.data, '\0', body.size) || memchr(body.data, '\n', body.size) ||
           memchr(body.data, '\r', body.size);
}

void envelope_explain(struct request *request, enum status status) {
    static const char form[] = "application/x-www-form-urlencoded"; /* of --data-binary, too */
    if (strncasecmp(request->content_type, form, sizeof form - 1) != 0) {
        return;
    }
    const struct bytes body = {request->slot->memory, request->body_size};
    const bool damaged = status == ST_CORRUPT || (status == ST_UNSUPPORTED && !is_known(body));
    if (damaged && !has_line_end_or_zero(body)) {
        char *text = request->error.text;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof request->error.text - used,
                 "; the body has neither line ends nor zeros, which curl's -d takes out: use --data-binary");
    }
}
