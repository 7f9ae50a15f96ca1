/* SPDX-License-Identifier: MIT */
#include "server/pages/emit_answer.h"

#include "codecs/codec.h"
#include "filters/filter.h"
#include "server/route.h"

void emit_answer_series(struct emitter *w, const struct route *route) {
    static const char *const headers[] = {"X-Request-Id", "X-Content-Type-Options", "Cache-Control", "Vary",
                                          NULL};
    emit_name(w, "200");
    emit(w, "{\"description\":\"The frames. The answer begins before the request ends, and has no last "
            "chunk if a frame fails.\"");
    emit_headers(w, headers);
    emit(w, ",\"content\":{\"%s\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}}}", route->media);
    emit_name(w, "404");
    emit(w, "{\"description\":\"Frames cannot be sent to this path.\"");
    emit_headers(w, headers);
    emit(w, ",\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
            "Problem\"}}}}");
}

void emit_answer_work(struct emitter *w, const struct route *route, const struct filter *filter) {
    static const char *const headers[] = {"X-Request-Id",  "X-Content-Type-Options",
                                          "Cache-Control", "X-Backend",
                                          "Server-Timing", "X-Blurd-Notice",
                                          "X-HDR",         "X-Metadata-Dropped",
                                          "X-Regions",
#define DETECTOR(ID, name, thing, Title) "X-" #Title,
#include "detect/detectors.def"
#undef DETECTOR
                                          "Vary",          NULL};
    static const struct {
        const char *help, *schema; /* NULL: a picture */
    } answers[] = {
        [ANSWER_PICTURE] = {"The picture.", NULL},
        [ANSWER_STATISTICS] = {"The statistics.", "Statistics"},
        [ANSWER_PLACEHOLDER] = {"The placeholder.", "Placeholder"},
        [ANSWER_BOXES] = {"The boxes.", "Boxes"},
    };
    enum filter_answer answer = filter ? filter->answer : ANSWER_PICTURE;
    const bool evidence = filter && filter->conceals && !route->verifies;
    const char *schema = evidence ? "RedactionJson" : route->schema ? route->schema : answers[answer].schema;
    emit_name(w, "200");
    emit(w, "{\"description\":\"%s\"",
         evidence ? "The picture; with `plan` the list of regions; with `report` the report and the picture."
         : route->verifies ? "What holds."
                           : answers[answer].help);
    emit_headers(w, headers);
    emit(w, ",\"content\":{");
    if (schema) {
        emit_name(w, "application/json");
        emit(w, "{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}", schema);
    }
    if (evidence) {
        emit_name(w, "multipart/mixed");
        emit(w, "{\"schema\":{\"$ref\":\"#/components/schemas/Reported\"}}");
    }
    if (!schema || evidence) {
        emit_pictures(w, codec_encodes, "{\"type\":\"string\",\"format\":\"binary\"}");
    }
    emit(w, "}}");
}

void emit_answer_page(struct emitter *w, const struct route *route, unsigned status, const char *help,
                      bool content) {
    const char *headers[] = {"X-Request-Id",  "X-Content-Type-Options",
                             "Cache-Control", route->tagged ? "ETag" : NULL,
                             "Vary",          NULL};
    emit_name(w, "%u", status);
    emit(w, "{\"description\":");
    emit_text(w, help);
    emit_headers(w, headers);
    if (content && route->schema) {
        emit(w, ",\"content\":{\"%s\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}", route->media,
             route->schema);
    } else if (content) {
        emit(w, ",\"content\":{\"%s\":{\"schema\":{\"type\":\"string\"}}}", route->media);
    }
    emit(w, "}");
}
