/* SPDX-License-Identifier: MIT
 * `blurd verify`: checks a report by a daemon of its own, which does what POST /verify does. */
#ifndef BLURD_SERVER_CLIENT_VERIFY_H
#define BLURD_SERVER_CLIENT_VERIFY_H

#include <stdio.h>

#include "config/config.h"

/* The operands argv[first] and behind are the files of report and answer, and perhaps of input and mask.
 * Prints what was verified, as JSON. ST_ARGUMENT: a wrong number of files, or one that cannot be read.
 * ST_UNVERIFIED: what does not hold, or cannot be checked. Single-threaded callers only. */
enum status verify_run(const struct config *config, int argc, char *const *argv, int first, FILE *out,
                       struct error *err);

/* Prints the line of the configured key for the file of another daemon's `report_trust`. ST_ARGUMENT: there
 * is no key, or its file is wrong. */
enum status verify_public_key(const struct config *config, FILE *out, struct error *err);

#endif
