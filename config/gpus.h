/* SPDX-License-Identifier: MIT
 * How many GPUs there may be. */
#ifndef BLURD_CONFIG_GPUS_H
#define BLURD_CONFIG_GPUS_H

/* How many the value of `gpus` ("all", "0,2") may mean here: told from the device files in `folder` ("/dev"),
 * without the driver, which takes its time. */
unsigned gpus_hint(const char *gpus, const char *folder);

#endif
