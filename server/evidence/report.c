/* SPDX-License-Identifier: MIT */
#include "server/evidence/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json/json.h"
#include "core/version.h"
#include "filters/argument/value.h"
#include "server/evidence/build_id.h"
#include "server/evidence/dsse.h"
#include "server/evidence/model_digests.h"
#include "server/evidence/redaction_list.h"
#include "server/evidence/report_text.h"
#include "server/message/accept.h"
#include "server/message/multipart.h"
#include "server/message/query.h"
#include "server/request.h"
#include "server/service.h"

enum {
    TEXT_MAX = 2 << 20,   /* bytes of a report: 1024 regions, and the parameters */
    BOUNDARY_DIGITS = 40, /* of the answer's digest: no file holds its own */
    MEAN_BITS = 4,        /* of each channel that fill=mean leaves */
};

/* A report that is being written. */
struct report_draft {
    struct request *request;
    const struct work_plan *plan;
    struct digest input, answer;
    struct buf text;
    struct error *err;
    bool more; /* an element of the array precedes */
};

static enum status append_string(struct report_draft *to, const char *text) {
    const size_t most = 6 * strlen(text) + 3; /* an escape has six letters */
    enum status status = buf_reserve(&to->text, most, to->err);
    if (status == ST_OK) {
        to->text.size += json_string((char *)to->text.data + to->text.size, most, text);
    }
    return status;
}

static enum status append_parameter(struct report_draft *to, const char *name, const char *value) {
    enum status status = buf_printf(&to->text, to->err, "%s{\"name\":", to->more ? "," : "");
    status = status == ST_OK ? append_string(to, name) : status;
    status = status == ST_OK ? buf_printf(&to->text, to->err, ",\"value\":") : status;
    status = status == ST_OK ? append_string(to, value) : status;
    to->more = true;
    return status == ST_OK ? buf_printf(&to->text, to->err, "}") : status;
}

static enum status append_query(struct report_draft *to) {
    const char *query = to->request->query;
    struct query_pair pair;
    enum status status = ST_OK;
    while (status == ST_OK && query && query_next(&query, &pair, to->err)) {
        status = append_parameter(to, pair.name, pair.value);
    }
    return status;
}

/* The fields of a form, which was read before without a fault. */
static enum status append_fields(struct report_draft *to) {
    const struct request *request = to->request;
    const struct bytes body = {request->slot->memory, request->body_size};
    struct multipart multipart;
    struct part part;
    bool found = true;
    enum status status = multipart_begin(&multipart, request->content_type, body, to->err);
    while (status == ST_OK && found) {
        char value[QUERY_VALUE_MAX + 1];
        status = multipart_next(&multipart, &part, &found, to->err);
        if (status == ST_OK && found && !part.is_unfilled && part.data.size < sizeof value &&
            parameters_know(&request->parameters, part.name)) {
            memcpy(value, part.data.data, part.data.size);
            value[part.data.size] = '\0';
            status = append_parameter(to, part.name, value);
        }
    }
    return status;
}

static enum status append_parameters(struct report_draft *to) {
    enum status status = buf_printf(&to->text, to->err, ",\n\"parameters\":[");
    status = status == ST_OK ? append_query(to) : status;
    status = status == ST_OK && multipart_is(to->request->content_type) ? append_fields(to) : status;
    return status == ST_OK ? buf_printf(&to->text, to->err, "]") : status;
}

