/* SPDX-License-Identifier: MIT
 * The good answers of paths, for /openapi.json. */
#ifndef BLURD_SERVER_PAGES_EMIT_ANSWER_H
#define BLURD_SERVER_PAGES_EMIT_ANSWER_H

#include "server/pages/emit.h"

struct filter;
struct route;

/* Of a path that takes a picture. `filter` is NULL for the pipeline. */
void emit_answer_work(struct emitter *w, const struct route *route, const struct filter *filter);

/* Of a path that takes a series. */
void emit_answer_series(struct emitter *w, const struct route *route);

/* Of a page, with that status and description; without `content` it has no body. */
void emit_answer_page(struct emitter *w, const struct route *route, unsigned status, const char *help,
                      bool content);

#endif
