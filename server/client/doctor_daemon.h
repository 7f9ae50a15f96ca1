/* SPDX-License-Identifier: MIT
 * What a daemon of this configuration tells of itself, and does with a picture. */
#ifndef BLURD_SERVER_CLIENT_DOCTOR_DAEMON_H
#define BLURD_SERVER_CLIENT_DOCTOR_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "server/client/findings.h"

/* Whether a daemon of blurd answers at that address and port, on which something listens on this machine.
 * Waits 2 s for each part of the answer; it does not ask by TLS. */
bool doctor_daemon_serves(const char *address, uint16_t port);

/* Starts it, asks it and ends it. `gpu`: it has one, and is asked until that serves or has failed, for a
 * minute at most. Its own messages go to standard error. */
void doctor_daemon_ask(struct findings *findings, const struct config *config, bool gpu);

#endif
