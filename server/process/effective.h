/* SPDX-License-Identifier: MIT
 * What the daemon picks where an option leaves that to it. */
#ifndef BLURD_SERVER_PROCESS_EFFECTIVE_H
#define BLURD_SERVER_PROCESS_EFFECTIVE_H

#include "config/config.h"

/* Fills *effective with the options as they are in force on this machine: where 0 or `auto` means that the
 * daemon picks, with what it picks. Reads files of the system, and no driver. ST_ARGUMENT for a cpu_level
 * that this processor lacks. */
enum status effective_config(const struct config *config, struct config *effective, struct error *err);

/* JPEGs that may be under way on GPUs; 0: none. Told from the files in /dev, before the driver is asked. */
unsigned effective_places(const struct config *config);

#endif
