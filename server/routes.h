/* SPDX-License-Identifier: MIT
 * The table of paths: what exists, which method it takes, who answers it. */
#ifndef BLURD_SERVER_ROUTES_H
#define BLURD_SERVER_ROUTES_H

#include <stdbool.h>

struct request;

/* Who sees it when there is a second listener; without one all is on the first. */
enum route_listener {
    ROUTE_FIRST,
    ROUTE_SECOND,
    ROUTE_BOTH,
};

struct route {
    const char *path;                        /* matched byte for byte against the raw path */
    const char *name;                        /* the operation, for logs and metrics */
    void (*answer)(struct request *request); /* GET and HEAD; NULL: POST with a picture */
    const char *filter;                      /* then: the filter's name; NULL: the pipeline */
    enum route_listener listener;
};

/* The route of a path, or NULL. `admin`: asked through the second listener; `two`: there is one. */
const struct route *route_find(const char *path, bool admin, bool two);

/* The number of a route (NULL: unknown paths), and the names by that number, for metrics. */
unsigned route_number(const struct route *route);
const char *const *route_names(unsigned *count);

#endif
