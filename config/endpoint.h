/* SPDX-License-Identifier: MIT
 * The address that the option otlp_endpoint holds. Thread-safe. */
#ifndef BLURD_CONFIG_ENDPOINT_H
#define BLURD_CONFIG_ENDPOINT_H

#include "core/status.h"

enum { ENDPOINT_HOST_MAX = 127, ENDPOINT_PATH_MAX = 127 };

struct endpoint {
    char host[ENDPOINT_HOST_MAX + 1]; /* a name, or an address without brackets */
    char port[6];
    char path[ENDPOINT_PATH_MAX + 1]; /* begins with a slash */
};

/* Takes http://host, http://host:port/path or http://[::1]:port/path apart. Without a port it is 4318,
 * without a path /v1/traces: those of OTLP. ST_ARGUMENT says what is wrong. */
enum status endpoint_parse(const char *url, struct endpoint *endpoint, struct error *err);

/* Whether it is such an address, or empty: ST_OK, or the failure of endpoint_parse. */
enum status endpoint_check(const char *url, struct error *err);

#endif
