/* SPDX-License-Identifier: MIT
 * Resolves options whose value leaves the choice to the daemon. */
#ifndef BLURD_SERVER_PROCESS_EFFECTIVE_H
#define BLURD_SERVER_PROCESS_EFFECTIVE_H

#include "config/config.h"

/* Copies the options and replaces each 0 and `auto` by the value in use on this machine. Reads system files,
 * and loads no driver. ST_ARGUMENT for a cpu_level that this processor lacks. */
enum status effective_config(const struct config *config, struct config *effective, struct error *err);

/* Whether the daemon tries to use a GPU. With gpus = all, a host with neither a GPU's file nor a driver
 * simply has none; that is no failure. */
bool effective_gpu(const struct config *config);

/* How many JPEGs GPUs may work on at a time; 0: none. Computed from the files in /dev, before the driver is
 * loaded. */
unsigned effective_gpu_concurrency(const struct config *config);

/* How many progressive JPEGs GPUs may entropy-decode at a time, beside so many other JPEGs; 0: cores do all.
 */
unsigned effective_entropy_decodes(const struct config *config, unsigned gpu_concurrency);

#endif
