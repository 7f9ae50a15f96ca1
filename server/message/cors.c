/* SPDX-License-Identifier: MIT */
#include "server/message/cors.h"

#include <string.h>

#include "config/origins.h"

const char cors_exposed_headers[] =
    "Allow, ETag, Retry-After, Server-Timing, WWW-Authenticate, X-Backend, X-Blurd-Notice, "
#define DETECTOR(ID, name, thing, Title) "X-" #Title ", "
#include "detect/detectors.def"
#undef DETECTOR
    "X-HDR, X-Metadata-Dropped, X-Regions, X-Request-Id";

void cors_origin(struct cors *cors, const char *value, size_t size) {
    bool fits = size < sizeof cors->origin;
    cors->origins++;
    memcpy(cors->origin, value, fits ? size : 0);
    cors->origin[fits ? size : 0] = '\0';
}

bool cors_is_listed(const struct cors *cors, const char *origins) {
    return cors->origins == 1 && cors->origin[0] && origins_include(origins, cors->origin);
}

bool cors_is_preflight(const struct cors *cors, const char *method, const char *origins) {
    return cors->preflight && strcmp(method, "OPTIONS") == 0 && cors_is_listed(cors, origins);
}
