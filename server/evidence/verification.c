/* SPDX-License-Identifier: MIT */
#include "server/evidence/verification.h"

#include <string.h>

#include "core/version.h"
#include "server/evidence/build_id.h"
#include "server/evidence/dsse.h"
#include "server/evidence/report.h"
#include "server/evidence/report_text.h"
#include "server/message/multipart.h"
#include "server/request.h"
#include "server/settings.h"

enum { PARTS = 4, VERDICT_MAX = DSSE_BYTES_MAX + 1024 };
enum part_name { PART_REPORT, PART_ANSWER, PART_INPUT, PART_MASK };
static const char *const part_names[PARTS] = {"report", "answer", "input", "mask"};

struct verification {
    struct bytes part[PARTS]; /* in the body */
    struct bytes text;        /* of the report; in the slot */
    struct report_text report;
    char signer[REPORT_KEY_NAME_MAX + 1];
};

static enum status take_part(struct verification *verification, const struct part *part, struct error *err) {
    unsigned i = 0;
    while (i < PARTS && strcmp(part->name, part_names[i]) != 0) {
        i++;
    }
    if (i == PARTS) {
        return fail_argument(err, part->name, "unknown part; verify takes report, answer, input and mask");
    }
    if (!part->is_unfilled && part->data.size == 0) {
        return fail_argument(err, part->name, "%s is empty", part->name);
    }
    if (verification->part[i].data && !part->is_unfilled) {
        return fail_argument(err, part->name, "%s is there more than once", part->name);
    }
    verification->part[i] = part->is_unfilled ? verification->part[i] : part->data;
    return ST_OK;
}

static enum status read_form(struct request *request, struct verification *verification, struct error *err) {
    const struct bytes body = {request->slot->memory, request->body_size};
    struct multipart multipart;
    struct part part;
    bool found = true;
    enum status status = multipart_begin(&multipart, request->content_type, body, err);
    while (status == ST_OK && found) {
        status = multipart_next(&multipart, &part, &found, err);
        status = status == ST_OK && found ? take_part(verification, &part, err) : status;
    }
    for (unsigned i = PART_REPORT; i <= PART_ANSWER && status == ST_OK; i++) {
        if (verification->part[i].size == 0) {
            return fail_argument(err, part_names[i],
                                 "%s is missing: verify takes a form with report and answer", part_names[i]);
        }
    }
    return status;
}

/* A report that is no report is the fault of the part. */
static enum status blame_report(enum status status, struct error *err) {
    const struct error cause = *err;
    return status == ST_CORRUPT    ? fail_argument(err, "report", "report: %.300s", cause.text)
           : status == ST_ARGUMENT ? fail_naming(err, ST_UNVERIFIED, "report", "%.300s", cause.text)
                                   : status;
}

static enum status open_report(struct request *request, struct verification *verification,
                               struct error *err) {
    enum status status =
        dsse_read(request->settings->report_keys, REPORT_TYPE, verification->part[PART_REPORT], request->slot,
                  &verification->text, verification->signer, err);
    status = blame_report(status, err);
    if (status == ST_OK) {
        status = blame_report(report_text_read(verification->text, &verification->report, err), err);
    }
    if (status == ST_OK && verification->report.version != REPORT_VERSION) {
        return fail_argument(err, "report", "report: it is of version %u, this program reads version %d",
                             verification->report.version, REPORT_VERSION);
    }
    return status;
}

static enum status check_digest(const struct verification *verification, enum part_name name,
                                const char *stated, struct error *err) {
    struct digest digest;
    char text[DIGEST_TEXT];
    enum status status = digest_of(verification->part[name], &digest, err);
    if (status == ST_OK && strcmp(digest_text(&digest, text), stated) != 0) {
        return fail_naming(err, ST_UNVERIFIED, part_names[name],
                           "the %s is not the file that the report is about: its sha256 differs",
                           part_names[name]);
    }
    return status;
}

/* Without the input nothing is done again, and the mask may be left out. */
static enum status check_mask(const struct verification *verification, struct error *err) {
    const bool stated = verification->report.mask[0], given = verification->part[PART_MASK].size > 0;
    if (given && !stated) {
        return fail_argument(err, "mask", "mask: the redaction had none");
    }
    if (stated && !given && verification->part[PART_INPUT].size > 0) {
        return fail_argument(err, "mask",
                             "mask is missing: the redaction had one, and cannot be done again without");
    }
    return given ? check_digest(verification, PART_MASK, verification->report.mask, err) : ST_OK;
}

/* Whether the list of regions, or the answer, has in it what the parameter decided. */
static bool is_settled(const char *name) {
    static const char *const names[] = {"backend", "except", "format",  "keep",
                                        "report",  "region", "require", "unit"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, "detect", 6) == 0;
}