static enum status append_detector(struct report_draft *to, enum detector_id id) {
    const struct service *service = to->request->service;
    const struct detector *detector = detector_get(id);
    struct digest digest;
    char text[DIGEST_TEXT], threshold[VALUE_TEXT_MAX];
    value_text(thresholds_get(&to->plan->parameters->detect.threshold, id), threshold);
    enum status status = buf_printf(&to->text, to->err, "%s{\"name\":\"%s\",\"threshold\":%s,\"found\":%u",
                                    detection_kind(&to->plan->detection, id) ? "," : "", detector->name,
                                    threshold, to->request->outcome.found[id]);
    if (status == ST_OK && to->plan->parameters->input.except.count > 0) {
        status = buf_printf(&to->text, to->err, ",\"excepted\":%u", to->request->outcome.excepted[id]);
    }
    if (status == ST_OK && detector->network) {
        status =
            model_digests_get(&to->request->service->model_digests, id, service->model[id], &digest, to->err);
        status = status == ST_OK
                     ? buf_printf(&to->text, to->err, ",\"model_sha256\":\"%s\"", digest_text(&digest, text))
                     : status;
    }
    return status == ST_OK ? buf_printf(&to->text, to->err, "}") : status;
}

static enum status append_detectors(struct report_draft *to) {
    const struct detection *detection = &to->plan->detection;
    enum status status = buf_printf(&to->text, to->err, ",\n\"detectors\":[");
    for (unsigned id = 0; detection->wanted >> id && status == ST_OK; id++) {
        status = detection->wanted >> id & 1 ? append_detector(to, (enum detector_id)id) : ST_OK;
    }
    return status == ST_OK ? buf_printf(&to->text, to->err, "]") : status;
}

static enum status append_file(struct report_draft *to, const char *name, const struct digest *digest,
                               size_t size, enum codec_id codec) {
    char text[DIGEST_TEXT];
    return buf_printf(&to->text, to->err, ",\n\"%s\":{\"sha256\":\"%s\",\"bytes\":%zu,\"format\":\"%s\"",
                      name, digest_text(digest, text), size, codec_get(codec)->name);
}

static enum status append_input(struct report_draft *to) {
    const struct work_plan *plan = to->plan;
    enum status status = append_file(to, "input", &to->input, plan->input.size, plan->picture.codec);
    return status == ST_OK ? buf_printf(&to->text, to->err, "}") : status;
}

static enum status append_answer(struct report_draft *to) {
    const struct work_plan *plan = to->plan;
    enum status status = append_file(to, "answer", &to->answer, to->request->answer.body.size, plan->output);
    return status == ST_OK ? buf_printf(&to->text, to->err, ",\"width\":%u,\"height\":%u}",
                                        plan->encoded.width, plan->encoded.height)
                           : status;
}

static enum status append_mask(struct report_draft *to) {
    const struct bytes mask = to->plan->parameters->input.mask;
    struct digest digest;
    char text[DIGEST_TEXT];
    if (!mask.data) {
        return ST_OK;
    }
    enum status status = digest_of(mask, &digest, to->err);
    return status == ST_OK ? buf_printf(&to->text, to->err, ",\n\"mask\":{\"sha256\":\"%s\",\"bytes\":%zu}",
                                        digest_text(&digest, text), mask.size)
                           : status;
}

/* How much of a region's content its fill can tell, at most; docs/api/redaction.md says what else can. */
static unsigned fill_bits(const struct work_plan *plan) {
    return plan->parameters->input.fill.kind == FILL_MEAN
               ? MEAN_BITS * image_pixel_channels(plan->picture.pixels.model)
               : 0;
}

static enum status append_fill(struct report_draft *to) {
    static const char *const kinds[FILL_KINDS] = {"mean", "colour", "ring"};
    const struct fill *fill = &to->plan->parameters->input.fill;
    enum status status = buf_printf(&to->text, to->err, ",\n\"fill\":{\"kind\":\"%s\",\"bits\":%u",
                                    fill->tiles ? "tiles" : kinds[fill->kind], fill_bits(to->plan));
    if (status == ST_OK && fill->kind == FILL_COLOUR) {
        const uint8_t *c = fill->colour;
        status = buf_printf(&to->text, to->err, ",\"colour\":\"%02x%02x%02x%02x\"", c[0], c[1], c[2], c[3]);
    }
    return status == ST_OK ? buf_printf(&to->text, to->err, "}") : status;
}

