/* SPDX-License-Identifier: MIT
 * check_gpu in the engine's sandbox, to see on a real GPU what the driver calls there. */
#ifndef BLURD_TESTS_GPU_SANDBOX_H
#define BLURD_TESTS_GPU_SANDBOX_H

#include <stdbool.h>

/* Before the driver is opened. */
void sandbox_prepare(void);

/* Once it is. With `record` each call that is refused, and each file that is opened, is remembered: the
 * process behaves as without, a little slower. Prints how far the sandbox goes; ends the program where there
 * is none. */
void sandbox_enter(bool record);

/* Prints the records, a line each: the call or the path, how often, how it ended. */
void sandbox_report(void);

#endif