static enum status take_parameter(void *context, const struct report_parameter *parameter,
                                  struct error *err) {
    struct parameters *parameters = context;
    return is_settled(parameter->name) ? ST_OK
                                       : parameters_set(parameters, parameter->name, parameter->value, err);
}

/* The parameters under which the filter has the same input, and the answer the same form. */
static enum status set_parameters(struct parameters *parameters, const struct report_text *report,
                                  struct error *err) {
    enum status status = report_text_parameters(report->parameters, take_parameter, parameters, err);
    status = status == ST_OK ? parameters_set(parameters, "format", report->format, err) : status;
    return status == ST_OK ? parameters_set(parameters, "require", "false", err) : status;
}

static enum status set_regions(struct request *request, const struct verification *verification,
                               struct error *err) {
    struct input_arguments *input = &request->parameters.input;
    struct region_room *room = (struct region_room *)(void *)slot_take(request->slot, sizeof *room, err);
    if (!room) {
        return err->status;
    }
    input->listed = true;
    input->mask = verification->part[PART_MASK].size > 0 ? verification->part[PART_MASK] : (struct bytes){0};
    region_lend(&input->region, room);
    enum status status =
        region_list_parse(&input->region, &input->keep, verification->report.redacted, &input->about, err);
    if (status == ST_OK && (input->about.ruled || input->keep.count > 0)) {
        return fail_argument(err, "regions",
                             "regions: a report's list has no rules and nothing that is kept");
    }
    input->invert = input->invert || input->about.invert;
    return status;
}

/* Makes the request that of the redaction. What a trusted key signed and this program does not take is of
 * another version. */
static enum status prepare(struct request *request, const struct verification *verification,
                           struct error *err) {
    enum status status = set_parameters(&request->parameters, &verification->report, err);
    status = status == ST_OK ? set_regions(request, verification, err) : status;
    status = status == ST_OK ? parameters_check(&request->parameters, err) : status;
    if (status == ST_ARGUMENT || status == ST_CORRUPT) {
        const struct error cause = *err;
        return fail_argument(err, "report", "report: it cannot be done again: %.300s", cause.text);
    }
    request->picture = status == ST_OK ? verification->part[PART_INPUT] : (struct bytes){0};
    return status;
}

enum status verification_open(struct request *request, struct error *err) {
    struct verification *verification =
        (struct verification *)(void *)slot_take(request->slot, sizeof *verification, err);
    if (!verification) {
        return err->status;
    }
    *verification = (struct verification){.signer = ""};
    enum status status = read_form(request, verification, err);
    status = status == ST_OK ? open_report(request, verification, err) : status;
    status =
        status == ST_OK ? check_digest(verification, PART_ANSWER, verification->report.answer, err) : status;
    status = status == ST_OK ? check_mask(verification, err) : status;
    if (status == ST_OK && verification->part[PART_INPUT].size > 0) {
        status = check_digest(verification, PART_INPUT, verification->report.input, err);
        status = status == ST_OK ? prepare(request, verification, err) : status;
    }
    request->verification = verification;
    return status;
}

static enum status refute(const struct verification *verification, struct error *err) {
    const struct report_text *report = &verification->report;
    char build[BUILD_ID_TEXT];
    const bool same =
        strcmp(report->program, BLURD_VERSION) == 0 && strcmp(report->build, build_id(build)) == 0;
    return fail_naming(err, ST_UNVERIFIED, "input", "the redaction, done again, gives another picture%s%s%s",
                       same ? "" : "; another build made it, version ", same ? "" : report->program,
                       same ? "" : ", with which it may be verified");
}

enum status verification_answer(struct request *request, const struct work_plan *plan, struct error *err) {
    const struct verification *verification = request->verification;
    const struct bytes wanted = verification->part[PART_ANSWER];
    struct buf *body = &request->answer.body;
    const bool redone = request->picture.data != NULL;
    const char *what = redone ? "true" : "null";
    if (redone && (body->size != wanted.size || memcmp(body->data, wanted.data, wanted.size) != 0)) {
        return refute(verification, err);
    }
    enum status status = redone ? report_check(request, plan, &verification->report, err) : ST_OK;
    if (status != ST_OK) {
        return status;
    }
    buf_finish(body);
    buf_init(body, VERDICT_MAX);
    request->outcome.format = METRIC_FORMAT_NONE;
    request->outcome.notice[0] = '\0';
    status =
        buf_printf(body, err, "{\"verified\":true,\"key\":\"%s\",\"input\":%s,\"redone\":%s,\n\"report\":",
                   verification->signer, what, what);
    status =
        status == ST_OK ? buf_append(body, verification->text.data, verification->text.size, err) : status;
    return status == ST_OK ? buf_printf(body, err, "}\n") : status;
}