/* What holds outside of the regions, as docs/api/evidence.md explains it. Lossless formats but PNG have 8
 * bits. */
static enum status append_outside(struct report_draft *to) {
    const struct work_plan *plan = to->plan;
    const bool lossless = codec_get(plan->output)->lossless && plan->parameters->output.lossless;
    const bool exact = plan->output == CODEC_PNG || (lossless && plan->picture.pixels.depth == 8);
    return buf_printf(&to->text, to->err, ",\n\"outside\":\"%s\"",
                      to->request->outcome.kept_blocks ? "blocks"
                      : exact                          ? "pixels"
                                                       : "encoded");
}

static enum status append_rest(struct report_draft *to) {
    enum status status = buf_printf(&to->text, to->err, ",\n\"notice\":");
    status = status == ST_OK ? append_string(to, to->request->outcome.notice) : status;
    status = status == ST_OK ? buf_printf(&to->text, to->err, ",\n\"redacted\":") : status;
    status = status == ST_OK ? redaction_list_write(to->plan, &to->input, &to->text, to->err) : status;
    return status == ST_OK ? buf_printf(&to->text, to->err, "}\n") : status;
}

static enum status append_head(struct report_draft *to) {
    char build[BUILD_ID_TEXT], when[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) {
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return buf_printf(&to->text, to->err,
                      "{\"report\":%d,\"time\":\"%s\",\n\"program\":{\"name\":\"blurd\",\"version\":\"%s\","
                      "\"build\":\"%s\"}",
                      REPORT_VERSION, when, BLURD_VERSION, build_id(build));
}

typedef enum status part_append(struct report_draft *to);

static enum status write_text(struct report_draft *to) {
    static part_append *const parts[] = {append_head,       append_input,     append_answer,
                                         append_parameters, append_detectors, append_mask,
                                         append_fill,       append_outside,   append_rest};
    enum status status = ST_OK;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts && status == ST_OK; i++) {
        status = parts[i](to);
    }
    return status;
}

/* Puts `head` before and `tail` behind what the buffer has. */
static enum status enclose(struct buf *body, struct bytes head, const char *tail, struct error *err) {
    const size_t after = strlen(tail), size = body->size;
    enum status status = buf_reserve(body, head.size + after, err);
    if (status == ST_OK) {
        memmove(body->data + head.size, body->data, size);
        memcpy(body->data, head.data, head.size);
        memcpy(body->data + head.size + size, tail, after);
        body->size = head.size + size + after;
    }
    return status;
}

static enum status write_head(const struct report_draft *draft, const char *boundary, struct buf *head) {
    const struct codec *codec = codec_get(draft->plan->output);
    enum status status =
        buf_printf(head, draft->err,
                   "--%s\r\nContent-Type: application/vnd.dsse.envelope.v1+json\r\n"
                   "Content-Disposition: attachment; name=\"report\"; filename=\"report.json\"\r\n\r\n",
                   boundary);
    status = status == ST_OK ? dsse_write(draft->request->settings->report_keys, REPORT_TYPE,
                                          buf_bytes(&draft->text), head, draft->err)
                             : status;
    return status == ST_OK
               ? buf_printf(
                     head, draft->err,
                     "\r\n--%s\r\nContent-Type: %s\r\nContent-Disposition: attachment; name=\"answer\"; "
                     "filename=\"redacted.%s\"\r\n\r\n",
                     boundary, codec->mime, codec->name)
               : status;
}

static enum status add_parts(struct report_draft *draft) {
    char *boundary = draft->request->outcome.boundary, digits[DIGEST_TEXT], tail[OUTCOME_BOUNDARY_MAX + 16];
    struct buf head;
    snprintf(boundary, OUTCOME_BOUNDARY_MAX, "blurd-%.*s", BOUNDARY_DIGITS,
             digest_text(&draft->answer, digits));
    snprintf(tail, sizeof tail, "\r\n--%s--\r\n", boundary);
    buf_init(&head, 2 * (size_t)TEXT_MAX);
    enum status status = write_head(draft, boundary, &head);
    status =
        status == ST_OK ? enclose(&draft->request->answer.body, buf_bytes(&head), tail, draft->err) : status;
    buf_finish(&head);
    return status;
}

