/* SPDX-License-Identifier: MIT
 * Writes JSON piece by piece, for server/pages/openapi.c. After a failure nothing more is written; the caller
 * checks the status once, at the end. */
#ifndef BLURD_SERVER_PAGES_EMIT_H
#define BLURD_SERVER_PAGES_EMIT_H

#include "codecs/codec.h"
#include "config/config.h"
#include "core/bytes.h"
#include "filters/filter.h"

struct openapi_view;

struct emitter {
    const struct openapi_view *view;
    struct buf *out;
    struct error *err;
    enum status status;
};

/* Appends text as it is. */
void emit(struct emitter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a string, with quotes and without. */
void emit_text(struct emitter *w, const char *text);
void emit_inside(struct emitter *w, const char *text);

/* Begins an item of an array, or a member of an object with its name and a colon. Both add the comma after
 * the previous one. */
void emit_item(struct emitter *w);
void emit_name(struct emitter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the schema of an argument. Where no value stands for the default, "x-default" describes it. */
void emit_argument(struct emitter *w, const struct argument *row);

/* Appends a member for the media type of each codec that `has` is true for, with that schema. */
void emit_pictures(struct emitter *w, bool (*has)(enum codec_id id), const char *schema);

/* Appends the names of all formats, in this build or not. */
void emit_format_names(struct emitter *w);

/* Appends a member for each detector: whether its bit is set. */
void emit_detectors(struct emitter *w, uint32_t usable);

/* Appends the types of all problems that a client can see. */
void emit_problem_types(struct emitter *w);

/* Append the name of each detector; or a member for it: its array of boxes, whether it can be used, its
 * header. */
void emit_detector_names(struct emitter *w);
void emit_detector_boxes(struct emitter *w);
void emit_detector_flags(struct emitter *w);
void emit_detector_headers(struct emitter *w);

/* Appends the formats that the build reads and writes. */
void emit_formats(struct emitter *w);

/* Appends the options that limit what clients may send. */
void emit_limits(struct emitter *w, const struct config *config);

/* Appends a member "headers" that refers to the components of these names; NULL ends them. */
void emit_headers(struct emitter *w, const char *const *names);

#endif
