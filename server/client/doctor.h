/* SPDX-License-Identifier: MIT
 * `blurd doctor`: what this machine has for the daemon and what it lacks, with what to do about each lack. */
#ifndef BLURD_SERVER_CLIENT_DOCTOR_H
#define BLURD_SERVER_CLIENT_DOCTOR_H

#include <stdio.h>

#include "config/config.h"

/* Prints a line for each thing: processor, memory, listeners; then starts a daemon of its own with this
 * configuration, and has it write and read a picture of each format, search with each detector, and tell
 * whether its GPU serves. ST_BUSY with a sentence: the daemon could not serve as it is configured.
 * Single-threaded callers only. */
enum status doctor_run(const struct config *config, FILE *out, struct error *err);

#endif
