/* SPDX-License-Identifier: MIT */
#include "server/http/respond.h"

#include <stdlib.h>

#include "core/slot.h"
#include "server/request.h"

/* Of an answer, until the library has no more use for them. */
struct parts {
    uint8_t *body;
    struct slot *slot;
};

static void take_back(void *context) {
    struct parts *parts = context;
    free(parts->body);
    slot_give_back(parts->slot);
    free(parts);
}

static struct MHD_Response *wrap_parts(struct answer *answer) {
    const struct MHD_IoVec part[] = {{answer->body.data, answer->body.size},
                                     {answer->rest.data, answer->rest.size}};
    struct parts *parts = malloc(sizeof *parts);
    if (!parts) {
        return NULL;
    }
    *parts = (struct parts){answer->body.data, answer->slot};
    struct MHD_Response *response =
        MHD_create_response_from_iovec(part, sizeof part / sizeof *part, take_back, parts);
    if (!response) {
        free(parts);
        return NULL;
    }
    answer->body = (struct buf){0};
    answer->slot = NULL;
    return response;
}

static struct MHD_Response *wrap(struct answer *answer) {
    static char nothing[] = "";
    if (answer->rest.size > 0) {
        return wrap_parts(answer);
    }
    if (answer->body.size == 0) {
        return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    }
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        answer->body.size, answer->body.data, free, answer->body.data);
    if (response) {
        answer->body = (struct buf){0};
    }
    return response;
}

struct MHD_Response *respond_make(struct request *request, bool last) {
    struct answer *answer = &request->answer;
    struct MHD_Response *response = wrap(answer);
    if (!response) {
        return NULL;
    }
    bool whole = true;
    for (unsigned i = 0; i < answer->header_count; i++) {
        const struct answer_header *header = &answer->header[i];
        const char *value = header->longer ? header->longer : header->value;
        whole &= MHD_add_response_header(response, header->name, value) == MHD_YES;
    }
    if (last) {
        whole &= MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
    }
    if (!whole) { /* out of memory; an answer without its headers must not be sent */
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}
