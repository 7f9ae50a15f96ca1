/* SPDX-License-Identifier: MIT
 * The table of routes. */
#ifndef BLURD_SERVER_ROUTES_H
#define BLURD_SERVER_ROUTES_H

#include "server/route.h"

struct filter;

/* The table, with a route for each filter, and how many routes it has. */
const struct route *routes_table(unsigned *count);

/* The route of a path, or NULL. `admin`: asked through the second listener; `two`: there is one. */
const struct route *routes_find(const char *path, bool admin, bool two);

/* The path that was probably meant by one for which routes_find found nothing; NULL: none. Of the listener
 * that is asked: what only the other one serves is not named. */
const char *routes_meant(const char *path, bool admin, bool two);

/* The filter that a path of the route asks for; NULL: the pipeline, or none. */
const struct filter *routes_filter(const struct route *route, const char *path);

/* The number of a route (NULL: unknown paths), and the names by that number, for metrics. */
unsigned routes_number(const struct route *route);
const char *const *routes_names(unsigned *count);

#endif
