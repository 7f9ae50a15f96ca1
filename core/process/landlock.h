/* SPDX-License-Identifier: MIT
 * Restricts file access with Landlock, as far as the kernel supports it. */
#ifndef BLURD_CORE_PROCESS_LANDLOCK_H
#define BLURD_CORE_PROCESS_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Rights to the files below a path. */
enum landlock_right {
    LANDLOCK_READS = 1,
    LANDLOCK_LISTS = 2,
    LANDLOCK_USES = 4 /* a device: write, ioctl */
};

/* Version of the kernel's interface; 0: not supported. */
unsigned landlock_version(void);

/* Creates a ruleset of that version that denies opening files, TCP connections and abstract sockets of
 * other processes; `signals`: also signals to other processes. landlock_enter closes the descriptor. -1
 * with errno. */
int landlock_create(unsigned version, bool signals);

/* Allows `rights` (enum landlock_right) below the path. A missing path is no error, as it cannot be opened
 * later either. */
void landlock_allow(int ruleset, const char *path, unsigned rights);

/* Restricts the calling thread and its children, and closes the ruleset. False with errno. */
bool landlock_enter(int ruleset);

/* Restricts all threads of the process, as libraries start some. *missed is the number of threads that
 * block signals and stay unrestricted. Takes SIGRTMIN, for good. False with errno. */
bool landlock_enter_threads(int ruleset, unsigned version, unsigned *missed);

#endif
