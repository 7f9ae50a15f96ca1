/* SPDX-License-Identifier: MIT */
#include "server/message/cors.h"

#include <stdio.h>
#include <string.h>

#include "config/origins.h"
#include "server/answer.h"
#include "server/request.h"
#include "server/settings.h"

/* Headers of answers that pages may read, beside the few that the standard lets them read. */
#define EXPOSED                                                                                              \
    "Allow, ETag, Retry-After, Server-Timing, WWW-Authenticate, X-Backend, X-Blurd-Notice, "                 \
    "X-Metadata-Dropped, X-Request-Id"

/* Headers that requests of pages may have, beside the few that the standard lets them send. */
#define ALLOWED "Authorization, Content-Type, If-None-Match, X-Request-Id, traceparent"

#define PREFLIGHT_S "3600" /* for which browsers remember it */

static bool is_on(const struct request *request) {
    return request->settings->config.cors_origins[0] != '\0';
}

static bool is_listed(const struct request *request) {
    return request->origins == 1 && request->origin[0] &&
           origins_include(request->settings->config.cors_origins, request->origin);
}

void cors_origin(struct request *request, const char *value, size_t size) {
    request->origins++;
    if (size < sizeof request->origin) {
        memcpy(request->origin, value, size);
        request->origin[size] = '\0';
    } else {
        request->origin[0] = '\0';
    }
}

bool cors_is_preflight(const struct request *request) {
    return request->preflight && strcmp(request->method, "OPTIONS") == 0 && is_listed(request);
}

void cors_answer_preflight(struct request *request, const char *methods) {
    answer_done(request, 204, NULL);
    answer_header(request, "Access-Control-Allow-Methods", "%s", methods);
    answer_header(request, "Access-Control-Allow-Headers", ALLOWED);
    answer_header(request, "Access-Control-Max-Age", PREFLIGHT_S);
}

void cors_add_headers(struct request *request) {
    if (!is_on(request)) {
        return;
    }
    answer_header(request, "Vary", "Origin");
    if (is_listed(request)) {
        answer_header(request, "Access-Control-Allow-Origin", "%s", request->origin);
        answer_header(request, "Access-Control-Expose-Headers", EXPOSED);
    }
}
