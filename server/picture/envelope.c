/* SPDX-License-Identifier: MIT */
#include "server/picture/envelope.h"

#include <string.h>

#include "server/message/multipart.h"
#include "server/message/query.h"
#include "server/request.h"

/* A part with a file name is the picture, unless it has a parameter's name: -F kernel=@matrix.json. */
static enum status take_part(struct request *request, const struct part *part, struct bytes *input,
                             struct error *err) {
    if (part->is_file && !parameters_know(&request->parameters, part->name)) {
        if (input->data) {
            return fail_argument(err, part->name, "the body holds more than one file");
        }
        *input = part->data;
        return ST_OK;
    }
    char value[QUERY_VALUE_MAX + 1];
    if (part->data.size >= sizeof value || memchr(part->data.data, '\0', part->data.size)) {
        return fail_argument(err, part->name, "the value is too long or contains a zero byte");
    }
    memcpy(value, part->data.data, part->data.size);
    value[part->data.size] = '\0';
    return parameters_set(&request->parameters, part->name, value, err);
}

enum status envelope_open(struct request *request, struct bytes *input, struct error *err) {
    struct bytes body = {request->slot->memory, request->body_size};
    if (!multipart_is(request->content_type)) {
        *input = body;
        return ST_OK;
    }
    struct multipart multipart;
    struct part part;
    bool found = true;
    *input = (struct bytes){0};
    enum status status = multipart_begin(&multipart, request->content_type, body, err);
    while (status == ST_OK && found) {
        status = multipart_next(&multipart, &part, &found, err);
        if (status == ST_OK && found) {
            status = take_part(request, &part, input, err);
        }
    }
    if (status == ST_OK && !input->data) {
        return fail(err, ST_CORRUPT, "the multipart body holds no file part");
    }
    return status == ST_OK ? parameters_check(&request->parameters, err) : status;
}
