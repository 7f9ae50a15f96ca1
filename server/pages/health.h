/* SPDX-License-Identifier: MIT
 * blurd --check-health: a health check for containers that have no HTTP client. */
#ifndef BLURD_SERVER_PAGES_HEALTH_H
#define BLURD_SERVER_PAGES_HEALTH_H

#include "config/config.h"

/* Loads the configuration that the daemon of this container has: the arguments of process 1, the environment
 * of this one, and the file that they name. `path` is where the arguments of process 1 are: /proc/1/cmdline.
 * Process 1 may also be an init that starts the daemon behind the word "--". When it is another program, and
 * when its arguments cannot be read, *config stays as it is. ST_ARGUMENT as config_load. */
enum status health_config(struct config *config, const char *path, char *const *environment,
                          struct error *err);

/* Asks the daemon that runs with this configuration on this machine for /readyz: on the second listener if
 * there is one, else on the port, with TLS where the port has it. ST_OK when the answer is 200. Else
 * ST_ARGUMENT with a sentence: nothing listens there, another answer, or port 0, which no check can find.
 * Blocks without a limit: that is for the caller to set. */
enum status health_check(const struct config *config, struct error *err);

/* Does what --check-health asks for, within 2 s: prints why the daemon is not ready and returns 1, or returns
 * 0. `first` makes it take the configuration of process 1 (health_config). Uses the alarm signal of the
 * process. */
int health_answer(struct config *config, bool first, char *const *environment);

#endif
