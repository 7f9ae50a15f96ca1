/* SPDX-License-Identifier: MIT
 * What the program does in place of serving (config/actions.def). */
#ifndef BLURD_SERVER_CLIENT_ACTIONS_H
#define BLURD_SERVER_CLIENT_ACTIONS_H

#include "config/config.h"

/* Does it, with the words of the command line, and returns the exit status. */
int actions_answer(enum config_action action, struct config *config, int argc, char **argv);

/* Tells on standard error what failed. Returns `code`. */
int actions_complain(const struct error *err, int code);

#endif
