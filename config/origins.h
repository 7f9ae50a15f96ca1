/* SPDX-License-Identifier: MIT
 * The list of web origins that the option cors_origins holds. Thread-safe. */
#ifndef BLURD_CONFIG_ORIGINS_H
#define BLURD_CONFIG_ORIGINS_H

#include <stdbool.h>

#include "core/status.h"

/* Whether each entry of the list (between commas, blanks around them ignored) is an origin as browsers send
 * it: scheme://host or scheme://host:port, in lower case, without a path and without the port that the scheme
 * implies. An empty list is fine. ST_ARGUMENT names the first entry that is none, and says why. */
enum status origins_check(const char *list, struct error *err);

/* Whether the list has exactly this origin. */
bool origins_include(const char *list, const char *origin);

#endif
