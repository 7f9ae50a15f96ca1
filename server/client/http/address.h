/* SPDX-License-Identifier: MIT
 * Where a daemon is that a batch uses. */
#ifndef BLURD_SERVER_CLIENT_HTTP_ADDRESS_H
#define BLURD_SERVER_CLIENT_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/option.h"
#include "core/status.h"

enum { ADDRESSES_MAX = 64, ADDRESS_HOST_MAX = 256, ADDRESS_PORT_MAX = 8 };

struct daemon_address {
    bool local, tls;
    void *trust;                 /* with `tls`: the authorities (client_socket_trust), borrowed */
    char host[ADDRESS_HOST_MAX]; /* name, IPv4 or IPv6 without brackets; local: the path */
    char port[ADDRESS_PORT_MAX];
};

/* Parses a list of http://host[:port], https://host[:port] and unix:PATH, separated by commas. ST_ARGUMENT
 * with a sentence that names the one that is wrong. */
enum status addresses_parse(const char *list, struct daemon_address address[ADDRESSES_MAX], size_t *count,
                            struct error *err);

/* Connects a blocking socket, whose calls fail with EAGAIN after `seconds`. The caller closes *fd. ST_BUSY
 * with a sentence. */
enum status address_connect(const struct daemon_address *address, unsigned seconds, int *fd,
                            struct error *err);

#endif
