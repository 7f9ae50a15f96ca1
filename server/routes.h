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
    const char *help;    /* one sentence; NULL: the filter's */
    const char *media;   /* GET: type of the answer */
    const char *schema;  /* its schema in server/pages/openapi.json; NULL: text */
    const char *refusal; /* when it answers 503 in the same form; NULL: never */
    bool tagged;         /* the answer has an ETag */
};

/* The route of a path, or NULL. `admin`: asked through the second listener; `two`: there is one. */
const struct route *route_find(const char *path, bool admin, bool two);

/* All routes, in the order of the table; NULL behind the last. */
const struct route *route_at(unsigned index);

/* The number of a route (NULL: unknown paths), and the names by that number, for metrics. */
unsigned route_number(const struct route *route);
const char *const *route_names(unsigned *count);

#endif
