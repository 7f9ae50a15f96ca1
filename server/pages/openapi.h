/* SPDX-License-Identifier: MIT
 * The OpenAPI 3.1 description of the HTTP interface, written from the daemon's own tables: routes, filters
 * and their arguments, parameters, problems, options. The rest is in server/pages/openapi.json, in which the
 * tables replace the values "@name". Thread-safe. */
#ifndef BLURD_SERVER_PAGES_OPENAPI_H
#define BLURD_SERVER_PAGES_OPENAPI_H

#include <stdbool.h>

#include "config/config.h"
#include "core/bytes.h"

struct route;

/* What the description depends on. */
struct openapi_view {
    const struct config *config; /* its limits are described */
    const struct route *routes;
    uint32_t detectors; /* a bit for each that can be used */
    unsigned route_count;
    bool tokens; /* requests with a picture need a token */
    bool two;    /* there is a second listener; its routes are left out */
};

/* Appends the document. Failures as buf_append. */
enum status openapi_write(const struct openapi_view *view, struct buf *out, struct error *err);

#endif