static enum status write_json(struct report_draft *draft, struct bytes picture, struct buf *out) {
    enum status status = buf_printf(out, draft->err, "{\"report\":");
    status = status == ST_OK ? dsse_write(draft->request->settings->report_keys, REPORT_TYPE,
                                          buf_bytes(&draft->text), out, draft->err)
                             : status;
    status = status == ST_OK ? buf_printf(out, draft->err, ",\"answer\":{\"type\":\"%s\",\"base64\":\"",
                                          codec_get(draft->plan->output)->mime)
                             : status;
    status = status == ST_OK ? dsse_base64(picture, out, draft->err) : status;
    return status == ST_OK ? buf_printf(out, draft->err, "\"}}\n") : status;
}

static enum status add_json(struct report_draft *draft) {
    struct request *request = draft->request;
    struct buf *body = &request->answer.body, out;
    /* Base64 has four letters for three bytes; it is made in memory of its own, and then copied. */
    enum status status = slot_claim(request->slot, 3 * body->size, draft->err);
    buf_init(&out, 2 * (size_t)TEXT_MAX + 2 * body->size);
    status = status == ST_OK ? write_json(draft, buf_bytes(body), &out) : status;
    if (status != ST_OK) {
        buf_finish(&out);
        return status;
    }
    buf_finish(body);
    *body = out;
    request->outcome.in_json = true;
    return ST_OK;
}

enum status report_add(struct request *request, const struct work_plan *plan, struct error *err) {
    struct report_draft draft = {.request = request, .plan = plan, .err = err};
    buf_init(&draft.text, TEXT_MAX);
    enum status status = digest_of(buf_bytes(&request->answer.body), &draft.answer, err);
    status = status == ST_OK ? digest_of(plan->input, &draft.input, err) : status;
    status = status == ST_OK ? write_text(&draft) : status;
    /* Beside the text there are a copy that is signed, the envelope and its place in the answer. */
    status = status == ST_OK ? slot_claim(request->slot, 6 * draft.text.size, err) : status;
    const bool json = accept_names(request->accept, "application/json");
    status = status == ST_OK ? (json ? add_json : add_parts)(&draft) : status;
    buf_finish(&draft.text);
    return status;
}

/* Whether the part of the text is as it would be written now. */
static enum status compare(struct report_draft *draft, part_append *append, const char *name,
                           struct bytes stated) {
    const size_t before = strlen(",\n\"\":") + strlen(name);
    draft->text.size = 0;
    enum status status = append(draft);
    const bool same = status == ST_OK && draft->text.size == before + stated.size &&
                      memcmp(draft->text.data + before, stated.data, stated.size) == 0;
    return status == ST_OK && !same
               ? fail_naming(draft->err, ST_UNVERIFIED, "report",
                             "what the report says of %s is not so of the redaction, done again", name)
               : status;
}

enum status report_check(struct request *request, const struct work_plan *plan,
                         const struct report_text *report, struct error *err) {
    struct report_draft draft = {.request = request, .plan = plan, .err = err};
    buf_init(&draft.text, TEXT_MAX);
    enum status status = digest_of(buf_bytes(&request->answer.body), &draft.answer, err);
    status = status == ST_OK ? digest_of(plan->input, &draft.input, err) : status;
    status = status == ST_OK ? compare(&draft, append_input, "input", report->input_view) : status;
    status = status == ST_OK ? compare(&draft, append_answer, "answer", report->answer_view) : status;
    status = status == ST_OK ? compare(&draft, append_fill, "fill", report->fill) : status;
    status = status == ST_OK ? compare(&draft, append_outside, "outside", report->outside) : status;
    buf_finish(&draft.text);
    return status;
}
