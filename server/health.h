/* SPDX-License-Identifier: MIT
 * Health seen from outside, for containers that have no client in them: blurd --check-health. */
#ifndef BLURD_SERVER_HEALTH_H
#define BLURD_SERVER_HEALTH_H

#include "config/config.h"

/* Asks the daemon that runs with this configuration on this machine for /readyz: on the second listener if
 * there is one, else on the port. ST_OK when the answer is 200. Else ST_ARGUMENT with a sentence: nobody
 * there, another answer, none in time, or a port that cannot be asked (0, and TLS without a second listener).
 */
enum status health_check(const struct config *config, struct error *err);

#endif
