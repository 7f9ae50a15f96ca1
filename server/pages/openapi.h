/* SPDX-License-Identifier: MIT
 * The description of the HTTP interface, OpenAPI 3.1, written from the tables by which the daemon works:
 * routes, filters and their arguments, parameters, problems, options. What no table holds is in
 * server/pages/openapi.json, whose values "@name" the tables replace. Thread-safe. */
#ifndef BLURD_SERVER_PAGES_OPENAPI_H
#define BLURD_SERVER_PAGES_OPENAPI_H

#include <stdbool.h>

#include "config/config.h"
#include "core/bytes.h"

struct route;

/* What the description depends on. */
struct openapi_view {
    const struct config *config; /* limits are said as they are in it */
    const struct route *routes;
    unsigned route_count;
    bool tokens; /* requests for work need one */
    bool two;    /* there is a second listener: what is only there is left out */
};

/* Appends the document. Failures as buf_append. */
enum status openapi_write(const struct openapi_view *view, struct buf *out, struct error *err);

#endif
