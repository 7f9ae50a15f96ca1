/* SPDX-License-Identifier: MIT
 * A path of the interface: which method it takes, who answers it, and how it is described. */
#ifndef BLURD_SERVER_ROUTE_H
#define BLURD_SERVER_ROUTE_H

#include <stdbool.h>

struct request;

/* Which listener serves it; without a second one the first serves all. */
enum route_listener {
    ROUTE_FIRST,
    ROUTE_SECOND,
    ROUTE_BOTH,
};

struct route {
    const char *path;                        /* matched byte for byte against the raw path */
    const char *name;                        /* the operation, for logs and metrics */
    void (*answer)(struct request *request); /* GET and HEAD; NULL: POST with a picture */
    const char *filter;                      /* for POST: the filter's name; NULL: the pipeline */
    bool verifies;                           /* for POST: takes a report in a form, and no parameters */
    bool series; /* for POST: takes frames, and ends in the name of what they are for */
    enum route_listener listener;
    const char *help;    /* one sentence; NULL: the filter's */
    const char *media;   /* GET, a series: type of the answer */
    const char *schema;  /* its schema in server/pages/openapi.json; NULL: text */
    const char *refusal; /* when it answers 503 in the same form; NULL: never */
    bool tagged;         /* the answer has an ETag */
};

#endif
