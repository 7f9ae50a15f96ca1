/* SPDX-License-Identifier: MIT */
#include "server/problem.h"

#include "core/json/json.h"

static const struct problem_kind kinds[PROBLEM_COUNT] = {
    [PROBLEM_NONE] = {"none", 200, "OK", PROBLEM_NOWHERE, NULL, NULL},
    [PROBLEM_ARGUMENT] = {"bad-parameter", 400, "Bad parameter", PROBLEM_WORK, NULL,
                          "A parameter is unknown, repeated, malformed or out of range."},
    [PROBLEM_REQUEST] = {"bad-request", 400, "Malformed request", PROBLEM_EVERYWHERE, NULL,
                         "The HTTP message is malformed or its length ambiguous; the connection is closed."},
    [PROBLEM_CORRUPT] =
        {"corrupt-image", 400, "Corrupt image", PROBLEM_WORK, NULL,
         "The body is empty, the picture damaged or truncated, or the multipart envelope malformed."},
    [PROBLEM_UNAUTHORIZED] = {"unauthorized", 401, "Unauthorized", PROBLEM_TOKEN, "WWW-Authenticate",
                              "`--token-file` is set and the request has no valid `Authorization: Bearer`."},
    [PROBLEM_NOT_FOUND] = {"not-found", 404, "Not found", PROBLEM_NOWHERE, NULL, "This path does not exist."},
    [PROBLEM_METHOD] =
        {"method-not-allowed", 405, "Method not allowed", PROBLEM_NOWHERE, "Allow",
         "The path does not support this method; the header `Allow` lists the supported methods."},
    [PROBLEM_TIMEOUT] = {"timeout", 408, "Request too slow", PROBLEM_EVERYWHERE, NULL,
                         "Headers or body did not arrive in time; the connection is closed."},
    [PROBLEM_TOO_LARGE] =
        {"body-too-large", 413, "Body too large", PROBLEM_WORK, NULL,
         "The body is larger than `--max-body`. With `Expect: 100-continue` the answer comes before the "
         "body; otherwise up to twice the limit is read first, so that the answer arrives."},
    [PROBLEM_TARGET] = {"target-too-long", 414, "Request target too long", PROBLEM_EVERYWHERE, NULL,
                        "Path and query are longer than 8 KiB."},
    [PROBLEM_UNSUPPORTED] =
        {"unsupported-image", 415, "Unsupported image", PROBLEM_WORK, NULL,
         "The body is of a format that is not read here, or of a variant that is not supported, which "
         "the detail names, or has a `Content-Encoding`."},
    [PROBLEM_NOTHING] =
        {"no-region", 422, "No region", PROBLEM_WORK, NULL,
         "A redaction, or a request with `require`, would cover no pixel: nothing was found, the "
         "list of regions is empty, the mask is 0 everywhere, or `invert` leaves nothing."},
    [PROBLEM_UNVERIFIED] =
        {"not-verified", 422, "Not verified", PROBLEM_WORK, NULL,
         "Only `/verify`: the report is not signed by a trusted key, or it is about another picture, or the "
         "redaction, done again, does not give the picture."},
    [PROBLEM_LIMIT] = {"limit-exceeded", 422, "Image over a limit", PROBLEM_WORK, NULL,
                       "The picture has too many pixels, too long a side or too many scans, or needs too "
                       "much memory or time by itself, without other load."},
    [PROBLEM_THROTTLED] = {"too-many-requests", 429, "Too many requests", PROBLEM_WORK, "Retry-After",
                           "Same as `overloaded`, with `--overload-status 429`."},
    [PROBLEM_HEADERS] = {"headers-too-large", 431, "Headers too large", PROBLEM_EVERYWHERE, NULL,
                         "The headers have more than 100 fields or 16 KiB."},
    [PROBLEM_CANCELLED] = {"cancelled", 499, "Client closed the connection", PROBLEM_NOWHERE, NULL,
                           "In logs and metrics only."},
    [PROBLEM_INTERNAL] = {"internal", 500, "Internal error", PROBLEM_EVERYWHERE, NULL,
                          "A bug in blurd. Please report it with the request id."},
    [PROBLEM_TRANSFER] = {"transfer-encoding", 501, "Transfer-Encoding not implemented", PROBLEM_EVERYWHERE,
                          NULL, "A transfer coding other than `chunked`."},
    [PROBLEM_BUSY] = {"overloaded", 503, "Overloaded", PROBLEM_WORK, "Retry-After",
                      "The server has more work than it can do in time, has no memory left, or is shutting "
                      "down. Retry after the seconds in `Retry-After`."},
};

static const enum problem of_status[ST_COUNT] = {
    [ST_OK] = PROBLEM_NONE,
    [ST_ARGUMENT] = PROBLEM_ARGUMENT,
    [ST_CORRUPT] = PROBLEM_CORRUPT,
    [ST_UNSUPPORTED] = PROBLEM_UNSUPPORTED,
    [ST_TOO_LARGE] = PROBLEM_TOO_LARGE,
    [ST_NOTHING] = PROBLEM_NOTHING,
    [ST_UNVERIFIED] = PROBLEM_UNVERIFIED,
    [ST_LIMIT] = PROBLEM_LIMIT,
    [ST_BUSY] = PROBLEM_BUSY,
    [ST_TIMEOUT] = PROBLEM_TIMEOUT,
    [ST_CANCELLED] = PROBLEM_CANCELLED,
    [ST_DEVICE] = PROBLEM_INTERNAL, /* no backend was left for the work */
    [ST_INTERNAL] = PROBLEM_INTERNAL,
};

const struct problem_kind *problem_kind(enum problem problem) {
    return &kinds[problem < PROBLEM_COUNT ? problem : PROBLEM_INTERNAL];
}

enum problem problem_of(enum status status) {
    return status < ST_COUNT ? of_status[status] : PROBLEM_INTERNAL;
}

bool problem_is_overload(enum problem problem) {
    return problem == PROBLEM_BUSY || problem == PROBLEM_THROTTLED;
}

enum status problem_write(enum problem problem, const struct error *error, const char *request_id,
                          struct buf *out) {
    const struct problem_kind *kind = problem_kind(problem);
    char detail[2 * ERROR_TEXT_MAX];
    char parameter[4 * ERROR_PARAMETER_MAX];
    char id[256];
    json_string(detail, sizeof detail, error->text);
    json_string(parameter, sizeof parameter, error->parameter);
    json_string(id, sizeof id, request_id);
    enum status status = buf_printf(
        out, NULL, "{\"type\":\"urn:blurd:problem:%s\",\"title\":\"%s\",\"status\":%u,\"detail\":%s",
        kind->slug, kind->title, kind->http_status, detail);
    if (status == ST_OK && error->parameter[0]) {
        status = buf_printf(out, NULL, ",\"parameter\":%s", parameter);
    }
    return status == ST_OK ? buf_printf(out, NULL, ",\"request_id\":%s}\n", id) : status;
}
